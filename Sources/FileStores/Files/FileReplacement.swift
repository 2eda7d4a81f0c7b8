internal import Foundation
internal import ObjectGraph
internal import Platform

/// Replaces files of a folder together: all of them or, if the process ends anywhere on the way, none.
///
/// Each new file is written beside the old one, under a hidden name, and synced. One file is then renamed. For several, a journal with the
/// names is written, synced and renamed to its name: from there on the save has happened. The files are renamed, and the journal removed. Who
/// finds a journal renames what is left; who finds new files without a journal removes them. One beside a file that a symbolic link of the folder leads to
/// is overwritten by the next save.
struct FileReplacement {
    /// The folder, which all files are in.
    let folder: String
    /// What the hidden names begin with: that of the store, so that stores in one folder do not meet.
    let store: String

    /// A new file.
    struct File {
        let name: String
        let text: TextBytes
        /// The permissions.
        let mode: UInt32
        /// The state of the file that is replaced, which must still be so; nil for one that is not checked.
        let expected: ExpectedFile?

        init(name: String, text: TextBytes, mode: UInt32, expected: ExpectedFile? = nil) {
            (self.name, self.text, self.mode, self.expected) = (name, text, mode, expected)
        }
        init(name: String, bytes: [UInt8], mode: UInt32) { self.init(name: name, text: TextBytes(bytes), mode: mode) }
    }

    /// What is known of a file that is replaced.
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

    /// Others have written a file that was to be replaced. Nothing has changed.
    struct OthersHaveWritten: Error {}

    private var journal: String { ".\(store).journal" }
    private static let suffix = ".new"
    /// The file with a name in the folder: where that is a symbolic link, which stays, the file that it leads to.
    private func path(_ name: String) -> String {
        let path = folder + "/" + name
        return FileCalls.isLink(path) ? URL(fileURLWithPath: path).resolvingSymlinksInPath().path : path
    }
    /// The new file, until it gets its name: in the folder of the file that it replaces.
    private func hidden(_ name: String) -> String { Self.folder(of: path(name)) + "/.\(store).\(name)\(Self.suffix)" }
    private static func folder(of path: String) -> String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "." }

    /// Sees to it that the names of files are on the disk.
    private func syncFolders(of names: [String]) throws {
        for folder in Set(names.map { Self.folder(of: path($0)) }).union([folder]).sorted() { try FileCalls.synchronize(folder) }
    }

    /// Replaces files. The caller has the lock of the folder.
    ///
    /// - Throws: The reason of a failure; nothing has changed then.
    func replace(_ files: [File]) throws {
        if files.isEmpty { return }
        var isDecided = false
        do {
            for file in files { try StoreFiles.writeNew(hidden(file.name), file.text, mode: file.mode) }
            // As late as it can be: writing and syncing have taken their time.
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
                // The next to open the store would finish it. Here it is taken back, as far as nothing was renamed.
                if files.allSatisfy({ FileStamp(hidden($0.name)) != nil }) { try? FileCalls.remove(path(journal)) }
            }
            if FileStamp(path(journal)) == nil { for file in files { try? FileCalls.remove(hidden(file.name)) } }
            throw StoreFiles.saveFailure(error)
        }
    }

    /// Finishes what an ended process has begun: renames the files of a journal, and removes those without. The caller has the lock.
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

    /// Whether ``recover()`` has something to do.
    var needsRecovery: Bool {
        FileCalls.names(in: folder).contains { $0 == journal || $0.hasPrefix(".\(store).") && $0.hasSuffix(Self.suffix) }
    }
}

/// The list of names in a journal: one a line. Names of files have no line breaks here, for they come from layouts.
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
