@_spi(Stores) internal import ObjectGraph
public import Predicates

// Unchecked: the writers are used by the only owner of a reference to them.
/// An answer to a ``BackendRequest``: resources, written straight into the rows that contexts will show.
///
/// A property that is not set is unknown: it is requested when it is read, and a previously known value of it is kept. A null is a value, as is an empty list.
///
/// ```swift
/// var answer = request.answer()
/// try answer.add(album.id, version: .tag(album.etag), ["title": .value(.string(album.title)), "band": .one(7)])
/// answer.next = page.next.map(PageToken.init)
/// ```
public struct BackendAnswer: @unchecked Sendable {
    /// The token of the next page; nil if this is the last.
    public var next: PageToken?
    /// The number of resources in all pages, if the backend reports it.
    public var total: Int?
    /// The values of the requested functions, in their order.
    public var aggregates: [PropertyValue] = []
    /// The groups of the resources, in any order.
    public var groups: [Group] = []

    /// Resources with the same values of the attributes that they are grouped by.
    public struct Group: Sendable {
        /// The values that they share, in the order of ``BackendRequest/groups``.
        public var keys: [PropertyValue]
        /// The values of the functions, in the order of ``BackendRequest/aggregates``.
        public var values: [PropertyValue]

        /// Creates a group.
        public init(keys: [PropertyValue], values: [PropertyValue]) {
            self.keys = keys
            self.values = values
        }
    }

    /// Whether a requested identifier without a resource in the answer does not exist. If false, the store requests the missing ones again until an answer
    /// contains none of them.
    public var isComplete = false
    /// The errors of unreadable resources: see ``addReadable(_:entity:version:raw:_:)``. ``Resource/unreadable`` is the policy for them. An error that is added
    /// directly to this array stands for a resource that the answer does not contain.
    public var unreadable: [any Error] = []

    /// The requested resources, in order.
    private(set) var rows = RowList()
    /// The embedded resources.
    private(set) var embedded = RowList()
    /// The tags of the rows that have one, by the address of their slots, which the lists keep alive.
    private(set) var tags: [UnsafeMutableRawPointer: String] = [:]
    /// Whether the versions of all rows are known.
    private(set) var hasVersions = true
    /// The owners of the resources, by relationship, for requests by owner of a relationship without a to-one inverse.
    private(set) var owners: [(owner: ResourceID, row: Int)] = []

    /// Resources that could be read in part, with their indexes among the rows.
    var keptRaw: [(id: ResourceID, row: Int, note: UnreadableResource)] = []
    /// Values that could not be read, of resources that the answer contains. They are unknown.
    private(set) var unreadValues: [UnreadValue] = []
    /// The number of errors that are not about a requested resource that was omitted.
    var notesOfPresent = 0
    /// The number of requested resources that were omitted because they cannot be read.
    var leftOutCount: Int { unreadable.count - notesOfPresent }
    /// The number of resources that the backend has found for this answer.
    var foundCount: Int { rows.count + leftOutCount }
    /// The policy for unreadable resources.
    var unreadablePolicy: Resource.UnreadablePolicy { decoding.unreadablePolicy(entity) }

    let entity: String
    let decoding: AnswerDecoding
    private var writers: AnswerWriters

    init(entity: String, decoding: AnswerDecoding) {
        self.entity = entity
        self.decoding = decoding
        writers = AnswerWriters(decoding)
    }

    /// The number of requested resources in the answer.
    public var count: Int { rows.count }

    /// Adds a resource with its values.
    ///
    /// - Parameters:
    ///   - id: The identifier.
    ///   - entity: The entity; that of the request by default.
    ///   - version: The version; nil if the backend has none.
    ///   - owner: The object whose list contains the resource. Needed if a request names several owners and the values do not tell.
    ///   - values: The known values, by the names of the properties.
    /// - Throws: Code 134070 for names that the model does not have, and values that do not fit.
    public mutating func add(
        _ id: some ResourceIdentifier, entity: String? = nil, version: ResourceVersion? = nil, owner: ResourceID? = nil,
        _ values: [String: ResourceValue]
    ) throws {
        try add(id, entity: entity, version: version, owner: owner) { row in
            for (name, value) in values { try row.set(value, name) }
        }
    }

    /// Adds a resource whose values are written by a closure, which is faster.
    ///
    /// - Throws: The errors of the closure; code 134070 for an entity that the model does not have.
    public mutating func add(
        _ id: some ResourceIdentifier, entity: String? = nil, version: ResourceVersion? = nil, owner: ResourceID? = nil,
        writing: (inout ResourceWriter) throws -> Void
    ) throws {
        let slots = try write(id.resourceID, entity, version, writing)
        if let owner { owners.append((owner, rows.count)) }
        rows.append(slots)
    }

    /// Adds an embedded resource, which the answer contains in addition to the requested ones.
    ///
    /// - Throws: Code 134070 for names that the model does not have, and values that do not fit.
    public mutating func embed(
        _ id: some ResourceIdentifier, entity: String, version: ResourceVersion? = nil, _ values: [String: ResourceValue]
    ) throws {
        try embed(id, entity: entity, version: version) { row in
            for (name, value) in values { try row.set(value, name) }
        }
    }

    /// Adds an embedded resource whose values are written by a closure.
    ///
    /// - Throws: The errors of the closure; code 134070 for an entity that the model does not have.
    public mutating func embed(
        _ id: some ResourceIdentifier, entity: String, version: ResourceVersion? = nil, writing: (inout ResourceWriter) throws -> Void
    ) throws {
        embedded.append(try write(id.resourceID, entity, version, writing))
    }

    private mutating func write(
        _ id: ResourceID, _ entity: String?, _ version: ResourceVersion?, _ body: (inout ResourceWriter) throws -> Void
    ) throws -> UnsafeMutableRawPointer {
        if !isKnownUniquelyReferenced(&writers) { writers = AnswerWriters(decoding) }
        let writer = try writers.writer(entity ?? self.entity)
        writer.begin()
        var row = ResourceWriter(id, writer)
        do { try body(&row) } catch {
            writer.cancel()
            throw error
        }
        return end(writer, id, version)
    }

    private mutating func end(_ writer: ResourceRowWriter, _ id: ResourceID, _ version: ResourceVersion?) -> UnsafeMutableRawPointer {
        end(writer, writer.objectID(of: id), version)
    }

    /// Ends a row, and notes its version.
    private mutating func end(_ writer: ResourceRowWriter, _ id: ResourceObjectID, _ version: ResourceVersion?) -> UnsafeMutableRawPointer {
        let id = id.id
        switch version {
        case .number(let number): return writer.end(id, version: number)
        case .tag(let tag):
            let slots = writer.end(id, version: 0)
            tags[slots] = tag
            return slots
        case nil:
            hasVersions = false
            return writer.end(id, version: 0)
        }
    }

    // MARK: For decoders

    /// Returns a writer of resources of an entity, for a decoder that knows their columns: see ``ResourceRowWriter``.
    ///
    /// - Parameter entity: The entity; that of the request by default.
    /// - Throws: Code 134070 for an entity that the model does not have.
    package func writer(_ entity: String? = nil) throws -> ResourceRowWriter {
        ResourceRowWriter(try decoding.entity(entity ?? self.entity), decoding)
    }

    /// Adds the resource that a writer has begun, and whose values are set.
    ///
    /// - Parameters:
    ///   - writer: A writer of this answer.
    ///   - id: The identifier.
    ///   - version: The version; nil if the backend has none.
    ///   - owner: The object whose list contains the resource. Needed if a request names several owners and the values do not tell.
    package mutating func add(_ writer: ResourceRowWriter, id: ResourceID, version: ResourceVersion? = nil, owner: ResourceID? = nil) {
        let slots = end(writer, id, version)
        if let owner { owners.append((owner, rows.count)) }
        rows.append(slots)
    }

    /// Adds an embedded resource, like ``add(_:id:version:owner:)``.
    package mutating func embed(_ writer: ResourceRowWriter, id: ResourceID, version: ResourceVersion? = nil) {
        embedded.append(end(writer, id, version))
    }

    /// Adds an embedded resource by the object ID from its writer.
    package mutating func embed(_ writer: ResourceRowWriter, id: ResourceObjectID, version: ResourceVersion? = nil) {
        embedded.append(end(writer, id, version))
    }

    /// Records an unreadable value of the last resource.
    mutating func noteUnread(_ note: UnreadableResource, _ property: String, isEmbedded: Bool = false) {
        guard let row = isEmbedded ? embedded.last : rows.last else { return }
        unreadable.append(note)
        notesOfPresent += 1
        unreadValues.append(UnreadValue(id: row.knownObjectID, property: property, note: note))
    }

    /// Returns the names of the properties that are unknown in the last resource.
    func unknownNames(isEmbedded: Bool) -> [String] {
        guard let row = isEmbedded ? embedded.last : rows.last else { return [] }
        return row.knownObjectID.owningEntity.frozenParts.properties.filter { !$0.isTransient && row.isUnknown($0) }.map(\.name)
    }
}

/// The writers of an answer's rows, by entity.
final class AnswerWriters {
    private let decoding: AnswerDecoding
    private var known: [String: ResourceRowWriter] = [:]
    private var last: (name: String, writer: ResourceRowWriter)?

    init(_ decoding: AnswerDecoding) { self.decoding = decoding }

    func writer(_ name: String) throws -> ResourceRowWriter {
        if let last, last.name == name { return last.writer }
        let writer = try known[name] ?? ResourceRowWriter(decoding.entity(name), decoding)
        known[name] = writer
        last = (name, writer)
        return writer
    }
}
