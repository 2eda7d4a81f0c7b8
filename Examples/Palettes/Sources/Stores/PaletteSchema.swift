internal import CoreData

/// A palette from JSON as a subject of predicates and sort descriptors.
///
/// The store's values are filtered, and not the objects of a context: those may have unsaved edits, which the context itself applies to
/// the result, and creating an object for every palette costs more than evaluating it.
final class PaletteRow {
    let item: [String: Any]
    fileprivate let values: [String: Any]
    fileprivate let objectID: NSManagedObjectID

    /// Creates a row; nil for JSON without an identifier.
    init?(_ item: [String: Any], of entity: NSEntityDescription, in store: NSIncrementalStore) {
        guard let identifier = Palette.identifier(in: item) else { return nil }
        self.item = item
        values = Palette.transform(dictionary: item)
        objectID = store.newObjectID(for: entity, referenceObject: identifier)
    }

    /// The row as a subject, which has no slots.
    var subject: PredicateSubject { PredicateSubject(slots: UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()), object: self) }
}

/// Resolves the keys of rows for compiled predicates and sort descriptors: `nil` is treated like in every store, and an unknown key is an
/// error.
final class PaletteSchema: PredicateSchema {
    private let entity: NSEntityDescription

    init(_ entity: NSEntityDescription) { self.entity = entity }

    var schemaName: String { entity.name ?? "A palette" }

    func predicateProperty(named name: String) -> PredicateProperty? {
        guard entity.attributesByName[name] != nil else { return nil }
        return .computed { try PropertyValue(any: Self.row($0).values[name]) }
    }

    func identity(of subject: PredicateSubject) -> PropertyValue { .object(ObjectReference(Self.row(subject).objectID)) }

    func constant(for object: AnyObject) -> PropertyValue? {
        switch object {
        case let object as NSManagedObject: .object(ObjectReference(object.objectID))
        case let objectID as NSManagedObjectID: .object(ObjectReference(objectID))
        default: nil
        }
    }

    /// Returns the object for block predicates: the attributes by name.
    func publicObject(of subject: PredicateSubject) -> Any { Self.row(subject).values }

    private static func row(_ subject: PredicateSubject) -> PaletteRow { unsafeDowncast(subject.object, to: PaletteRow.self) }
}
