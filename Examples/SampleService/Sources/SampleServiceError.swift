public import Foundation

/// The errors of the sample service itself. The failures it was told to answer with are answers, not errors.
public enum SampleServiceError: Error, Equatable, LocalizedError {
    /// The service cannot listen on this port of 127.0.0.1, for this reason.
    case cannotListen(port: UInt16, reason: String)

    /// The palette to change or remove does not exist.
    case unknownPalette(id: Int)

    /// The error as a sentence for a person.
    public var errorDescription: String? {
        switch self {
        case .cannotListen(let port, let reason): "The sample service cannot listen on port \(port) of 127.0.0.1: \(reason)"
        case .unknownPalette(let id): "The sample service has no palette with the identifier \(id)."
        }
    }
}
