@_spi(Stores) public import ObjectGraph

extension NSPersistentStore {
    /// Returns what a remote store has got for an object that its backend could not read; nil for an object that could be read, and for other
    /// stores.
    ///
    /// Call it on any thread. It is known for as long as a context has the object.
    public func unreadableResource(of id: NSManagedObjectID) -> UnreadableResource? {
        (self as? BackendStore)?.reader.unreadable.note(id)
    }
}
