extension LiveObjects {
    /// The objects with their type.
    // Only a store that was given a context, and the coordinator, make answers of its objects.
    var objects: [NSManagedObject] { elements.mapUncounted { unsafeDowncast($0, to: NSManagedObject.self) } }
}
