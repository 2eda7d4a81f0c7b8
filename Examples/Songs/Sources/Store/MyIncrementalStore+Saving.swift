internal import CoreData
internal import ExampleSupport

extension MyIncrementalStore {
    /// Writes the file: changed rows with incremented versions, new ones with version 1, the others byte for byte.
    func save(_ saveRequest: NSSaveChangesRequest) throws {
        try updateHeaders()
        try findConflicts(in: saveRequest)
        var written: [UUID: NSManagedObject] = [:]
        var order = index.order
        for object in saveRequest.insertedObjects ?? [] {
            let id = try identifier(of: object)
            written[id] = object
            order.append(id)
        }
        let changed = (saveRequest.updatedObjects ?? []).union(saveRequest.lockedObjects ?? [])
        for object in changed { written[try identifier(of: object)] = object }
        let deleted = try Set((saveRequest.deletedObjects ?? []).map(identifier))
        index = try file.replace(format) { handle in
            try handle.write(contentsOf: index.line(index.firstLine, in: file))
            for id in order where !deleted.contains(id) { try handle.write(contentsOf: row(id, written[id])) }
        }
        counters.withLock { $0.saves += 1 }
    }

    private func identifier(of object: NSManagedObject) throws -> UUID {
        if let id = referenceObject(for: object.objectID) as? UUID { return id }
        throw SongFileError(.unstorable, file.url, "\(object.objectID) has no identifier.", advice: "Save objects of this store only.")
    }

    /// Returns the new bytes of a row: those of the file unless there is an object to write.
    private func row(_ id: UUID, _ object: NSManagedObject?) throws -> Data {
        guard let object else {
            guard let header = index.headers[id] else { return Data() }
            return try index.line(header.range, in: file)
        }
        var references: [String: [UUID]] = [:]
        for relationship in format.storedRelationships(of: object.entity) {
            let ids = object.objectIDs(forRelationshipNamed: relationship.name).compactMap { referenceObject(for: $0) as? UUID }
            // Sets are unordered; the file has an order that is the same in every run.
            references[relationship.name] = ids.sorted { $0.uuidString < $1.uuidString }
        }
        let version = (index.headers[id]?.version ?? 0) + 1
        let header = SongHeader(entity: object.entity, id: id, version: version, references: references, line: 0, range: 0..<0)
        return index.writer.line(try format.fields(of: header, index.columns) { object.value(forKey: $0) })
    }

    /// Compares the versions in the file with those that the objects were read with.
    ///
    /// - Throws: Code 133020 with a conflict for each object that another program has changed or deleted.
    private func findConflicts(in saveRequest: NSSaveChangesRequest) throws {
        let changed = (saveRequest.updatedObjects ?? []).union(saveRequest.deletedObjects ?? []).union(saveRequest.lockedObjects ?? [])
        let conflicts = try changed.compactMap { object -> NSMergeConflict? in
            guard let read = baseVersion(of: object) else { return nil }
            let header = index.headers[try identifier(of: object)]
            guard header?.version != read else { return nil }
            return NSMergeConflict(
                source: object, newVersion: Int(header?.version ?? 0), oldVersion: Int(read), cachedSnapshot: nil,
                persistedSnapshot: try header.map(values(of:)))
        }
        guard !conflicts.isEmpty else { return }
        throw NSError(
            domain: NSCocoaErrorDomain, code: NSManagedObjectMergeError,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "\(file.url.path) was written by another program. \(conflicts.map(\.description).joined(separator: " "))"
                    + " Refresh the objects and save again, or set a merge policy.",
                NSPersistentStoreSaveConflictsErrorKey: conflicts,
            ])
    }
}
