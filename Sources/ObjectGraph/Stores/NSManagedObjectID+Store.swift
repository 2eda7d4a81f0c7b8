internal import Predicates

extension NSManagedObjectID {
    /// The store of the object; nil for a temporary ID and when the store has been removed.
    public var persistentStore: NSPersistentStore? { token?.store }
}

extension NSManagedObjectID {
    /// Creates the object ID for a reference object.
    convenience init(entity: NSEntityDescription, token: StoreToken, referenceObject: Any) {
        guard let reference = Reference(referenceObject) else {
            stopProgram(
                "\(referenceObject) (\(Swift.type(of: referenceObject))) cannot be the reference object of an ID of “\(entity)”: "
                    + "use text, a whole number or a UUID.")
        }
        self.init(entity: entity, token: token, reference: reference)
    }
}

extension StoreToken {
    /// The store; nil once it is gone.
    // Only a store sets `owner`.
    package var store: NSPersistentStore? {
        get { owner.map { unsafeDowncast($0, to: NSPersistentStore.self) } }
        set { owner = newValue }
    }
}
