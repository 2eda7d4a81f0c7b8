internal import Foundation
internal import ObjectGraph
internal import Platform
internal import StoreCommands

/// A value that changes when the files of a store are written: the stamps of all of them.
struct StoreStamp: Hashable, Sendable {
    private struct File: Hashable, Sendable {
        let path: String
        let device: UInt64
        let inode: UInt64
        let size: Int
        let seconds: Int
        let nanoseconds: Int
    }

    private let files: [File]
    /// The identity of the file or folder at the place, which may have been replaced.
    let number: UInt64

    /// A number that stands for the whole stamp.
    var hash: Int { hashValue }

    /// Creates the stamp of a store without files.
    init() { (files, number) = ([], 0) }

    init(_ url: URL, _ kind: StoreKind) {
        var paths = kind == .sqlite ? ["", "-wal", "-journal"].map { url.path + $0 } : [url.path]
        if kind == .csv || kind == .json, let names = try? FileManager.default.contentsOfDirectory(atPath: url.path) {
            paths += names.sorted().map { url.appendingPathComponent($0).path }
        }
        // A missing file has no stamp, and gets one when it is created.
        files = paths.compactMap { path in
            guard let stamp = FileStamp(path) else { return nil }
            return File(
                path: path, device: stamp.device, inode: stamp.inode, size: stamp.size, seconds: stamp.seconds,
                nanoseconds: stamp.nanoseconds)
        }
        number = files.first?.inode ?? 0
    }
}
