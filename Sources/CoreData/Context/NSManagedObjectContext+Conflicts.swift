extension NSManagedObjectContext {
    /// Makes the next save look whether others have changed an object, even if it is not changed here. Call it on the context's queue.
    ///
    /// Use it where changes of other objects rest on what this one says. The object's version is compared as that of a changed object is, and
    /// counted up; others who have read it meet a conflict in turn. The mark goes with the save, a rollback or a reset. A context without any
    /// changes has nothing to save and finds nothing.
    public func detectConflicts(for object: NSManagedObject) {
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
