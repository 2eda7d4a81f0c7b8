@_spi(Stores) internal import CoreData
internal import Foundation
internal import Synchronization

extension LogBackedStore {
    /// Returns IDs with numbers that no object of the entity has had.
    func permanentIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID] {
        lock.writing { rows.makeIDs(for: new) }
    }

    /// Writes the save to the file, and then applies it to the rows. Readers wait for the second step only.
    ///
    /// - Throws: `StoreConflicts`; the system's error. Nothing is saved then.
    func save(_ changes: StoreChangeSet, for caller: StoreCaller) throws -> SaveOutcome {
        try writing.withLock {
            try lock.reading { try rows.checkConflicts(changes) }
            let file = try openFile()
            try file.append { write in
                try writeMetadata(write)
                try LogWriter(coder, write).write(
                    [changes.inserted, changes.updated, changes.locked], deleted: changes.deleted.map(\.objectID))
            }
            hasNewMetadata.store(false, ordering: .relaxed)
            lock.writing { rows.apply(changes) }
            writtenRows += changes.count
            try compactIfNeeded()
            return SaveOutcome()
        }
    }

    func openFile() throws -> LogFile {
        if let file { return file }
        throw LogStoreError.make(
            NSPersistentStoreOperationError, "The store at \(url?.path ?? "?") cannot be written.",
            reason: "It was removed from its coordinator.",
            next: "Add it again.")
    }

    private func writeMetadata(_ write: @escaping (UnsafeRawBufferPointer) throws -> Void) throws {
        guard hasNewMetadata.load(ordering: .relaxed) else { return }
        try LogWriter(coder, write).write(metadata)
    }
}

extension LogBackedStore: BatchStore {
    /// Executes a batch request on the rows, and writes the changes.
    func executeBatch(_ request: any BatchRequest, for caller: StoreCaller) throws -> BatchOutcome {
        // The program's handlers are called before any lock is taken.
        let batch = try PreparedBatch(request)
        return try writing.withLock {
            let file = try openFile()
            let outcome = try lock.writing {
                try rows.execute(batch, for: caller) { changed, deleted in
                    try file.append { try LogWriter(coder, $0).write(changed, deleted: deleted) }
                    writtenRows += changed.count + deleted.count
                }
            }
            try compactIfNeeded()
            return outcome
        }
    }
}
