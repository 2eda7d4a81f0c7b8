internal import Foundation
internal import ObjectGraph
internal import Platform
internal import PropertyLists

/// The place of a store's files: a folder with a file for each entity, or one file.
struct FilePlace {
    /// The folder with the files.
    let folder: String
    /// The name of the only file; nil for a store in a folder.
    let file: String?
    private let fileExtension: String

    /// Nil for a URL that is not a file URL.
    ///
    /// A URL is that of a folder if there is one, or if its path ends with a slash or has no extension.
    init?(_ url: URL?, _ fileExtension: String) {
        guard let given = url, given.isFileURL, !given.path.isEmpty else { return nil }
        let isFolder = given.hasDirectoryPath
        // A symbolic link stays, and its target is replaced.
        let resolved = given.standardizedFileURL.resolvingSymlinksInPath()
        let path = resolved.path
        self.fileExtension = fileExtension
        if FileStamp(path)?.isDirectory ?? (isFolder || resolved.pathExtension.isEmpty) {
            folder = path
            file = nil
        } else {
            folder = resolved.deletingLastPathComponent().path
            file = resolved.lastPathComponent
        }
    }

    /// Returns the name of a file from its name in a layout, with or without its extension.
    func fileName(_ name: String) -> String {
        if let file { return file }
        return name.contains(".") ? name : "\(name).\(fileExtension)"
    }

    func path(of name: String) -> String { folder + "/" + fileName(name) }

    var replacement: FileReplacement { FileReplacement(folder: folder, store: file ?? "store") }

    // MARK: Metadata

    /// The name of the file with the metadata, which is hidden: the files that people share contain nothing foreign.
    var metadataName: String { ".\(file ?? "store").coredata" }

    private static let filesKey = "OpenCoreDataFiles"

    /// Reads the metadata; nil if no program has saved to the store yet.
    func metadata(ofType type: String) throws -> [String: Any]? {
        let path = folder + "/" + metadataName
        guard FileStamp(path) != nil else { return nil }
        let list = try? PropertyListValues.dictionary(RegularFile.data(URL(fileURLWithPath: path)))
        guard var metadata = list, metadata[NSStoreUUIDKey] is String else {
            throw CoreDataError.make(
                CocoaError.Code.fileReadCorruptFile.rawValue, "The metadata at \(path) cannot be read.",
                reason: "They are not a property list with a UUID.",
                next: "Restore the file, or remove it: the store then gets a UUID of its place.",
                info: [NSFilePathErrorKey: path])
        }
        metadata[NSStoreTypeKey] = metadata[NSStoreTypeKey] ?? type
        return metadata
    }

    func metadataFile(_ metadata: [String: Any]) throws -> FileReplacement.File {
        guard PropertyListSerialization.propertyList(metadata, isValidFor: .xml) else {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "The metadata of the store at \(folder) cannot be written.",
                reason: "A property list cannot hold them.", next: "Use texts, numbers, dates, data, arrays and dictionaries only.")
        }
        let data = try PropertyListSerialization.data(fromPropertyList: metadata, format: .xml, options: 0)
        return FileReplacement.File(
            name: metadataName, bytes: Array(data), mode: FileStamp(folder + "/" + metadataName)?.mode ?? 0o644)
    }

    // MARK: All files

    /// The names of existing files; in a folder, those with the extension of the store's files.
    private var names: [String] {
        let all = FileCalls.names(in: folder)
        if let file { return all.filter { $0 == file || $0 == metadataName } }
        return all.filter { $0.hasSuffix(".\(fileExtension)") && !$0.hasPrefix(".") || $0 == metadataName }.sorted()
    }

    /// Copies the files to another place, and replaces existing ones.
    func copy(to other: FilePlace?) throws {
        guard let other else { throw FileFailure.error(EINVAL, "copied", folder, isWriting: true) }
        if FileStamp(other.folder) == nil {
            try FileManager.default.createDirectory(atPath: other.folder, withIntermediateDirectories: true)
        }
        let files = try names.map { name in
            let bytes = try RegularFile.data(URL(fileURLWithPath: folder + "/" + name))
            let newName = name == metadataName ? other.metadataName : name == file ? other.file ?? name : name
            return FileReplacement.File(name: newName, bytes: Array(bytes), mode: FileStamp(folder + "/" + name)?.mode ?? 0o644)
        }
        try other.replacement.replace(files)
    }

    func removeFiles() throws {
        for name in names { try FileCalls.remove(folder + "/" + name) }
        try FileCalls.synchronize(folder)
    }
}
