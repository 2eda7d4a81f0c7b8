internal import Foundation
@_spi(Stores) internal import ObjectGraph

extension RemoteReader {
    /// Marks objects as unreadable whose rows have arrived with their identifiers in another form: they are not deleted.
    ///
    /// - Parameter asked: The requested objects. A row of one of them is its own, even if its identifier resembles another one.
    func noteOtherForms(
        _ missing: some Sequence<NSManagedObjectID>, of entity: NSEntityDescription, among rows: RowList, asked: Set<NSManagedObjectID>,
        _ failures: inout Failures
    ) {
        let known = Dictionary(
            missing.compactMap { id in decoding.resourceID(id).map { ($0, id) } }, uniquingKeysWith: { first, _ in first })
        if known.isEmpty { return }
        let forms = OtherForms(known.keys, of: entity.name ?? "?")
        for row in rows {
            guard !asked.contains(row.knownObjectID), let found = decoding.resourceID(row.knownObjectID),
                let (form, error) = forms.contradiction(found), let id = known[form]
            else { continue }
            failures[id] = .init(error)
        }
    }
}
