public import Foundation

/// The values of one object in an atomic store.
///
/// Relationships contain other nodes: a node for a to-one relationship, a set of nodes (`NSSet`, `Set` or an array) for a to-many
/// relationship.
///
/// Source: [NSAtomicStoreCacheNode](https://developer.apple.com/documentation/coredata/nsatomicstorecachenode).
open class NSAtomicStoreCacheNode: NSObject {
    /// The ID of the object.
    public let objectID: NSManagedObjectID

    private var values: [String: Any] = [:]
    /// The dictionary that was returned to the program, which may change it at any time.
    private var shared: NSMutableDictionary?
    private var cachedRow: Row?
    /// The version number, which the framework increments at each save of the object.
    final var version: Int64 = 1 { didSet { cachedRow = nil } }

    /// Creates a node without values.
    public required init(objectID moid: NSManagedObjectID) { objectID = moid }

    /// The values by property name, as a mutable dictionary.
    open var propertyCache: NSMutableDictionary? {
        get {
            if shared == nil { shared = NSMutableDictionary(dictionary: values) }
            return shared
        }
        set {
            shared = newValue
            cachedRow = nil
        }
    }

    /// Returns the value of a property; nil if there is none.
    open func value(forKey key: String) -> Any? { shared.map { $0.object(forKey: key) } ?? values[key] }

    /// Sets the value of a property; nil removes it.
    open func setValue(_ value: Any?, forKey key: String) {
        if let shared {
            if let value { shared.setObject(value, forKey: key as NSString) } else { shared.removeObject(forKey: key) }
        } else {
            values[key] = value
        }
        cachedRow = nil
    }

    /// The values and the version, to be restored when a save fails.
    final var copyOfValues: (values: [String: Any], version: Int64) {
        (shared.map { $0 as? [String: Any] ?? [:] } ?? values, version)
    }

    final func restore(_ copy: (values: [String: Any], version: Int64)) {
        if let shared { shared.setDictionary(copy.values) } else { values = copy.values }
        version = copy.version
    }

    /// Returns the node as a row.
    ///
    /// - Throws: ``NodeMistake`` for a key that is not a property and for a value that the property cannot hold.
    func makeRow() throws -> Row {
        if let cachedRow { return cachedRow }
        var named: [String: Any] = [:]
        for (key, value) in shared.map({ $0 as? [String: Any] ?? [:] }) ?? values { named[key] = Self.identifiers(in: value) }
        for relationship in objectID.owningEntity.frozen!.relationships where named[relationship.name] == nil {
            named[relationship.name] = relationship.isToMany ? [NSManagedObjectID]() : NSNull()
        }
        let row = try Row.make(named, entity: objectID.owningEntity, objectID: objectID, version: version)
        if shared == nil { cachedRow = row }
        return row
    }

    private static func identifiers(in value: Any) -> Any {
        switch value {
        case let node as NSAtomicStoreCacheNode: node.objectID
        case let nodes as Set<NSAtomicStoreCacheNode>: nodes.map(\.objectID)
        case let nodes as [NSAtomicStoreCacheNode]: nodes.map(\.objectID)
        case let nodes as NSOrderedSet: nodes.array.map(identifiers)
        case let nodes as NSSet where !(nodes.allObjects is [NSManagedObjectID]): nodes.allObjects.map(identifiers)
        default: value
        }
    }
}
