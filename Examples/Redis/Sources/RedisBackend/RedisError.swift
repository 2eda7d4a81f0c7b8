public import Foundation

/// The errors of ``RedisBackend``.
public enum RedisError: Error, Equatable, LocalizedError {
    /// The server cannot be reached, or the connection broke.
    case connection(String)
    /// The server has refused a command.
    case refused(command: String, reason: String)
    /// The server has answered something that this backend does not expect.
    case unexpected(command: String)
    /// A value of an indexed attribute has no exact place in a sorted set.
    case unsortable(attribute: String, value: String)
    /// A value cannot be kept as text.
    case unkept(attribute: String, value: String)
    /// Others changed the same objects each time the save was tried.
    case contended

    /// The error as a sentence for a person.
    public var errorDescription: String? {
        switch self {
        case .connection(let reason): "Redis cannot be reached: \(reason)"
        case .refused(let command, let reason): "Redis has refused \(command): \(reason)"
        case .unexpected(let command): "Redis has answered \(command) in another form than expected."
        case .unsortable(let attribute, let value):
            "“\(attribute)” is indexed, and \(value) has no exact place in a sorted set. Index another attribute, or use numbers up to 2^53."
        case .unkept(let attribute, let value): "“\(attribute)” cannot be kept in Redis: \(value)."
        case .contended: "The objects were changed by others during each of several attempts to save. Save again."
        }
    }
}
