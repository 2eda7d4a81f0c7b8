internal import CoreData
internal import Foundation

/// Creates the errors of the store: what failed, why, and what to do next.
enum LogStoreError {
    static func make(_ code: Int, _ what: String, reason: String, next: String, path: String? = nil) -> NSError {
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: "\(what) \(reason) \(next)", NSLocalizedFailureReasonErrorKey: reason,
            NSLocalizedRecoverySuggestionErrorKey: next,
        ]
        if let path { info[NSFilePathErrorKey] = path }
        return NSError(domain: NSCocoaErrorDomain, code: code, userInfo: info)
    }

    /// Returns the error of a system call.
    static func system(_ path: String, _ what: String, _ code: Int32 = errno) -> NSError {
        let cocoa: CocoaError.Code =
            switch code {
            case ENOENT: .fileNoSuchFile
            case EACCES, EPERM, EROFS: .fileWriteNoPermission
            case ENOSPC, EDQUOT: .fileWriteOutOfSpace
            default: .fileWriteUnknown
            }
        return make(
            cocoa.rawValue, "The store at \(path) cannot be \(what).", reason: "\(String(cString: strerror(code))).",
            next: "Check the folder and its permissions, and the room on the disk.", path: path)
    }

    static func damaged(_ path: String, at place: Int, _ reason: String) -> NSError {
        make(
            CocoaError.Code.fileReadCorruptFile.rawValue, "The store at \(path) is damaged at byte \(place).", reason: reason,
            next: "Restore the file from a copy.", path: path)
    }

    static func inUse(_ path: String) -> NSError {
        make(
            NSPersistentStoreOpenError, "The store at \(path) is in use.", reason: "Another coordinator or program has it open.",
            next: "Use the store that is open, or close it there.", path: path)
    }
}
