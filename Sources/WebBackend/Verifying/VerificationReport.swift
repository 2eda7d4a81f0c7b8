/// The result of ``WebBackend/verify(sample:entities:requests:)``: a collection of findings, and the claims that were not tried.
public struct VerificationReport: RandomAccessCollection, Sendable, CustomStringConvertible {
    /// A claim that was not tried.
    public struct Untried: Hashable, Sendable, CustomStringConvertible {
        /// The name of the check.
        public let check: String
        /// The entity.
        public let entity: String
        /// The object of the check.
        public let asked: String
        /// The reason why it was not tried.
        public let reason: String

        /// The claim and the reason on one line.
        public var description: String { "\(entity): \(check) “\(asked)” was not tried: \(reason)" }
    }

    /// The false claims, in the order in which they were found.
    public internal(set) var findings: [CapabilityFinding] = []
    /// The claims that were not tried, with the reason: the sample has no value for them, or the limit of requests was reached.
    public internal(set) var untried: [Untried] = []
    /// The number of requests that were sent.
    public internal(set) var requestCount = 0

    /// The index of the first finding.
    public var startIndex: Int { 0 }
    /// The index after the last finding.
    public var endIndex: Int { findings.count }
    /// Returns a finding.
    public subscript(index: Int) -> CapabilityFinding { findings[index] }

    /// The findings, the claims that were not tried, and the number of requests, as lines.
    public var description: String {
        let lines = findings.map(\.description) + untried.map(\.description)
        return (lines + ["\(findings.count) findings, \(untried.count) untried, \(requestCount) requests"]).joined(separator: "\n")
    }

    /// Adds findings. Of several with the same topic, only the first is added.
    mutating func add(_ found: [CapabilityFinding]) {
        for finding in found where !findings.contains(where: { $0.topic == finding.topic }) { findings.append(finding) }
    }
}
