internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph

/// Identifiers in several forms: a reference may have been filed before the row that it names, or after it in another run of the program, where nobody
/// knew that the row has its identifier in another form. Then it would name an object of its own, without values, and lists would lack what it leads to.
extension CacheTransaction {
    /// Returns the keys of resources whose identifiers rows have in another form. Call it for resources that there are no rows of.
    func keysOfOtherForms(_ wanted: [ResourceID], in entity: CacheEntity) throws -> [ResourceID: CacheKey] {
        guard file.isReferredTo(entity), !wanted.isEmpty else { return [:] }
        // Mostly all identifiers are of one kind: then nothing needs to be looked up.
        if wanted.count > 100, let first = wanted.first, wanted.allSatisfy({ $0.hasOnlyOneKind(as: first) }),
            try !hasOtherKinds(than: first, in: entity)
        {
            return [:]
        }
        // One form after the other: those that are greater than all identifiers of the file are known not to be there.
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
                // Another kind of the same inheritance may count anew.
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
        // Text is in the order of its bytes: what is of another kind comes before or after all of this one.
        for isAscending in [true, false] {
            let end = StoreQuery(top.inner).sorted(by: [NSSortDescriptor(key: file.names.resource, ascending: isAscending)])
                .with(predicate: NSPredicate(tree: .compare(.keyPath([file.names.resource]), .notEqual, .constant(.null))))
            guard case .rows(let rows) = try file.read(end.with(fetchOffset: 0, fetchLimit: 1)), let row = rows.first else { continue }
            if file.key(of: row).entity.resourceText(of: row)?.prefix(1) != kind { return true }
        }
        return false
    }

    /// Returns the keys of references to resources whose rows have come with their identifiers in another form, and gives them the form of the rows.
    func adoptStubs(of wanted: [ResourceID], in entity: CacheEntity) throws -> [ResourceID: CacheKey] {
        var adopted: [ResourceID: CacheKey] = [:]
        var warning: String?
        for (resource, key) in try keysOfOtherForms(wanted, in: entity) {
            // What has values of its own is another resource.
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
