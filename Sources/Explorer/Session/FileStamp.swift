internal import Foundation
internal import StoreCommands

/// What tells whether the files of a store were written to: their identities, sizes and dates.
struct FileStamp: Hashable, Sendable {
    private struct File: Hashable, Sendable {
        let name: String
        let number: UInt64
        let size: UInt64
        let date: Double
    }

    private let files: [File]
    /// The identity of the file or folder at the place itself: another one may have taken it.
    let number: UInt64

    /// A number for all of it.
    var hash: Int { hashValue }

    init(_ url: URL, _ kind: StoreKind) {
        var paths = kind == .sqlite ? ["", "-wal", "-journal"].map { url.path + $0 } : [url.path]
        if kind == .csv || kind == .json, let names = try? FileManager.default.contentsOfDirectory(atPath: url.path) {
            paths += names.sorted().map { url.appendingPathComponent($0).path }
        }
        // A file that is not there has no stamp, and gets one once it is.
        files = paths.compactMap { path in
            guard let found = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
            return File(
                name: path, number: (found[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0,
                size: (found[.size] as? NSNumber)?.uint64Value ?? 0,
                date: (found[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate ?? 0)
        }
        number = files.first?.number ?? 0
    }
}
