internal import Foundation
internal import RemoteStore

extension WebBackend {
    /// Reads a sample of each resource, asks for it again in each way that the description claims, and names what is false.
    ///
    /// It only reads. The unfiltered lists come first, then what concerns their pages, then the other checks by turns, so that a small number of
    /// requests is spread over all of them. What was not tried is in ``VerificationReport/untried``. Resources that others insert, change or
    /// delete meanwhile can look like findings: repeat it where there are any.
    ///
    /// ```swift
    /// for finding in try await backend.verify(sample: 200) { print(finding) }
    /// ```
    ///
    /// Call it on any thread.
    ///
    /// - Parameters:
    ///   - sample: The number of resources of each entity to read.
    ///   - entities: The entities; nil for all that have a list without required parameters.
    ///   - requests: The number of requests after which no further one is sent.
    /// - Returns: What is false, and what was not tried; without findings where everything that was tried is as described.
    /// - Throws: The error of an unfiltered list that got no answer, or one that may pass (503, 429); `CancellationError`.
    public func verify(sample: Int = 200, entities: Set<String>? = nil, requests: Int = 60) async throws -> VerificationReport {
        try await Verification(self, sample: sample, entities: entities, requests: requests).report()
    }
}
