public import CoreData

/// A store that the behaviours are tried on.
public struct StoreUnderTest: Sendable, CustomStringConvertible {
    /// What the store can do besides keeping objects with their attributes and relationships.
    public struct Capabilities: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: Int
        /// Makes capabilities of bits.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// It takes any model, so that ``ConformanceModel`` can be tried on it.
        public static let anyModel = Capabilities(rawValue: 1)
        /// What it has saved is there again when its place is opened once more.
        public static let durable = Capabilities(rawValue: 2)
        /// It notices that another context has saved or deleted what is saved now.
        public static let detectsConflicts = Capabilities(rawValue: 4)
        /// It takes no two objects with the values of a uniqueness constraint of its model.
        public static let enforcesUniqueness = Capabilities(rawValue: 8)
    }

    /// The name in reports.
    public let name: String
    /// What it can do.
    public let capabilities: Capabilities
    /// The names of a one-to-many relationship and of attributes of its two entities.
    public let roles: ConformanceRoles
    /// Opens the store at a place of its own, empty the first time, with a new coordinator.
    public let open: @Sendable (StorePlace) throws -> NSPersistentStoreCoordinator
    /// How often the store has been asked for something since it was opened; nil where that cannot be told.
    public let callCount: (@Sendable (NSPersistentStoreCoordinator) -> Int)?

    /// The name.
    public var description: String { name }

    /// Describes a store.
    ///
    /// - Parameters:
    ///   - name: the name in reports.
    ///   - capabilities: what it can do.
    ///   - roles: the names in its model; those of ``ConformanceModel`` unless given.
    ///   - callCount: how often the store that `open` has opened was asked for something; given, the behaviours that save calls are held to
    ///     a handful of them.
    ///   - open: opens the store at a place, empty the first time, with a new coordinator.
    public init(
        name: String, capabilities: Capabilities, roles: ConformanceRoles = ConformanceModel.roles,
        callCount: (@Sendable (NSPersistentStoreCoordinator) -> Int)? = nil,
        open: @escaping @Sendable (StorePlace) throws -> NSPersistentStoreCoordinator
    ) {
        self.name = name
        self.capabilities = capabilities
        self.roles = roles
        self.callCount = callCount
        self.open = open
    }
}

/// The names of a one-to-many relationship with its inverse, and of attributes of its two entities.
public struct ConformanceRoles: Hashable, Sendable {
    /// The entity at the “one” end.
    public var group: String
    /// A text attribute of it.
    public var groupName: String
    /// The to-many relationship.
    public var members: String
    /// The entity at the “many” end.
    public var member: String
    /// A text attribute of it.
    public var memberName: String
    /// A numeric attribute of it.
    public var memberNumber: String
    /// The to-one relationship back.
    public var memberGroup: String

    /// Names the roles.
    public init(
        group: String, groupName: String, members: String, member: String, memberName: String, memberNumber: String, memberGroup: String
    ) {
        self.group = group
        self.groupName = groupName
        self.members = members
        self.member = member
        self.memberName = memberName
        self.memberNumber = memberNumber
        self.memberGroup = memberGroup
    }
}

/// The place of one store in one run: a directory of its own, which goes with it.
public final class StorePlace: Sendable {
    /// A name no other place has.
    public let identifier = UUID().uuidString
    /// The directory.
    public let directory: URL

    /// Makes a place.
    ///
    /// - Throws: why the directory cannot be made.
    public init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("StoreConformance-\(identifier)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }
}
