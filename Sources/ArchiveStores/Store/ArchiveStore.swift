internal import Foundation
@_spi(Stores) package import ObjectGraph
internal import Platform

/// A store that reads its whole file when it is opened, and writes the whole file at each save: the base class of the XML store and the binary store.
///
/// The rows are in memory. A save writes a new file beside the old one, syncs it to the disk, and moves it into place. Changes that others have
/// written to the file since it was read take part in the detection of conflicts, and are not overwritten.
// `requestLock` guards all state; it is not a `LockedBox`, because it is recursive: a predicate may use the requesting context.
package class ArchiveStore: NSPersistentStore, StoreInterface, CopyableStore, ContentsStateProviding, RowAccess, @unchecked Sendable {
    final let requestLock = NSRecursiveLock()
    /// Set when the store is opened, before it is shared.
    final var contents: ArchiveContents!
    final var file: ArchiveFile!
    /// The file that ``loadMetadata()`` has read, until ``open()`` reads its objects.
    /// Whether interrupted saves of others may have left files: until the first save of this store.
    private final var mayHaveRemains = true
    private final var pending: (bytes: [UInt8], stamp: FileStamp)?
    /// The number of saves and reloads.
    private final var changeCount = 0
    /// The compiled model of the coordinator, once it was made; nil for a model without a compiled form.
    final let modelCopy = LockedBox<(isMade: Bool, data: Data?)>((false, nil))

    // MARK: The format

    /// The type of the store.
    // Bounded: both kinds of store override it.
    class var typeName: String { stopProgram("\(self) has no type.") }

    /// Reads the metadata of a file, with the UUID and the type.
    // Bounded: both kinds of store override it.
    class func metadata(in bytes: [UInt8], of file: ArchiveFile) throws -> [String: Any] { stopProgram("\(self) reads no metadata.") }

    /// Writes a file with other metadata, and the same objects.
    class func write(_ metadata: [String: Any], in bytes: [UInt8], of file: ArchiveFile, to output: ArchiveOutput) throws {
        // Bounded: both kinds of store override it.
        stopProgram("\(self) writes no metadata.")
    }

    /// Reads the compiled model that a file keeps; nil if it keeps none.
    // Bounded: both kinds of store override it.
    class func modelContent(in bytes: [UInt8], of file: ArchiveFile) throws -> Data? { stopProgram("\(self) keeps no model.") }

    /// Reads the objects of a file.
    // Bounded: both kinds of store override it.
    func readContents(_ bytes: [UInt8]) throws -> ArchiveContents { stopProgram("\(self) reads no objects.") }

    /// Writes a file with the rows of `new`, which differ from those in the current file by `changes`. Records in `new` the places of the written
    /// objects.
    func write(_ new: inout ArchiveContents, _ changes: ArchiveChanges, to output: ArchiveOutput) throws {
        // Bounded: both kinds of store override it.
        stopProgram("\(self) writes no objects.")
    }

    // MARK: Opening

    package override func loadMetadata() throws {
        guard let url, url.isFileURL, Swift.type(of: self).isSingleStoreURL(url) else {
            throw CoreDataError.make(
                NSPersistentStoreOpenError,
                "A store of the type “\(Self.typeName)” cannot be opened at \(url?.absoluteString ?? "no URL").",
                reason: "Its place must be a file.", next: "Give a file URL.")
        }
        file = ArchiveFile(url)
        pending = try file.read().flatMap { $0.bytes.isEmpty && !isReadOnly ? nil : $0 }
        if let pending {
            metadata = try Self.metadata(in: pending.bytes, of: file)
        } else if isReadOnly {
            throw file.failure(ENOENT, "read", isWriting: false)
        } else {
            metadata = newMetadata()
        }
    }

    package override func open() throws {
        if pending == nil { try create() }
        let read = pending.known("a file without a store has just been made one")
        pending = nil
        try checkVersions()
        contents = try readContents(read.bytes)
        contents.stamp = read.stamp
        // The file may have got its metadata from another program a moment ago.
        metadata = contents.metadata
    }

    /// Creates the file, or reads that of another program that has created it meanwhile.
    private func create() throws {
        try file.withLock(timeout: timeout) {
            file.removeRemains()
            if let found = try file.read(), !found.bytes.isEmpty {
                pending = found
                metadata = try Self.metadata(in: found.bytes, of: file)
                return
            }
            var new = ArchiveContents(rows: StoredRows(for: self), metadata: metadata, lastNumber: 0)
            _ = try file.replace { try write(&new, ArchiveChanges(), to: $0) }
            pending = try file.read()
        }
    }

    /// How many seconds to wait for others that write the file.
    final var timeout: TimeInterval {
        (options?[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? SQLiteStoreDefaults.timeout
    }

    // MARK: Reading

    package final var hasRowsInMemory: Bool { true }
    package final var rowsContainLists: Bool { true }

    package final func answer(_ query: StoreQuery, for caller: StoreCaller) throws -> StoreAnswer {
        try requestLock.withLock { try contents.rows.answer(query) }
    }

    package final func row(for id: NSManagedObjectID, for caller: StoreCaller) throws -> Row? { knownRow(for: id) }

    package final func rows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] {
        requestLock.withLock { contents.rows.rows(with: ids) }
    }

    package final func knownRow(for id: NSManagedObjectID) -> Row? {
        requestLock.lock()
        defer { requestLock.unlock() }
        return contents.rows.row(with: id)
    }

    package final func related(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        requestLock.withLock { contents.rows.related(by: relationship, from: ids) }
    }

    package final func relatedIDs(
        of relationship: NSRelationshipDescription, for id: NSManagedObjectID, for caller: StoreCaller
    ) -> [NSManagedObjectID] { knownRow(for: id)?.relatedIDs(relationship) ?? [] }

    package final func prepareRows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> Bool { false }
    package final func prepareRelated(
        of relationship: NSRelationshipDescription, for ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> Bool { false }

    package final func blockingWrites<Result>(_ body: () throws -> Result) rethrows -> Result { try requestLock.withLock(body) }

    package final var contentsState: ContentsState? {
        requestLock.withLock {
            let name = identifier ?? ""
            let isCurrent = FileStamp(file.path) == contents.stamp
            return ContentsState(
                current: "\(name) \(UInt(bitPattern: ObjectIdentifier(self).hashValue)) \(changeCount)",
                lasting: isCurrent ? contents.stamp?.lastingText.map { "\(name) \($0)" } : nil)
        }
    }

    // MARK: Writing

    package final func permanentIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID] {
        try requestLock.withLock {
            // Others may have given numbers, too.
            try reloadIfChanged()
            return new.mapEntities { entity in
                contents.lastNumber += 1
                return objectID(for: entity, number: contents.lastNumber)
            }
        }
    }

    package final func save(_ changes: StoreChangeSet, for caller: StoreCaller) throws -> SaveOutcome {
        try requestLock.withLock {
            try file.withLock(timeout: timeout) {
                if mayHaveRemains { file.removeRemains() }
                mayHaveRemains = false
                try reloadIfChanged()
                try checkNewNumbers(changes)
                try contents.rows.checkConflicts(changes)
                try write(changes)
            }
            return SaveOutcome()
        }
    }

    private func write(_ changes: StoreChangeSet) throws {
        var new = contents.known("an open store has contents")
        new.metadata = try checkedMetadata()
        if changes.isEmpty, NSDictionary(dictionary: new.metadata).isEqual(to: contents.metadata) { return }
        let written = ArchiveChanges(changes)
        for change in changes.updated + changes.deleted {
            guard !new.rawArchives.isEmpty, let number = change.objectID.number else { continue }
            new.rawArchives = new.rawArchives.filter { $0.number != number || change.row != nil && !change.changed.contains($0.slotIndex) }
        }
        // The rows are shared with `contents`: they are put back if the file cannot be written.
        let touched = (changes.inserted + changes.updated + changes.locked + changes.deleted).map(\.objectID)
        let before = touched.map { contents.rows.row(with: $0) }
        for change in changes.inserted { contents.rows.setLastNumber(change.objectID.number ?? 0, of: change.entity) }
        contents.rows.apply(changes)
        do {
            new.stamp = try file.replace { try write(&new, written, to: $0) }
        } catch {
            for (id, row) in zip(touched, before) {
                if let row { try contents.rows.load(row) } else { contents.rows.remove(id) }
            }
            throw error
        }
        contents = new
        changeCount += 1
    }

    /// Throws if others have given a number of a new object to another one, between the request for IDs and the save.
    private func checkNewNumbers(_ changes: StoreChangeSet) throws {
        let returning = Set(changes.returning)
        for change in changes.inserted where contents.rows.row(with: change.objectID) != nil && !returning.contains(change.objectID) {
            throw CoreDataError.make(
                NSPersistentStoreSaveConflictsError, "The store at \(file.path) cannot be saved.",
                reason: "Another program has saved an object under the ID \(change.objectID) a moment ago.",
                next: "Insert the object into a new context, and save again.",
                info: [NSAffectedObjectsErrorKey: [change.objectID], NSAffectedStoresErrorKey: [self]])
        }
    }

    /// Reads the file again if others have written it. Objects that differ get a new version, so that saves of their former values conflict.
    ///
    /// - Throws: The error of a file that is missing, or that cannot be read; it is not overwritten then.
    private func reloadIfChanged() throws {
        if isReadOnly || FileStamp(file.path) == contents.stamp { return }
        guard let read = try file.read() else {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "The store at \(file.path) cannot be saved.", reason: "Its file has been deleted or moved.",
                next: "Put it back, or add a new store and insert the objects there.", info: [NSAffectedStoresErrorKey: [self]])
        }
        var new: ArchiveContents
        do {
            new = try readContents(read.bytes)
        } catch {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "The store at \(file.path) cannot be saved.",
                reason: "Another program has written its file, which cannot be read now: \(error.localizedDescription)",
                next: "Restore the file; it has not been changed.", cause: error, info: [NSAffectedStoresErrorKey: [self]])
        }
        guard new.metadata[NSStoreUUIDKey] as? String == contents.metadata[NSStoreUUIDKey] as? String else {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "The store at \(file.path) cannot be saved.", reason: "Another store is at its place now.",
                next: "Remove the store from its coordinator, and add the one that is there.", info: [NSAffectedStoresErrorKey: [self]])
        }
        new.stamp = read.stamp
        new.lastNumber = max(new.lastNumber, contents.lastNumber)
        try takeVersions(into: new.rows)
        if NSDictionary(dictionary: metadata).isEqual(to: contents.metadata) { metadata = new.metadata }
        contents = new
        changeCount += 1
    }

    /// Gives rows that were read again the version of the former row, or the next one if the values differ.
    final func takeVersions(into new: StoredRows) throws {
        var columns: [ObjectIdentifier: [ArchiveColumn]] = [:]
        for entity in entities { columns[ObjectIdentifier(entity)] = try ArchiveColumn.columns(of: entity) }
        try new.forEachRow { row in
            guard let old = contents.rows.row(with: row.knownObjectID) else { return }
            let isSame =
                old.knownObjectID.owningEntity === row.knownObjectID.owningEntity
                && columns[ObjectIdentifier(old.knownObjectID.owningEntity), default: []].allSatisfy { $0.isSame(old, row) }
            row.version = isSame ? old.version : old.version + 1
        }
    }
}
