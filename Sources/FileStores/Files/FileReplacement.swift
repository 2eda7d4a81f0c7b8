internal import Foundation
internal import ObjectGraph
internal import Platform

/// Replaces files of a folder atomically: if the process ends on the way, either all files are replaced or none.
///
/// Each new file is written beside the old one, under a hidden name, and synced. A single file is then renamed. For several files, a journal with the
/// names is written, synced and renamed to its final name, which commits the save. The files are then renamed, and the journal is removed. Recovery
/// finishes the renaming if it finds a journal, and removes new files without a journal. A new file beside the target of a symbolic link in the folder
/// is overwritten by the next save.
struct FileReplacement {
    /// The folder of all files.
    let folder: String
    /// The prefix of the hidden names, from the name of the store, so that stores in one folder do not collide.
    let store: String

    /// A new file.
    struct File {
        let name: String
        let text: TextBytes
        /// The permissions.
        let mode: UInt32
        /// The state of the replaced file, which must be unchanged; nil if it is not checked.
        let expected: ExpectedFile?

        init(name: String, text: TextBytes, mode: UInt32, expected: ExpectedFile? = nil) {
            (self.name, self.text, self.mode, self.expected) = (name, text, mode, expected)
        }
        init(name: String, bytes: [UInt8], mode: UInt32) { self.init(name: name, text: TextBytes(bytes), mode: mode) }
    }

    /// The expected state of a file that is replaced.
    enum ExpectedFile {
        case missing
        case state(FileStamp)

        init(_ stamp: FileStamp?) { self = stamp.map { .state($0) } ?? .missing }

        func isState(of path: String) -> Bool {
            switch self {
            case .missing: FileStamp(path) == nil
            case .state(let stamp): FileStamp(path) == stamp
            }
        }
    }

    /// The error if others have written to a file that should have been replaced. Nothing has changed.
    struct OthersHaveWritten: Error {}

    private var journal: String { ".\(store).journal" }
    /// The path of the journal. It is no file of the store's user: a symbolic link in its place is replaced.
    private var journalPath: String { folder + "/" + journal }
    private static let suffix = ".new"
    /// Returns the path of a file in the folder. For a symbolic link, which stays, it is the path of the target.
    private func path(_ name: String) -> String {
        let path = folder + "/" + name
        return FileCalls.isLink(path) ? URL(fileURLWithPath: path).resolvingSymlinksInPath().path : path
    }
    /// Returns the path of the new file until it is renamed: in the folder of the file that it replaces.
    private func hidden(_ name: String) -> String { Self.folder(of: path(name)) + "/.\(store).\(name)\(Self.suffix)" }
    private static func folder(of path: String) -> String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "." }

    /// Syncs the names of files to the disk.
    private func syncFolders(of names: [String]) throws {
        for folder in Set(names.map { Self.folder(of: path($0)) }).union([folder]).sorted() { try FileCalls.synchronize(folder) }
    }

    /// Replaces files. The caller has the lock of the folder.
    ///
    /// - Throws: The reason for a failure. Nothing has changed then.
    func replace(_ files: [File]) throws {
        if files.isEmpty { return }
        var (isDecided, hasReplaced) = (false, false)
        do {
            for file in files { try StoreFiles.writeNew(hidden(file.name), file.text, mode: file.mode, replacing: path(file.name)) }
            // As late as possible, because writing and syncing take time.
            for file in files { if let expected = file.expected, !expected.isState(of: path(file.name)) { throw OthersHaveWritten() } }
            if files.count > 1 {
                let list = try JournalText.text(
                    files.map { file in
                        JournalText.Entry(
                            name: file.name, replaced: FileStamp(path(file.name))?.text ?? JournalText.missing, size: file.text.count)
                    })
                try StoreFiles.writeNew(journalPath + Self.suffix, TextBytes(list), mode: 0o600)
                try FileCalls.rename(journalPath + Self.suffix, to: journalPath)
                isDecided = true
                try FileCalls.synchronize(folder)
            }
            for file in files {
                try FileCalls.rename(hidden(file.name), to: path(file.name))
                hasReplaced = true
            }
            try syncFolders(of: files.map(\.name))
            if files.count > 1 {
                try? FileCalls.remove(journalPath)
                try FileCalls.synchronize(folder)
            }
        } catch {
            if isDecided {
                // The next recovery would commit it. It is rolled back here, unless a file was renamed already.
                if files.allSatisfy({ FileStamp(hidden($0.name)) != nil }) { try? FileCalls.remove(journalPath) }
            }
            if !isBetweenStates { for file in files { try? FileCalls.remove(hidden(file.name)) } }
            throw StoreFiles.saveFailure(error, after: isBetweenStates ? .decided : hasReplaced ? .written : .unchanged)
        }
    }

    /// Finishes the work of an ended process: renames the files of a journal, and removes new files without one. The caller has the lock.
    func recover() throws {
        if isBetweenStates {
            let (memory, count, _) = try StoreFiles.read(journalPath, progress: nil)
            defer { memory.deallocate() }
            let entries = JournalText.entries(UnsafeRawBufferPointer(start: memory, count: count))
            let names = entries.map(\.name)
            // Nothing is renamed before all of it can be.
            for entry in entries where FileStamp(hidden(entry.name)) != nil { try checkUnedited(entry) }
            for name in names where FileStamp(hidden(name)) != nil { try FileCalls.rename(hidden(name), to: path(name)) }
            try syncFolders(of: names)
            try? FileCalls.remove(journalPath)
            try FileCalls.synchronize(folder)
        }
        for name in FileCalls.names(in: folder) where name.hasPrefix(".\(store).") && name.hasSuffix(Self.suffix) {
            try? FileCalls.remove(folder + "/" + name)
        }
    }

    /// - Throws: Code 134080 if the file was changed after the save, or if its new content is incomplete.
    private func checkUnedited(_ entry: JournalText.Entry) throws {
        let (new, old) = (hidden(entry.name), path(entry.name))
        func failure(_ reason: String, _ next: String) -> NSError {
            CoreDataError.make(
                NSPersistentStoreOpenError, "The files at \(folder) are between two states.",
                reason: "A program ended while it saved them. \(reason)", next: next, info: [NSFilePathErrorKey: old])
        }
        if let size = entry.size, FileStamp(new)?.size != size {
            throw failure(
                "The new content of \(old), at \(new), is incomplete.", "Remove \(new) to keep the file as it is, and open the store again."
            )
        }
        if let replaced = entry.replaced, FileStamp(old)?.text ?? JournalText.missing != replaced {
            throw failure(
                "\(old) was edited since: the save would replace it by \(new).",
                "Merge the two by hand, remove \(new), and open the store again.")
        }
    }

    /// Whether a save was decided and not finished: the files are between two states.
    var isBetweenStates: Bool { FileStamp(journalPath) != nil }

    /// Whether ``recover()`` has work to do.
    var needsRecovery: Bool {
        FileCalls.names(in: folder).contains { $0 == journal || $0.hasPrefix(".\(store).") && $0.hasSuffix(Self.suffix) }
    }
}

/// The list of the files in a journal: one a line, with what it replaces and the size of its new content. The names of files come from layouts and contain no
/// line breaks. Journals of earlier versions have the names alone.
private enum JournalText {
    struct Entry {
        let name: String
        /// The state of the file when it was to be replaced, as text; nil if the journal does not tell.
        let replaced: String?
        let size: Int?
    }

    /// The state of a file that is not there.
    static let missing = "none"

    static func text(_ entries: [Entry]) throws -> [UInt8] {
        if let wrong = entries.first(where: { $0.name.contains("\n") || $0.name.contains("/") })?.name {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "“\(wrong)” cannot be the name of a file of a store.", next: "Change it in the layout.")
        }
        return Array(entries.map { "\($0.name)/\($0.replaced ?? "")/\($0.size ?? 0)" }.joined(separator: "\n").utf8)
    }

    static func entries(_ bytes: UnsafeRawBufferPointer) -> [Entry] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { line in
            let parts = line.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 3 else { return Entry(name: String(parts[0]), replaced: nil, size: nil) }
            return Entry(name: String(parts[0]), replaced: String(parts[1]), size: Int(parts[2]))
        }
    }
}
