internal import CoreData

/// The rows of a file as subjects of predicates and sort descriptors, during one fetch.
///
/// The values of a row are read when one of its attributes is first needed, and kept until the fetch is done.
final class SongRows {
    private unowned let store: MyIncrementalStore
    private var rows: [UUID: SongRow] = [:]
    /// The error of reading a row for a block, which cannot throw.
    fileprivate(set) var failure: (any Error)?

    init(store: MyIncrementalStore) { self.store = store }

    subscript(id: UUID) -> SongRow? {
        if let row = rows[id] { return row }
        guard let header = store.index.headers[id] else { return nil }
        let row = SongRow(header, store)
        rows[id] = row
        return row
    }

    func schema(of entity: NSEntityDescription) -> SongSchema { SongSchema(entity, self) }

    /// Returns the destination rows of a relationship.
    func related(_ name: String, of row: SongRow) -> [SongRow] { store.index.related(name, of: row.header.id).compactMap { self[$0] } }
}

/// One row.
final class SongRow {
    let header: SongHeader
    private unowned let store: MyIncrementalStore
    private var values: [String: Any]?

    init(_ header: SongHeader, _ store: MyIncrementalStore) {
        self.header = header
        self.store = store
    }

    /// The row as a subject, which has no slots.
    var subject: PredicateSubject { PredicateSubject(slots: UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()), object: self) }

    var identity: PropertyValue {
        .object(ObjectReference(store.newObjectID(for: header.entity, referenceObject: header.id)))
    }

    func value(_ name: String) throws -> PropertyValue {
        // The header contains the identifier.
        if name == "id" { return .uuid(header.id) }
        return try PropertyValue(any: attributes()[name])
    }

    func attributes() throws -> [String: Any] {
        if let values { return values }
        let values = try store.values(of: header)
        self.values = values
        return values
    }
}

/// Resolves the properties of an entity's rows for compiled predicates.
final class SongSchema: PredicateSchema {
    private let entity: NSEntityDescription
    private let rows: SongRows

    init(_ entity: NSEntityDescription, _ rows: SongRows) {
        self.entity = entity
        self.rows = rows
    }

    var schemaName: String { entity.name ?? "A row" }

    func predicateProperty(named name: String) -> PredicateProperty? {
        if entity.attributesByName[name] != nil { return .computed { try Self.row($0).value(name) } }
        guard let relationship = entity.relationshipsByName[name], let destination = relationship.destinationEntity else { return nil }
        let rows = rows
        guard relationship.isToMany else {
            return .toOne(
                destination: rows.schema(of: destination),
                identity: { rows.related(name, of: Self.row($0)).first?.identity ?? .null },
                follow: { rows.related(name, of: Self.row($0)).first?.subject })
        }
        return .toMany(
            destination: rows.schema(of: destination), count: { rows.related(name, of: Self.row($0)).count },
            forEach: { subject, visit in
                for row in rows.related(name, of: Self.row(subject)) {
                    if try !visit(row.subject) { return }
                }
            })
    }

    func identity(of subject: PredicateSubject) -> PropertyValue { Self.row(subject).identity }

    func constant(for object: AnyObject) -> PropertyValue? {
        switch object {
        case let object as NSManagedObject: .object(ObjectReference(object.objectID))
        case let objectID as NSManagedObjectID: .object(ObjectReference(objectID))
        default: nil
        }
    }

    /// Returns the object for block predicates: the attributes by name.
    func publicObject(of subject: PredicateSubject) -> Any {
        do {
            return try Self.row(subject).attributes()
        } catch {
            rows.failure = error
            return [String: Any]()
        }
    }

    private static func row(_ subject: PredicateSubject) -> SongRow { unsafeDowncast(subject.object, to: SongRow.self) }
}
