internal import Foundation

/// The ID of an object together with its class. It may cross to other queues, tasks and actors.
///
/// ```swift
/// let id = TypedObjectID(album)
/// let title = await other.perform { other.object(with: id).title }
/// ```
///
/// Typed IDs are compared by their ``NSManagedObjectID`` and encoded as its URI. Decoding requires a coordinator in the decoder's user
/// info under `CodingUserInfoKey.persistentStoreCoordinator`. Not in Apple's API.
public struct TypedObjectID<Object: NSManagedObject>: Hashable, Sendable, CustomStringConvertible {
    /// The untyped ID.
    public let objectID: NSManagedObjectID

    /// Creates the typed ID of an object. Call it on the queue of the object's context.
    public init(_ object: Object) { objectID = object.objectID }

    /// Creates a typed ID if the class of the ID's entity is the given class or inherits from it.
    public init?(_ objectID: NSManagedObjectID) {
        guard objectID.owningEntity.managedObjectClass.isSubclass(of: Object.self) else { return nil }
        self.objectID = objectID
    }

    init(unchecked objectID: NSManagedObjectID) { self.objectID = objectID }

    /// Whether the object has not been saved yet. After the save, other contexts find it by this ID too.
    public var isTemporary: Bool { objectID.isTemporaryID }

    /// A description of the URI and the entity.
    public var description: String { objectID.description }
}

extension TypedObjectID: Codable {
    /// Encodes the URI of the object.
    ///
    /// - Throws: An error for a temporary ID, which other programs cannot use; save the object first.
    public func encode(to encoder: any Encoder) throws {
        let id = objectID.current
        if id.isTemporaryID {
            let message = "\(id) is temporary: save the object before its ID is encoded."
            throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: message))
        }
        var container = encoder.singleValueContainer()
        try container.encode(id.uriRepresentation())
    }

    /// Decodes the URI of an object.
    ///
    /// - Throws: An error if the decoder's user info has no coordinator, its stores do not know the URI, or the class differs.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let uri = try container.decode(URL.self)
        func mistake(_ message: String) -> DecodingError { .dataCorruptedError(in: container, debugDescription: message) }
        guard let coordinator = decoder.userInfo[.persistentStoreCoordinator] as? NSPersistentStoreCoordinator else {
            throw mistake("The decoder's userInfo has no coordinator under CodingUserInfoKey.persistentStoreCoordinator.")
        }
        guard let id = coordinator.managedObjectID(forURIRepresentation: uri) else {
            throw mistake("No store of the coordinator knows \(uri.absoluteString).")
        }
        guard let typed = Self(id) else { throw mistake("\(id) is no \(Object.self).") }
        self = typed
    }
}

extension CodingUserInfoKey {
    /// The key of the coordinator for decoding ``TypedObjectID``s.
    public static let persistentStoreCoordinator = CodingUserInfoKey(rawValue: "CoreData.persistentStoreCoordinator").known(
        "every text is a key")
}

extension NSManagedObjectContext {
    /// Returns the object with an ID, like ``object(with:)-(NSManagedObjectID)``. Call it on the context's queue.
    public func object<Object: NSManagedObject>(with id: TypedObjectID<Object>) -> Object {
        // The ID was created from an object of the class, or its entity was checked.
        object(with: id.objectID) as! Object
    }

    /// Returns the object with an ID if it is registered with the context, nil otherwise. Call it on the context's queue.
    public func registeredObject<Object: NSManagedObject>(for id: TypedObjectID<Object>) -> Object? {
        registeredObject(for: id.objectID) as? Object
    }

    /// Returns the object with an ID, and loads its values if needed. Call it on the context's queue.
    ///
    /// - Throws: Code 133000 when the store has no such object, or the store's error.
    public func existingObject<Object: NSManagedObject>(with id: TypedObjectID<Object>) throws -> Object {
        try existingObject(with: id.objectID) as! Object
    }
}

extension KeyedManagedValue where Self: NSManagedObject {
    /// The typed ID of the object. Call it on the queue of the object's context.
    public var typedID: TypedObjectID<Self> { TypedObjectID(self) }
}
