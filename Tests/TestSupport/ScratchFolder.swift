package import Foundation
import Synchronization

/// An empty folder among the temporary ones, which is removed with this object.
///
/// A test that hands on paths only keeps the folder to its end by `defer { folder.remove() }`.
package final class ScratchFolder: Sendable {
    /// Where the folder is.
    package let url: URL

    /// Creates the folder.
    ///
    /// - Parameters:
    ///   - name: What its name begins with.
    ///   - parent: The folder that it is made in.
    package init(_ name: String, in parent: URL = FileManager.default.temporaryDirectory) throws {
        url = parent.appendingPathComponent("\(name)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { remove() }

    /// Creates a folder that is removed when the process ends: for what several tests share.
    package static func untilExit(_ name: String) throws -> ScratchFolder {
        let folder = try ScratchFolder(name)
        let isFirst = shared.withLock { folders in
            folders.append(folder)
            return folders.count == 1
        }
        if isFirst { atexit { ScratchFolder.shared.withLock { for folder in $0 { folder.remove() } } } }
        return folder
    }
    private static let shared = Mutex<[ScratchFolder]>([])

    /// Returns the place of a file, whether it is there or not.
    package func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    /// Removes the folder with all that is in it, where it is still there, also what may not be written.
    package func remove() {
        let manager = FileManager.default
        if (try? manager.removeItem(at: url)) != nil { return }
        try? manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: url.path)
        for name in (try? manager.subpathsOfDirectory(atPath: url.path)) ?? [] {
            let path = url.appendingPathComponent(name).path
            var isFolder: ObjCBool = false
            guard manager.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else { continue }
            try? manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        try? manager.removeItem(at: url)
    }
}
