internal import CoreData

extension XYZMyIncrementalStore {
    /// Writes the inserted, changed and deleted objects of a context in one commit.
    ///
    /// - Throws: Code 133020 with a conflict for each object whose row has another version than the object was read with; the error of
    ///   the database. Nothing is written then.
    func save(_ saveRequest: NSSaveChangesRequest) throws {
        let insertedObjects = saveRequest.insertedObjects ?? []
        let updatedObjects = saveRequest.updatedObjects ?? []
        let deletedObjects = saveRequest.deletedObjects ?? []
        let optLockObjects = saveRequest.lockedObjects ?? []
        // Set and increment version numbers: the database writes version 1 for a new row, and one more than expected for any other.
        var changes: [XYZDatabase.Change] = []
        for object in insertedObjects { changes.append(try change(object, .write(try columns(of: object)), expected: nil)) }
        for object in updatedObjects { changes.append(try change(object, .write(try columns(of: object)), expected: version(of: object))) }
        for object in deletedObjects { changes.append(try change(object, .delete, expected: version(of: object))) }
        for object in optLockObjects { changes.append(try change(object, .lock, expected: version(of: object))) }
        let stale = try database.commit(changes)
        if !stale.isEmpty { throw try conflictError(stale, among: updatedObjects.union(deletedObjects).union(optLockObjects)) }
    }

    private func change(
        _ object: NSManagedObject, _ kind: XYZDatabase.Change.Kind, expected: UInt64?
    ) throws -> XYZDatabase.Change {
        XYZDatabase.Change(
            table: table(object.entity), primaryKey: try uniqueIdentifier(of: object.objectID), expectedVersion: expected, kind: kind)
    }

    /// Returns the version that an object was read with. An object whose values were never read accepts the current row.
    private func version(of object: NSManagedObject) throws -> UInt64? {
        if let version = baseVersion(of: object) { return version }
        return try database.row(try uniqueIdentifier(of: object.objectID), of: table(object.entity))?.version
    }

    // MARK: Optimistic Locking

    private func conflictError(_ stale: [XYZDatabase.StaleChange], among objects: Set<NSManagedObject>) throws -> NSError {
        let byID = Dictionary(uniqueKeysWithValues: objects.map { ($0.objectID, $0) })
        let conflicts = stale.compactMap { stale -> NSMergeConflict? in
            let entity = persistentStoreCoordinator?.managedObjectModel.entitiesByName[stale.change.table]
            guard let object = entity.flatMap({ byID[objectID(stale.change.primaryKey, of: $0)] }) else { return nil }
            return NSMergeConflict(
                source: object, newVersion: Int(stale.row?.version ?? 0), oldVersion: Int(stale.change.expectedVersion ?? 0),
                cachedSnapshot: nil, persistedSnapshot: stale.row.map { values(of: $0, object.entity) })
        }
        return NSError(
            domain: NSCocoaErrorDomain, code: NSManagedObjectMergeError,
            userInfo: [
                NSLocalizedDescriptionKey: "Others have written the same rows. \(conflicts.map(\.description).joined(separator: " "))"
                    + " Refresh the objects and save again, or set a merge policy.",
                NSPersistentStoreSaveConflictsErrorKey: conflicts,
            ])
    }
}
