public import Foundation
@_spi(Stores) public import ObjectGraph
internal import Predicates

/// Several backends whose rows with one identity are one object: the contacts of an address book and of a sales service, under their e-mail address.
///
/// Each part has some properties of an entity, and all parts have the attribute that is its identity. An object that only one part has is an object,
/// too: the properties of the others are nil. Entities without a ``Share`` belong to the one part that describes them.
///
/// ```swift
/// let contacts = try CombinedBackend(
///     model, at: URL(string: "contacts:all")!,
///     [
///         .init("addresses", addressBook, [.init("Contact", by: "email", ["name", "phone"])]),
///         .init("sales", salesService, [.init("Contact", by: "email", ["revenue"])]),
///     ])
/// try coordinator.addRemoteStore(contacts)
/// ```
///
/// - A predicate over what one part has is asked of that part: nil matches no comparison, so that no object of the others is missed. Everything else
///   is asked of all parts, and finished in memory.
/// - A property that is not known yet is asked of the part that has it, for all objects that came together.
/// - A change is sent to each part whose properties it has. A part that does not have the object yet gets it as a new one; a deletion goes to every
///   part that has it. What one part has saved and another one refused is told by a ``PartRefusal``, and is not sent again.
///
/// Identities do not change: delete such an object, and insert another. There are neither bulk calls nor uploads.
public struct CombinedBackend: Backend {
    /// One of the backends of a combination.
    public struct Part: Sendable {
        /// The name that errors and plans call it by.
        public var name: String
        /// The backend.
        public var backend: any Backend
        /// What it has of the objects that others have too.
        public var shares: [Share]

        /// Creates a part.
        ///
        /// - Parameters:
        ///   - name: The name that errors and plans call it by.
        ///   - backend: The backend.
        ///   - shares: What it has of the objects that others have too.
        public init(_ name: String, _ backend: any Backend, _ shares: [Share]) {
            self.name = name
            self.backend = backend
            self.shares = shares
        }
    }

    /// What a part has of the objects of an entity.
    public struct Share: Sendable {
        /// The name of the entity.
        public var entity: String
        /// The attribute that is the identity of an object: a string, a number or a UUID that all parts have.
        public var identity: String
        /// The properties that only this part has.
        public var properties: Set<String>
        /// Whether the part's own identifiers are the identities, so that nothing has to be looked up.
        public var identifiesAlike: Bool
        /// Whether the part has every object: then all that it can do counts for all objects.
        public var hasAll: Bool

        /// Creates a share.
        ///
        /// - Parameters:
        ///   - entity: The name of the entity.
        ///   - identity: The attribute that is the identity of an object, the same in every part.
        ///   - properties: The properties that only this part has.
        ///   - identifiesAlike: Whether the part's own identifiers are the identities.
        ///   - hasAll: Whether the part has every object that any part has.
        public init(_ entity: String, by identity: String, _ properties: Set<String>, identifiesAlike: Bool = false, hasAll: Bool = false) {
            self.entity = entity
            self.identity = identity
            self.properties = properties
            self.identifiesAlike = identifiesAlike
            self.hasAll = hasAll
        }
    }

    /// Where the combination is: the location of its store.
    public let location: URL
    /// What the parts can do together.
    public let resources: [Resource]

    let members: [CombinedMember]
    /// The entities that several parts have.
    let entities: [String: CombinedEntity]
    /// The only part of each other entity.
    let owners: [String: Int]

    /// Combines backends.
    ///
    /// - Parameters:
    ///   - model: The model of the store, or an equal one; it does not change any more.
    ///   - location: Where the combination is: the same in each run, so that URIs of object IDs stay valid.
    ///   - parts: The backends. Of several that have a new object, the first gets it where nothing else tells.
    /// - Throws: Code 134080 for shares that do not fit the model or what their backend can do; the errors of a model that is not valid.
    public init(_ model: NSManagedObjectModel, at location: URL, _ parts: [Part]) throws {
        self.location = location
        try model.freeze()
        let members = try CombinedMember.members(parts, model)
        var entities: [String: CombinedEntity] = [:]
        for name in Set(parts.flatMap { $0.shares.map(\.entity) }) {
            entities[name] = try CombinedEntity(name, members, model)
        }
        var owners: [String: Int] = [:]
        var resources = entities.values.sorted { $0.name < $1.name }.map(\.resource)
        for (index, member) in members.enumerated() {
            for resource in member.part.backend.resources where entities[resource.entity] == nil {
                if let other = owners[resource.entity] {
                    throw RemoteStoreError.description(
                        "“\(resource.entity)” is described by “\(members[other].name)” and by “\(member.name)”.",
                        next: "Give each of them a share of it, with the attribute that is its identity.")
                }
                owners[resource.entity] = index
                resources.append(try member.forwarded(resource))
            }
        }
        (self.members, self.entities, self.owners, self.resources) = (members, entities, owners, resources)
    }

    /// The users of the parts, as one name: that of the only one, where not several are known.
    public var principal: String? { Self.principal(of: principals) }

    /// The user of each part.
    private var principals: [String?] { members.map { $0.part.backend.principal } }

    private static func principal(of principals: [String?]) -> String? {
        let known = Set(principals.compactMap { $0 })
        if known.count < 2 { return known.first }
        // With the length of each name before it: no two sets of users have one name.
        return principals.map { $0.map { "\($0.utf8.count):\($0)" } ?? "-" }.joined(separator: " ")
    }

    /// Answers a request: asks the parts that are needed for it, and joins what they have of each object.
    ///
    /// - Throws: The error of a part that cannot be asked.
    public func answer(_ request: BackendRequest) async throws -> BackendAnswer {
        if let entity = entities[request.entity] { return try await answer(request, entity) }
        guard let owner = owners[request.entity] else { throw RemoteStoreError.unknownEntity(request.entity) }
        return try await members[owner].forward(request)
    }

    /// Sends each change to the parts whose properties it has.
    ///
    /// - Throws: The error of a part that could not be asked, where nothing was saved.
    public func save(_ changes: [BackendChange]) async throws -> [BackendChange.Key: BackendOutcome] {
        guard let name = changes.first?.entity else { return [:] }
        // Each part knows its own user only.
        var principals = [String?](repeating: nil, count: members.count)
        if let principal = changes.first?.principal {
            principals = self.principals
            guard Self.principal(of: principals) == principal else { throw RemoteStoreError.otherUser(name) }
        }
        if let entity = entities[name] {
            var save = CombinedSave(changes, entity, members, principals)
            return try await save.run()
        }
        guard let owner = owners[name] else { throw RemoteStoreError.unknownEntity(name) }
        return try await members[owner].forward(changes.map { $0.owned(by: principals[owner]) })
    }
}
