internal import Foundation

/// The identity of an object together with its class. It may cross to other queues, tasks and actors.
///
/// ```swift
/// let id = TypedObjectID(album)
/// let title = await other.perform { other.object(with: id).title }
/// ```
///
/// It is equal to another one by the ``NSManagedObjectID``, and coded as its URI. Decoding needs a coordinator, given in the decoder's user info
/// under `CodingUserInfoKey.persistentStoreCoordinator`. Not in Apple's API.
public struct TypedObjectID<Object: NSManagedObject>: Hashable, Sendable, CustomStringConvertible {
    /// The identity.
    public let objectID: NSManagedObjectID

    /// The identity of an object. Call it on the queue of the object's context.
    public init(_ object: Object) { objectID = object.objectID }

    /// An identity, if the class of its entity is the wanted one or inherits from it.
    public init?(_ objectID: NSManagedObjectID) {
        guard objectID.owningEntity.managedObjectClass.isSubclass(of: Object.self) else { return nil }
        self.objectID = objectID
    }

    init(unchecked objectID: NSManagedObjectID) { self.objectID = objectID }

    /// Whether the object has not been saved yet. Once it has, other contexts find it by this ID too.
    public var isTemporary: Bool { objectID.isTemporaryID }

    /// The URI of the object and its entity.
    public var description: String { objectID.description }
}

extension TypedObjectID: Codable {
    /// Writes the URI of the object.
    ///
    /// - Throws: an error for a temporary ID, which means nothing to others; save the object first.
    public func encode(to encoder: any Encoder) throws {
        let id = objectID.current
        if id.isTemporaryID {
            let message = "\(id) is temporary: save the object before its ID is encoded."
            throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: message))
        }
        var container = encoder.singleValueContainer()
        try container.encode(id.uriRepresentation())
    }

    /// Reads the URI of an object.
    ///
    /// - Throws: an error where the decoder's user info has no coordinator, its stores do not know the URI, or it is of another class.
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
    /// The key of the coordinator that decoded ``TypedObjectID``s belong to.
    public static let persistentStoreCoordinator = CodingUserInfoKey(rawValue: "CoreData.persistentStoreCoordinator").unsafelyUnwrapped
}

extension NSManagedObjectContext {
    /// The object of an identity, as ``object(with:)-(NSManagedObjectID)``. Call it on the context's queue.
    public func object<Object: NSManagedObject>(with id: TypedObjectID<Object>) -> Object {
        // The ID was made with an object of the class, or after a look at its entity.
        object(with: id.objectID) as! Object
    }

    /// The object of an identity if it lives in the context already, nil otherwise. Call it on the context's queue.
    public func registeredObject<Object: NSManagedObject>(for id: TypedObjectID<Object>) -> Object? {
        registeredObject(for: id.objectID) as? Object
    }

    /// The object of an identity, its values fetched if need be. Call it on the context's queue.
    ///
    /// - Throws: code 133000 when the store has no such object, or the store's error.
    public func existingObject<Object: NSManagedObject>(with id: TypedObjectID<Object>) throws -> Object {
        try existingObject(with: id.objectID) as! Object
    }
}

extension KeyedManagedValue where Self: NSManagedObject {
    /// The identity of the object together with its class. Call it on the queue of the object's context.
    public var typedID: TypedObjectID<Self> { TypedObjectID(self) }
}
