public import CoreData

/// A store to check the behaviours on.
public struct StoreUnderTest: Sendable, CustomStringConvertible {
    /// The capabilities of a store beyond storing objects with their attributes and relationships.
    public struct Capabilities: OptionSet, Hashable, Sendable {
        /// The raw value.
        public let rawValue: Int
        /// Creates capabilities from a raw value.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// The store supports any model, including ``ConformanceModel``.
        public static let anyModel = Capabilities(rawValue: 1)
        /// The store keeps saved objects when it is opened again.
        public static let durable = Capabilities(rawValue: 2)
        /// The store detects that another context has saved or deleted an object.
        public static let detectsConflicts = Capabilities(rawValue: 4)
        /// The store rejects objects that violate a uniqueness constraint.
        public static let enforcesUniqueness = Capabilities(rawValue: 8)
        /// The store saves all changes of a save or none of them, unlike a service that receives them in several calls.
        public static let savesAtomically = Capabilities(rawValue: 16)
        /// The store gives new objects permanent IDs before they are saved, unlike a service that assigns them.
        public static let identifiesBeforeSaving = Capabilities(rawValue: 32)
        /// The store keeps metadata that a program has set. It is not part of ``everything``: claim it in addition.
        public static let keepsMetadata = Capabilities(rawValue: 64)
        /// All capabilities: those of Core Data's own stores in files.
        public static let everything: Capabilities = [
            .anyModel, .durable, .detectsConflicts, .enforcesUniqueness, .savesAtomically, .identifiesBeforeSaving,
        ]
    }

    /// The name in reports.
    public let name: String
    /// The capabilities of the store.
    public let capabilities: Capabilities
    /// The names of a one-to-many relationship and of attributes of its two entities.
    public let roles: ConformanceRoles
    /// Opens the store at its own place, empty the first time, with a new coordinator.
    public let open: @Sendable (StorePlace) throws -> NSPersistentStoreCoordinator
    /// A closure that returns the number of calls to the store since it was opened; nil if it is unknown.
    public let callCount: (@Sendable (NSPersistentStoreCoordinator) -> Int)?

    /// A closure that returns a program that saves to the store in a directory until it is killed, by ``ConformanceChild/saveUntilKilled(to:in:)``; nil for a
    /// store that cannot be killed. The kit starts it, with its standard output redirected, and kills it at any moment.
    public var child: (@Sendable (URL) throws -> Process)?

    /// The number of objects in behaviours that insert many; 1,000 by default, and more than 10. Fewer suit a service that needs a request for each.
    public var manyObjects = 1000

    /// The name in reports.
    public var description: String { name }

    /// Describes a store.
    ///
    /// - Parameters:
    ///   - name: The name in reports.
    ///   - capabilities: The capabilities of the store.
    ///   - roles: The names in its model; the default is those of ``ConformanceModel``.
    ///   - callCount: A closure that returns the number of calls to the store that `open` has opened. If given, behaviours that limit the number of calls are
    ///     checked.
    ///   - open: A closure that opens the store at a place, empty the first time, with a new coordinator.
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
    /// The entity on the to-one side.
    public var group: String
    /// A string attribute of the group.
    public var groupName: String
    /// The to-many relationship.
    public var members: String
    /// The entity on the to-many side.
    public var member: String
    /// A string attribute of the member.
    public var memberName: String
    /// A numeric attribute of the member.
    public var memberNumber: String
    /// The inverse to-one relationship.
    public var memberGroup: String

    /// Creates the roles.
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

/// The place of one store in one run: a directory that is deleted with the instance.
public final class StorePlace: Sendable {
    /// A unique name.
    public let identifier = UUID().uuidString
    /// The directory.
    public let directory: URL
    /// Whether the directory is deleted with the instance.
    private let isOwn: Bool

    /// Creates a place.
    ///
    /// - Throws: The error of creating the directory.
    public init() throws {
        isOwn = true
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("StoreConformance-\(identifier)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    /// Uses a directory that the caller deletes.
    init(existing directory: URL) {
        self.directory = directory
        isOwn = false
    }

    deinit { if isOwn { try? FileManager.default.removeItem(at: directory) } }
}
