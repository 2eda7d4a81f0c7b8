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
        var isDecided = false
        do {
            for file in files { try StoreFiles.writeNew(hidden(file.name), file.text, mode: file.mode) }
            // As late as possible, because writing and syncing take time.
            for file in files { if let expected = file.expected, !expected.isState(of: path(file.name)) { throw OthersHaveWritten() } }
            if files.count > 1 {
                let list = try JournalText.text(files.map(\.name))
                try StoreFiles.writeNew(path(journal + Self.suffix), TextBytes(list), mode: 0o600)
                try FileCalls.rename(path(journal + Self.suffix), to: path(journal))
                isDecided = true
                try FileCalls.synchronize(folder)
            }
            for file in files { try FileCalls.rename(hidden(file.name), to: path(file.name)) }
            try syncFolders(of: files.map(\.name))
            if files.count > 1 {
                try? FileCalls.remove(path(journal))
                try FileCalls.synchronize(folder)
            }
        } catch {
            if isDecided {
                // The next recovery would commit it. It is rolled back here, unless a file was renamed already.
                if files.allSatisfy({ FileStamp(hidden($0.name)) != nil }) { try? FileCalls.remove(path(journal)) }
            }
            if FileStamp(path(journal)) == nil { for file in files { try? FileCalls.remove(hidden(file.name)) } }
            throw StoreFiles.saveFailure(error)
        }
    }

    /// Finishes the work of an ended process: renames the files of a journal, and removes new files without one. The caller has the lock.
    func recover() throws {
        if FileStamp(path(journal)) != nil {
            let (memory, count, _) = try StoreFiles.read(path(journal), progress: nil)
            defer { memory.deallocate() }
            let names = JournalText.names(UnsafeRawBufferPointer(start: memory, count: count))
            for name in names where FileStamp(hidden(name)) != nil { try FileCalls.rename(hidden(name), to: path(name)) }
            try syncFolders(of: names)
            try? FileCalls.remove(path(journal))
            try FileCalls.synchronize(folder)
        }
        for name in FileCalls.names(in: folder) where name.hasPrefix(".\(store).") && name.hasSuffix(Self.suffix) {
            try? FileCalls.remove(path(name))
        }
    }

    /// Whether ``recover()`` has work to do.
    var needsRecovery: Bool {
        FileCalls.names(in: folder).contains { $0 == journal || $0.hasPrefix(".\(store).") && $0.hasSuffix(Self.suffix) }
    }
}

/// The list of names in a journal, one on each line. Names of files have no line breaks here, because they come from layouts.
private enum JournalText {
    static func text(_ names: [String]) throws -> [UInt8] {
        if let wrong = names.first(where: { $0.contains("\n") || $0.contains("/") }) {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "“\(wrong)” cannot be the name of a file of a store.", next: "Change it in the layout.")
        }
        return Array(names.joined(separator: "\n").utf8)
    }

    static func names(_ bytes: UnsafeRawBufferPointer) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
