package import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Identifies a state of a file without reading it: by inode, size and modification time.
package struct FileStamp: Equatable, Sendable {
    package let device: UInt64
    package let inode: UInt64
    package let size: Int
    package let seconds: Int
    package let nanoseconds: Int
    /// The time of the last change of the file or its attributes, which no program can set back.
    private let changed: (seconds: Int, nanoseconds: Int)
    /// The kind of file and its permissions, which make no difference.
    package let mode: UInt32

    package init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
        size = Int(status.st_size)
        #if canImport(Darwin)
        (seconds, nanoseconds) = (status.st_mtimespec.tv_sec, status.st_mtimespec.tv_nsec)
        changed = (status.st_ctimespec.tv_sec, status.st_ctimespec.tv_nsec)
        #else
        (seconds, nanoseconds) = (Int(status.st_mtim.tv_sec), Int(status.st_mtim.tv_nsec))
        changed = (Int(status.st_ctim.tv_sec), Int(status.st_ctim.tv_nsec))
        #endif
        mode = UInt32(status.st_mode)
    }

    /// Creates the stamp of the file at a path, following symbolic links; nil if there is no file.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Whether somebody may write to the file.
    package var isWritable: Bool { mode & 0o222 != 0 }

    package var isDirectory: Bool { mode & 0o170000 == 0o040000 }

    /// The stamp as text.
    package var text: String { "\(device) \(inode) \(size) \(seconds) \(nanoseconds) \(changed.seconds) \(changed.nanoseconds)" }

    /// The stamp as text; nil for a file that was written so recently that another write may have the same time.
    package var lastingText: String? {
        let written = Double(seconds) + Double(nanoseconds) / 1e9
        return Date().timeIntervalSince1970 - written > 0.1 ? text : nil
    }

    package static func == (left: FileStamp, right: FileStamp) -> Bool {
        left.inode == right.inode && left.device == right.device && left.size == right.size && left.seconds == right.seconds
            && left.nanoseconds == right.nanoseconds && left.changed == right.changed
    }
}
