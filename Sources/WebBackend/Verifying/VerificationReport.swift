/// What ``WebBackend/verify(sample:entities:requests:)`` has found: a collection of findings, and what could not be tried.
public struct VerificationReport: RandomAccessCollection, Sendable, CustomStringConvertible {
    /// A claim that was not tried.
    public struct Untried: Hashable, Sendable, CustomStringConvertible {
        /// The name of the check.
        public let check: String
        /// The entity.
        public let entity: String
        /// What would have been asked.
        public let asked: String
        /// Why it was not.
        public let reason: String

        /// The claim and the reason on one line.
        public var description: String { "\(entity): \(check) “\(asked)” was not tried: \(reason)" }
    }

    /// What is false, in the order in which it was found.
    public internal(set) var findings: [CapabilityFinding] = []
    /// What was not tried, with the reason: the sample has no value for it, or the requests were used up.
    public internal(set) var untried: [Untried] = []
    /// The number of requests that were sent.
    public internal(set) var requestCount = 0

    /// The index of the first finding.
    public var startIndex: Int { 0 }
    /// The index after the last finding.
    public var endIndex: Int { findings.count }
    /// Returns a finding.
    public subscript(index: Int) -> CapabilityFinding { findings[index] }

    /// The findings, what was not tried, and the number of requests, as lines.
    public var description: String {
        let lines = findings.map(\.description) + untried.map(\.description)
        return (lines + ["\(findings.count) findings, \(untried.count) untried, \(requestCount) requests"]).joined(separator: "\n")
    }

    /// Adds findings, of those that say the same of several resources the first.
    mutating func add(_ found: [CapabilityFinding]) {
        for finding in found where !findings.contains(where: { $0.topic == finding.topic }) { findings.append(finding) }
    }
}
