/// The error of an expectation of ``ScriptedBackend`` that is not met.
public struct UnexpectedRequests: Error, CustomStringConvertible {
    /// What was expected, and the requests that were made.
    public let description: String
}
