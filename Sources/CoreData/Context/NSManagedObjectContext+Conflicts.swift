extension NSManagedObjectContext {
    /// See ``detectConflicts(for:)``.
    func performDetectConflicts(for object: NSManagedObject) {
        checkQueue("detectConflicts(for:) is called")
        guard object.registry === registry, !object.flags.contains(.inserted) else { return }
        // The version to compare with is that of the values.
        if object.isFault { _ = object.slotsAfterFault() }
        if !lockedObjects.contains(where: { $0 === object }) { lockedObjects.append(object) }
    }

    /// The marked objects of which the save has nothing else to say.
    var objectsToLock: [NSManagedObject] {
        lockedObjects.filter {
            $0.registry === registry && !$0.isInserted && !$0.isDeleted && !($0.isUpdated && $0.hasPersistentChangedValues)
        }
    }
}
