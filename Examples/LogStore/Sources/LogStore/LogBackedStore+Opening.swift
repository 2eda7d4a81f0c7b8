@_spi(Stores) internal import CoreData
internal import Foundation
internal import Logging

extension LogBackedStore {
    /// Opens the file and loads its contents, or creates it, before the store is shared.
    func open(_ url: URL) throws {
        let file = try LogFile(url.path, isReadOnly: isReadOnly, isSynchronized: isOn(LogStore.synchronizesOption, default: true))
        // An incomplete file of an interrupted compaction is removed.
        if !isReadOnly { unlink(LogFile.temporaryPath(url.path)) }
        if file.isEmpty, !isReadOnly {
            let new: [String: Any] = [NSStoreUUIDKey: UUID().uuidString, NSStoreTypeKey: LogStore.storeType]
            try file.append { write in
                let writer = LogWriter(coder, write)
                try writer.writeBeginning()
                try writer.write(new)
            }
            metadata = new
        } else {
            try load(file)
        }
        self.file = file
    }

    private func load(_ file: LogFile) throws {
        var save: [Row] = []
        let (end, tear) = try file.withContents { contents in
            try LogFormat.read(contents, path: file.path) { kind, bytes in
                switch kind {
                case .metadata: metadata = try LogMetadata(&bytes, path: file.path).checked(coder).list
                case .numbers: try loadNumbers(&bytes)
                case .part, .end: try loadSave(&save, isWhole: kind == .end, &bytes)
                }
            }
        }
        guard metadata != nil else { throw LogStoreError.damaged(file.path, at: 8, "It has no metadata.") }
        guard let tear else { return }
        Self.log.warning(
            """
            The store at \(file.path) ends with a save that was not finished: \(tear) \(file.end - end) bytes are dropped; everything that was \
            saved before is there.
            """)
        if !isReadOnly { try file.truncate(to: end) }
    }

    private func loadNumbers(_ bytes: inout ByteReader) throws {
        for _ in 0..<(try bytes.count()) {
            let id = try coder.decodeID(from: &bytes)
            if let number = id.number { rows.setLastNumber(number, of: id.entity) }
        }
    }

    /// Loads a part of a save. Its rows are added once the whole save was read.
    private func loadSave(_ save: inout [Row], isWhole: Bool, _ bytes: inout ByteReader) throws {
        for _ in 0..<(try bytes.fixed()) { save.append(try coder.decodeRow(from: &bytes)) }
        let deleted = try (0..<(try bytes.count())).map { _ in try coder.decodeID(from: &bytes) }
        guard isWhole else { return }
        for row in save { try rows.load(row) }
        for id in deleted { rows.remove(id) }
        writtenRows += save.count + deleted.count
        save.removeAll(keepingCapacity: true)
    }

    /// Rewrites the file without replaced rows if that is worth it. Call it under `writing`.
    func compactIfNeeded() throws {
        let least = options?[LogStore.leastRowsToCompactOption] as? Int ?? 10_000
        guard writtenRows >= least, writtenRows > 2 * rows.count, let file else { return }
        do { try compact(file) } catch {
            // The save that led here is complete; the file is unchanged.
            Self.log.error("The store at \(file.path) could not be rewritten: \(error)")
        }
    }

    private func compact(_ old: LogFile) throws {
        let (path, metadata) = (old.path, metadata ?? [:])
        // No thread writes, and readers are not affected.
        let (all, numbers) = try lock.reading {
            var all: [Row] = []
            try rows.forEachRow { all.append($0) }
            let roots = persistentStoreCoordinator?.managedObjectModel.entities.filter { $0.superentity == nil } ?? []
            return (all, roots.map { objectID(for: $0, number: rows.lastNumber(of: $0)) })
        }
        file = try LogFile.make(path, isSynchronized: isOn(LogStore.synchronizesOption, default: true)) { write in
            let writer = LogWriter(coder, write)
            try writer.writeBeginning()
            try writer.write(metadata)
            try writer.write(numbers: numbers)
            try writer.write(all, deleted: [])
        }
        Self.log.info("The store at \(path) was rewritten: \(all.count) rows instead of \(writtenRows).")
        writtenRows = all.count
    }
}

/// The metadata in a file.
struct LogMetadata {
    let fingerprint: UInt64
    let list: [String: Any]
    private let path: String

    init(_ bytes: inout ByteReader, path: String) throws {
        self.path = path
        fingerprint = try bytes.fixed()
        let found = try PropertyListSerialization.propertyList(from: Data(try bytes.countedBytes()), format: nil)
        guard let list = found as? [String: Any] else { throw LogStoreError.damaged(path, at: 8, "Its metadata are not a dictionary.") }
        self.list = list
    }

    /// Returns the metadata, if the file was written with the model of a coder.
    func checked(_ coder: RowCoder) throws -> LogMetadata {
        if fingerprint == coder.fingerprint { return self }
        throw LogStoreError.make(
            NSPersistentStoreIncompatibleVersionHashError, "The store at \(path) cannot be opened.",
            reason: "It was written with another version of the model.",
            next: "Open it with that version, and copy its objects into a new store.", path: path)
    }

    /// Reads the metadata in a store's file, which need not be open.
    static func read(_ file: LogFile) throws -> LogMetadata? {
        try file.withContents { contents in
            var found: LogMetadata?
            _ = try LogFormat.read(contents, path: file.path) { kind, bytes in
                if kind == .metadata { found = try LogMetadata(&bytes, path: file.path) }
            }
            return found
        }
    }
}
