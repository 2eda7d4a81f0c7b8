internal import Foundation
internal import ObjectGraph
internal import Platform
internal import StoreCommands

/// What tells whether the files of a store were written to: the stamps of all of them.
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
    /// The identity of the file or folder at the place itself: another one may have taken it.
    let number: UInt64

    /// A number for all of it.
    var hash: Int { hashValue }

    /// The stamp of what has no files.
    init() { (files, number) = ([], 0) }

    init(_ url: URL, _ kind: StoreKind) {
        var paths = kind == .sqlite ? ["", "-wal", "-journal"].map { url.path + $0 } : [url.path]
        if kind == .csv || kind == .json, let names = try? FileManager.default.contentsOfDirectory(atPath: url.path) {
            paths += names.sorted().map { url.appendingPathComponent($0).path }
        }
        // A file that is not there has no stamp, and gets one once it is.
        files = paths.compactMap { path in
            guard let stamp = FileStamp(path) else { return nil }
            return File(
                path: path, device: stamp.device, inode: stamp.inode, size: stamp.size, seconds: stamp.seconds,
                nanoseconds: stamp.nanoseconds)
        }
        number = files.first?.inode ?? 0
    }
}
