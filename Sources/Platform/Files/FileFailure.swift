package import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Makes the error of a call of the system about a file: Foundation's code for the number of the error, with the path and what to do.
package enum FileFailure {
    /// Returns an error in Cocoa's domain, which has the system's own as its cause.
    ///
    /// - Parameters:
    ///   - number: The number of the error, as in `errno`.
    ///   - what: The participle of what cannot be done to the file: “read”, “written”.
    ///   - isWriting: Whether the file was to change.
    package static func error(_ number: Int32, _ what: String, _ path: String, isWriting: Bool) -> NSError {
        let reason = reason(number)
        let next = next(number)
        return NSError(
            domain: NSCocoaErrorDomain, code: code(number, isWriting: isWriting).rawValue,
            userInfo: [
                NSLocalizedDescriptionKey: "The file at \(path) cannot be \(what). \(reason) \(next)",
                NSLocalizedFailureReasonErrorKey: reason,
                NSLocalizedRecoverySuggestionErrorKey: next, NSFilePathErrorKey: path,
                NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: Int(number)),
            ])
    }

    /// Returns the error of what is a pipe, a device or a folder, where a file should be.
    package static func noFile(_ path: String, isFolder: Bool) -> NSError {
        let reason = "It is a \(isFolder ? "folder" : "pipe or a device"), and no file."
        let next = isFolder ? "Give the path of a file in it." : "Copy what it gives to a file."
        return NSError(
            domain: NSCocoaErrorDomain, code: CocoaError.Code.fileReadUnknown.rawValue,
            userInfo: [
                NSLocalizedDescriptionKey: "The file at \(path) cannot be read. \(reason) \(next)",
                NSLocalizedFailureReasonErrorKey: reason,
                NSLocalizedRecoverySuggestionErrorKey: next, NSFilePathErrorKey: path,
                NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: Int(EISDIR)),
            ])
    }

    /// The number of the system's error that an error has as its cause; nil for another error.
    package static func number(of error: any Error) -> Int32? {
        let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
        return cause.flatMap { $0.domain == NSPOSIXErrorDomain ? Int32(exactly: $0.code) : nil }
    }

    /// The system's words for the number of an error, as a sentence.
    package static func reason(_ number: Int32) -> String { String(cString: strerror(number)) + "." }

    private static func code(_ number: Int32, isWriting: Bool) -> CocoaError.Code {
        switch number {
        case ENOENT: isWriting ? .fileNoSuchFile : .fileReadNoSuchFile
        case EACCES, EPERM: isWriting ? .fileWriteNoPermission : .fileReadNoPermission
        case EEXIST: .fileWriteFileExists
        case ENOSPC, EDQUOT: .fileWriteOutOfSpace
        case EROFS: .fileWriteVolumeReadOnly
        default: isWriting ? .fileWriteUnknown : .fileReadUnknown
        }
    }

    private static func next(_ number: Int32) -> String {
        switch number {
        case ENOENT: "Check the path; the folder of a new file must exist."
        case EACCES, EPERM, EROFS: "Check the rights of the file and its folder."
        case ENOSPC, EDQUOT: "Make room on the disk."
        default: "Check the disk and the rights of the file."
        }
    }
}
