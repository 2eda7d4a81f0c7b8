internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph

/// Handles identifiers in several forms. A reference may have been stored before the row that it names, or in another run, when it was not known that the row
/// has its identifier in another form. It would then name a separate object without values, and lists would lack their members.
extension CacheTransaction {
    /// Returns the keys of rows that have the resources' identifiers in another form. Call it for resources without rows.
    func keysOfOtherForms(_ wanted: [ResourceID], in entity: CacheEntity) throws -> [ResourceID: CacheKey] {
        guard file.isReferredTo(entity), !wanted.isEmpty else { return [:] }
        // Usually all identifiers are of one kind: then no lookup is necessary.
        if wanted.count > 100, let first = wanted.first, wanted.allSatisfy({ $0.hasOnlyOneKind(as: first) }),
            try !hasOtherKinds(than: first, in: entity)
        {
            return [:]
        }
        // The forms are looked up one after the other: forms that are greater than all identifiers of the file are known not to exist.
        var byForm: [[ResourceID: ResourceID]] = []
        for resource in wanted {
            for (index, form) in resource.otherForms.enumerated() {
                if index == byForm.count { byForm.append([:]) }
                byForm[index][form] = resource
            }
        }
        var found: [ResourceID: CacheKey] = [:]
        for forms in byForm {
            try find(Array(forms.keys), in: entity) { form, key, _ in
                // Another entity of the same inheritance tree may have its own numbering.
                guard let resource = forms[form], found[resource] == nil, let own = entity.outer, let other = key.entity.outer,
                    own.isKindOf(entity: other) || other.isKindOf(entity: own)
                else { return }
                found[resource] = key
            }
        }
        return found
    }

    /// Whether rows of the file, or of the transaction, have identifiers of another kind.
    private func hasOtherKinds(than resource: ResourceID, in entity: CacheEntity) throws -> Bool {
        if staged(in: entity).contains(where: { !$0.hasOnlyOneKind(as: resource) }) { return true }
        let kind = resource.fileText.prefix(1)
        let top = file.entity(inner: entity.inner.top)
        // Text is ordered by its bytes: identifiers of another kind come before or after all of this kind.
        for isAscending in [true, false] {
            let end = StoreQuery(top.inner).sorted(by: [NSSortDescriptor(key: file.names.resource, ascending: isAscending)])
                .with(predicate: NSPredicate(tree: .compare(.keyPath([file.names.resource]), .notEqual, .constant(.null))))
            guard case .rows(let rows) = try file.read(end.with(fetchOffset: 0, fetchLimit: 1)), let row = rows.first else { continue }
            if file.key(of: row).entity.resourceText(of: row)?.prefix(1) != kind { return true }
        }
        return false
    }

    /// Returns the keys of stubs whose rows have arrived with their identifiers in another form, and gives the stubs the form of the rows.
    func adoptStubs(of wanted: [ResourceID], in entity: CacheEntity) throws -> [ResourceID: CacheKey] {
        var adopted: [ResourceID: CacheKey] = [:]
        var warning: String?
        for (resource, key) in try keysOfOtherForms(wanted, in: entity) {
            // A row with values of its own is another resource.
            guard let row = try row(key), file.entity(inner: row.knownObjectID.owningEntity).state(of: row) == .stub,
                let stub = try edit(key)
            else { continue }
            warning =
                "References to “\(entity.name)” have \(stub.resource?.formName ?? "another form"), and rows \(resource.formName). "
                + "Write \(resource.cure(for: stub.resource ?? resource)) for it in the description of the service."
            try setResource(resource, of: stub)
            adopted[resource] = key
        }
        if let warning { RequestRunner.log.warning("\(warning)") }
        return adopted
    }
}
