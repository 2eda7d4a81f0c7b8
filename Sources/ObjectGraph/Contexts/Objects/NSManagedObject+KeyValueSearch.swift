internal import Foundation

// The lookup of a key, by the rules of Apple's Key-Value Coding Programming Guide: it looks for a getter `get<Key>`, `<key>`, `is<Key>` or `_<key>`,
// and for a setter `set<Key>:`, where `<Key>` begins with a capital letter. It ignores instance variables: managed objects forbid access to them.
extension NSManagedObject {
    /// Returns the property that a key sets: the one with that name, or whose setter has the name that follows from the key.
    @inline(__always) func settableProperty(forKey key: String) -> NSPropertyDescription? {
        property(named: key) ?? propertyWithSetter(forKey: key)
    }

    @inline(never) private func propertyWithSetter(forKey key: String) -> NSPropertyDescription? {
        guard let first = key.first else { return nil }
        let others = [first.lowercased(), first.uppercased()].map { $0 + key.dropFirst() }
        return others.lazy.filter { $0 != key }.compactMap { self.property(named: $0) }.first
    }

    /// Returns the value of a key that is no property's name.
    @inline(never) func soughtValue(forKey key: String) -> Any? {
        let capitalized = key.prefix(1).uppercased() + key.dropFirst()
        let frozen = owningEntity.frozen!
        for name in ["get" + capitalized, key, "is" + capitalized, "_" + key] {
            if frozen.byName[name] != nil || frozen.fetched[name] != nil { return value(forKey: name) }
            if let read = Self.ownProperties[name] { return read(self) }
        }
        return value(forUndefinedKey: key)
    }

    /// The properties of every managed object, by the names of the getters.
    private static let ownProperties: [String: @Sendable (NSManagedObject) -> Any?] = [
        "self": { $0 }, "objectID": { $0.objectID }, "entity": { $0.entity }, "managedObjectContext": { $0.managedObjectContext },
        "isInserted": { $0.isInserted }, "isUpdated": { $0.isUpdated }, "isDeleted": { $0.isDeleted }, "isFault": { $0.isFault },
        "hasChanges": { $0.hasChanges }, "hasPersistentChangedValues": { $0.hasPersistentChangedValues },
        "faultingState": { $0.faultingState }, "description": { $0.description }, "debugDescription": { $0.debugDescription },
        "hash": { $0.hash },
    ]
}
