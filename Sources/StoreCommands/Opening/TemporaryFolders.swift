package import Foundation
internal import Platform
internal import Predicates

/// The folders with copies of stores. They are removed when the command ends, for any reason.
package enum TemporaryFolders {
    private static let folders = LockedBox<Set<URL>>([])

    /// Creates a folder that only this user can read.
    package static func make() throws -> URL {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("coredata-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        folders.withLock { _ = $0.insert(url) }
        return url
    }

    /// Removes a folder.
    package static func remove(_ url: URL) {
        folders.withLock { _ = $0.remove(url) }
        try? FileManager.default.removeItem(at: url)
    }

    /// Removes all folders, before the process ends without unwinding.
    package static func removeAll() {
        for url in folders.withLock({ $0 }) { remove(url) }
    }
}
