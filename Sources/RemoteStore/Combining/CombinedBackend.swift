public import Foundation
@_spi(Stores) public import ObjectGraph
internal import Predicates

/// A combination of several backends whose rows with the same identity form one object: for example, the contacts of an address book and of a sales service,
/// identified by their e-mail address.
///
/// Each part has some properties of an entity, and all parts have the attribute that is its identity. An object that only one part has is also an object: the
/// properties of the other parts are nil. Entities without a ``Share`` belong to the one part that describes them.
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
/// - A predicate over the properties of one part is sent to that part: nil matches no comparison, so that no object of the other parts is missed. Any other
///   predicate is sent to all parts, and evaluated in memory.
/// - An unknown property is requested from the part that has it, for all objects that were read together.
/// - A change is sent to each part that has one of its properties. A part that does not have the object yet receives it as a new one; a deletion is sent to
///   every part that has it. If one part has saved a change and another one has refused it, a ``PartRefusal`` reports it, and the saved part is not sent again.
///
/// Identities do not change: to change one, delete the object and insert another. Bulk calls and uploads are not supported.
public struct CombinedBackend: Backend {
    /// One of the backends of a combination.
    public struct Part: Sendable {
        /// The name of the part in errors and plans.
        public var name: String
        /// The backend.
        public var backend: any Backend
        /// The part's shares of the objects that other parts have, too.
        public var shares: [Share]

        /// Creates a part.
        ///
        /// - Parameters:
        ///   - name: The name of the part in errors and plans.
        ///   - backend: The backend.
        ///   - shares: The part's shares of the objects that other parts have, too.
        public init(_ name: String, _ backend: any Backend, _ shares: [Share]) {
            self.name = name
            self.backend = backend
            self.shares = shares
        }
    }

    /// A part's share of the objects of an entity.
    public struct Share: Sendable {
        /// The name of the entity.
        public var entity: String
        /// The attribute that is the identity of an object: a string, a number or a UUID that all parts have.
        public var identity: String
        /// The properties that only this part has.
        public var properties: Set<String>
        /// Whether the part's own identifiers are the identities, so that no lookup is necessary.
        public var identifiesAlike: Bool
        /// Whether the part has every object: then all its capabilities can be used.
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

    /// The location of the combination, which is that of its store.
    public let location: URL
    /// The combined capabilities of the parts.
    public let resources: [Resource]

    let members: [CombinedMember]
    /// The entities that several parts have.
    let entities: [String: CombinedEntity]
    /// The only part of each other entity.
    let owners: [String: Int]

    /// Combines backends.
    ///
    /// - Parameters:
    ///   - model: The model of the store, or an equal one. It must not change any more.
    ///   - location: The location of the combination. It must be the same in each run, so that URIs of object IDs stay valid.
    ///   - parts: The backends. If several could save a new object, the first one receives it by default.
    /// - Throws: Code 134080 for shares that do not fit the model or the capabilities of their backend; the errors of an invalid model.
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

    /// The users of the parts, as one name: that of the only user, unless several are known.
    public var principal: String? { Self.principal(of: principals) }

    /// The user of each part.
    private var principals: [String?] { members.map { $0.part.backend.principal } }

    private static func principal(of principals: [String?]) -> String? {
        let known = Set(principals.compactMap { $0 })
        if known.count < 2 { return known.first }
        // Each name is preceded by its length, so that no two sets of users have the same name.
        return principals.map { $0.map { "\($0.utf8.count):\($0)" } ?? "-" }.joined(separator: " ")
    }

    /// Answers a request: asks the necessary parts, and joins their values of each object.
    ///
    /// - Throws: The error of a part that cannot be asked.
    public func answer(_ request: BackendRequest) async throws -> BackendAnswer {
        if let entity = entities[request.entity] { return try await answer(request, entity) }
        guard let owner = owners[request.entity] else { throw RemoteStoreError.unknownEntity(request.entity) }
        return try await members[owner].forward(request)
    }

    /// Sends each change to the parts that have its properties.
    ///
    /// - Throws: The error of a part that could not be asked, if nothing was saved.
    public func save(_ changes: [BackendChange]) async throws -> [BackendChange.Key: BackendOutcome] {
        guard let name = changes.first?.entity else { return [:] }
        // Each part knows only its own user.
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
