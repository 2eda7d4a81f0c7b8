internal import Platform

/// The data that a client and the transports below it exchange about a request.
///
/// It is a task-local value, so custom transports need not know about it.
final class RequestNotes: Sendable {
    /// The notes of the request that the current task sends.
    @TaskLocal static var current: RequestNotes?

    /// The seconds from the start of the request until its first byte came; nil if no transport has told them.
    let secondsToFirstByte = LockedBox<Double?>(nil)
    /// The identity of the client: the address of an object that `removingSecrets` keeps alive.
    let client: ObjectIdentifier
    /// Removes the client's secrets from a text.
    let removingSecrets: @Sendable (String) -> String

    init(client: ObjectIdentifier, removingSecrets: @escaping @Sendable (String) -> String) {
        self.client = client
        self.removingSecrets = removingSecrets
    }
}
