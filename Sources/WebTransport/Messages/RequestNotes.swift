internal import Platform

/// What a client tells the transports below it, and they it, about a request that is on its way.
///
/// It is handed down as a value of the task: a transport of the program's own needs to know nothing of it.
final class RequestNotes: Sendable {
    /// The notes of the request that this task sends.
    @TaskLocal static var current: RequestNotes?

    /// The seconds from the start of the request until its first byte came; nil where no transport says so.
    let secondsToFirstByte = LockedBox<Double?>(nil)
    /// Tells clients apart: the address of what `removingSecrets` keeps alive.
    let client: ObjectIdentifier
    /// Removes the client's secrets from a text.
    let removingSecrets: @Sendable (String) -> String

    init(client: ObjectIdentifier, removingSecrets: @escaping @Sendable (String) -> String) {
        self.client = client
        self.removingSecrets = removingSecrets
    }
}
