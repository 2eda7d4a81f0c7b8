internal import Foundation

/// A file of a store.
struct StoreFiles: Sendable {
    let name: String
    let bytes: Int64
    /// The content of the file.
    let holds: String

    /// Returns the files of a store: the store itself, and the files beside it.
    static func of(_ store: OpenStore) throws -> [StoreFiles] {
        let url = store.url
        let folder = url.deletingLastPathComponent()
        switch store.kind {
        case .sqlite:
            var files = [file(url, "objects")].compactMap { $0 }
            for (ending, holds) in [
                ("-wal", "the latest changes"), ("-shm", "an index of the latest changes"), ("-journal", "an unfinished transaction"),
            ] {
                if store.sideFiles.contains(ending), let file = file(URL(fileURLWithPath: url.path + ending), holds) { files.append(file) }
            }
            let support = folder.appendingPathComponent(".\(url.deletingPathExtension().lastPathComponent)_SUPPORT")
                .appendingPathComponent("_EXTERNAL_DATA")
            if let names = try? FileManager.default.contentsOfDirectory(atPath: support.path) {
                let bytes = names.compactMap { file(support.appendingPathComponent($0), "")?.bytes }.reduce(0, +)
                files.append(
                    StoreFiles(
                        name: "\(support.deletingLastPathComponent().lastPathComponent)/_EXTERNAL_DATA", bytes: bytes,
                        holds: DisplayText.counted(names.count, "large value")))
            }
            return files
        case .csv, .json:
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), isFolder.boolValue else { fallthrough }
            let ending = store.kind.rawValue.lowercased()
            return try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
                .filter { !$0.hasPrefix(".") && ($0 as NSString).pathExtension.lowercased() == ending }
                .compactMap { file(url.appendingPathComponent($0), "objects") }
        case .service, .postgreSQL: return []
        case .xml, .binary: return [file(url, "objects")].compactMap { $0 }
        }
    }

    private static func file(_ url: URL, _ holds: String) -> StoreFiles? {
        guard let size = try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber else { return nil }
        return StoreFiles(name: url.lastPathComponent, bytes: size.int64Value, holds: holds)
    }
}
