extension NSManagedObjectContext {
    /// Includes an unchanged object in the conflict detection of the next save; implements the public ``detectConflicts(for:)``.
    func performDetectConflicts(for object: NSManagedObject) {
        checkQueue("detectConflicts(for:) is called")
        guard object.registry === registry, !object.flags.contains(.inserted) else { return }
        // Loads the values, whose version is compared.
        if object.isFault { _ = object.loadedSlots() }
        if !lockedObjects.contains(where: { $0 === object }) { lockedObjects.append(object) }
    }

    /// The marked objects that the save would not write otherwise.
    var objectsToLock: [NSManagedObject] {
        lockedObjects.filter {
            $0.registry === registry && !$0.isInserted && !$0.isDeleted && !($0.isUpdated && $0.hasPersistentChangedValues)
        }
    }
}
