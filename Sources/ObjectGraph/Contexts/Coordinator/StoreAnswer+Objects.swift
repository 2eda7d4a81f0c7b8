extension LiveObjects {
    /// The objects with their type.
    // A store that was given a context, and the coordinator, make answers of its objects, and nothing else does.
    var objects: [NSManagedObject] { elements.mapUncounted { unsafeDowncast($0, to: NSManagedObject.self) } }
}
