package import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A lock that one process at a time has: that of a folder, or of a file beside what it guards.
///
/// The system gives it back when the process ends, however that happens.
// Used by one thread at a time.
package final class FileLock {
    private let descriptor: Int32
    private let path: String

    /// What is locked.
    package enum Place {
        /// A folder itself, so that nothing is left in it.
        case folder(String)
        /// A file that is made for the lock, and stays.
        case file(String)
        /// A file that is made for the lock, and goes with it.
        case temporaryFile(String)

        var path: String {
            switch self {
            case .folder(let path), .file(let path), .temporaryFile(let path): path
            }
        }
    }

    /// Takes a lock.
    ///
    /// - Parameters:
    ///   - place: What is locked.
    ///   - timeout: For how many seconds to wait for another process that has it.
    ///   - isNeeded: Whether a disk without locks is an error; if not, every process gets the lock there.
    /// - Returns: Nil where another process still has the lock after that time.
    /// - Throws: The error of what cannot be opened, made or locked.
    package init?(_ place: Place, timeout: TimeInterval, isNeeded: Bool = true) throws {
        path = place.path
        let end = Date().addingTimeInterval(timeout)
        while true {
            let opened =
                switch place {
                case .folder(let path): open(path, O_RDONLY | O_CLOEXEC)
                case .file(let path), .temporaryFile(let path): open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
                }
            guard opened >= 0 else { throw FileFailure.error(errno, "locked", path, isWriting: true) }
            let isTaken: Bool
            do { isTaken = try Self.take(opened, path, isNeeded) } catch {
                close(opened)
                throw error
            }
            if isTaken {
                // The process that had it may have removed the file meanwhile: the lock of a file without a name keeps nobody out.
                if case .temporaryFile = place, !Self.isFile(opened, at: path) {
                    close(opened)
                    continue
                }
                descriptor = opened
                return
            }
            close(opened)
            if Date() >= end { return nil }
            usleep(5000)
        }
    }

    deinit { close(descriptor) }

    /// Removes the file of the lock, and gives the lock back with its last reference.
    package func removeFile() { unlink(path) }

    /// Returns whether the lock is this process's now.
    private static func take(_ descriptor: Int32, _ path: String, _ isNeeded: Bool) throws -> Bool {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: return false
            // A disk without locks.
            case ENOTSUP, ENOLCK, EINVAL,
                ENOSYS where !isNeeded:
                return true
            case let number: throw FileFailure.error(number, "locked", path, isWriting: true)
            }
        }
        return true
    }

    private static func isFile(_ descriptor: Int32, at path: String) -> Bool {
        var opened = stat()
        var named = stat()
        guard fstat(descriptor, &opened) == 0, stat(path, &named) == 0 else { return false }
        return opened.st_ino == named.st_ino && opened.st_dev == named.st_dev
    }
}
