internal import Foundation
internal import RemoteStore

extension WebBackend {
    /// Reads a sample of each resource, reads it again in each way that the description claims, and reports the claims that are false.
    ///
    /// The verification only reads. The unfiltered lists come first, then the checks of their pages, then the other checks in rotation, so that a small
    /// number of requests is spread over all of them. ``VerificationReport/untried`` lists the claims that were not tried. Insertions, changes and
    /// deletions by others during the verification can look like findings: if there are any, repeat it.
    ///
    /// ```swift
    /// for finding in try await backend.verify(sample: 200) { print(finding) }
    /// ```
    ///
    /// Call it on any thread.
    ///
    /// - Parameters:
    ///   - sample: The number of resources of each entity to read.
    ///   - entities: The entities; nil for all with a list that has no required parameters.
    ///   - requests: The maximum number of requests.
    /// - Returns: The false claims, and those that were not tried. There are no findings if everything that was tried is as described.
    /// - Throws: The error of an unfiltered list without an answer, or with a temporary error (503, 429); `CancellationError`.
    public func verify(sample: Int = 200, entities: Set<String>? = nil, requests: Int = 60) async throws -> VerificationReport {
        try await Verification(self, sample: sample, entities: entities, requests: requests).report()
    }
}
