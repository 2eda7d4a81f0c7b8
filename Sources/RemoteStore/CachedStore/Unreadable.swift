@_spi(Stores) public import ObjectGraph

extension NSPersistentStore {
    /// Returns what a remote store has got for an object that its backend could not read, or one of whose values it could not; nil for an object that could be read, and for other
    /// stores.
    ///
    /// Call it on any thread. It is known for as long as a context has the object.
    public func unreadableResource(of id: NSManagedObjectID) -> UnreadableResource? {
        switch self {
        case let store as BackendStore: return store.reader.unreadable.note(id)
        case let store as CachedStore: return store.remoteIDOfUnread(id).flatMap { store.reader.unreadable.note($0) }
        default: return nil
        }
    }
}
