extension NSPersistentStoreRequest {
    /// The stores that execute the request; nil for all that hold the entity.
    public var affectedStores: [NSPersistentStore]? {
        get { stores?.map { unsafeDowncast($0, to: NSPersistentStore.self) } }
        set { stores = newValue }
    }
}
