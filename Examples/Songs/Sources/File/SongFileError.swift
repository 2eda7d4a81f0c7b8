public import Foundation

/// The error of reading or writing a file of songs: the file, the position, and what to do.
public struct SongFileError: LocalizedError, CustomNSError, Sendable {
    /// The kinds of failure.
    public enum Kind: Int, Sendable {
        /// There is no file at the URL, or it cannot be opened.
        case unreachable = 1
        /// The file must not be written.
        case readOnly = 2
        /// The file could not be written.
        case unwritable = 3
        /// The file is not CSV, or not a CSV of songs.
        case malformed = 4
        /// Another program has written the file meanwhile.
        case changedOutside = 5
        /// The objects cannot be represented in the file.
        case unstorable = 6
        /// The fetch requires more than rows.
        case unanswerable = 7
    }

    /// The kind of failure.
    public let kind: Kind
    /// The file; nil for a store without one.
    public let url: URL?
    /// The line in the file, from 1.
    public let line: Int?
    /// The character in the line, from 1.
    public let column: Int?
    /// The failure, in a sentence.
    public let reason: String
    /// The recommended action, in a sentence.
    public let advice: String
    /// The underlying error.
    public let cause: (any Error)?

    init(
        _ kind: Kind, _ url: URL?, at position: CSVPosition? = nil, _ reason: String, advice: String, cause: (any Error)? = nil
    ) {
        self.kind = kind
        self.url = url
        line = position?.line
        column = position?.column
        self.reason = reason
        self.advice = advice
        self.cause = cause
    }

    /// The file, the position, the reason and the advice.
    public var errorDescription: String? {
        let place = [url?.path ?? "No file", line.map { "line \($0)" }, column.map { "column \($0)" }].compactMap { $0 }
        return "\(place.joined(separator: ", ")): \(reason) \(advice)"
    }

    /// The failure.
    public var failureReason: String? { reason }

    /// The recommended action.
    public var recoverySuggestion: String? { advice }

    /// The domain of these errors.
    public static var errorDomain: String { "SongFileErrorDomain" }

    /// The number of the kind.
    public var errorCode: Int { kind.rawValue }

    /// The texts, the file and the cause.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: errorDescription ?? reason, NSLocalizedFailureReasonErrorKey: reason,
            NSLocalizedRecoverySuggestionErrorKey: advice,
        ]
        info[NSURLErrorKey] = url
        info[NSUnderlyingErrorKey] = cause.map { $0 as NSError }
        return info
    }
}
