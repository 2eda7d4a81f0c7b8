internal import CoreData

/// The findings of the kit about one store: for each behaviour the outcome, the expected and the actual result, and where to look.
///
/// ```swift
/// let report = ConformanceReport(on: myStore)
/// print(report.text)
/// ```
public struct ConformanceReport: Sendable {
    /// The outcome of a behaviour.
    public enum Outcome: String, Sendable {
        /// The store has the behaviour.
        case passed
        /// The store behaves differently.
        case failed
        /// The store does not claim what the behaviour requires.
        case notAsked = "not asked"
    }

    /// The finding about one behaviour.
    public struct Finding: Sendable {
        /// The behaviour.
        public let behaviour: Behaviour
        /// The outcome.
        public let outcome: Outcome
        /// The actual result; empty unless the behaviour has failed.
        public let found: String
    }

    /// The name of the store.
    public let store: String
    /// The findings, in the order of ``Behaviour/all``.
    public let findings: [Finding]

    /// Checks behaviours on a store, each on a new, empty one. Blocks while the contexts of the checks work.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - behaviours: The behaviours to check; all of them by default.
    public init(on store: StoreUnderTest, _ behaviours: [Behaviour] = Behaviour.all) {
        self.store = store.name
        findings = behaviours.map { behaviour in
            guard behaviour.applies(to: store) else { return Finding(behaviour: behaviour, outcome: .notAsked, found: "") }
            do {
                try behaviour.run(on: store)
                return Finding(behaviour: behaviour, outcome: .passed, found: "")
            } catch {
                return Finding(behaviour: behaviour, outcome: .failed, found: "\(error)")
            }
        }
    }

    /// The behaviours that the store lacks.
    public var failures: [Finding] { findings.filter { $0.outcome == .failed } }

    private var summary: String {
        let asked = findings.filter { $0.outcome != .notAsked }.count
        return "\(store): \(asked - failures.count) of \(asked) behaviours, \(findings.count - asked) not asked."
    }

    /// The report as text: a summary, and a paragraph for each failure.
    public var text: String {
        let paragraphs = failures.map { finding in
            """
            ✘ \(finding.behaviour.section.rawValue)
              expected: \(finding.behaviour.sentence)
              found:    \(finding.found.replacingOccurrences(of: "\n", with: "\n            "))
              look at:  \(finding.behaviour.look)
            """
        }
        return ([summary] + paragraphs).joined(separator: "\n\n") + "\n"
    }

    /// The report as Markdown: a summary, and a table of all behaviours.
    public var markdown: String {
        func cell(_ text: String) -> String {
            text.replacingOccurrences(of: "|", with: "\\|").replacingOccurrences(of: "\n", with: " ")
        }
        var lines = [summary, "", "| Behaviour | Outcome | Found | Look at |", "| --- | --- | --- | --- |"]
        for finding in findings {
            let look = finding.outcome == .failed ? cell(finding.behaviour.look) : ""
            lines.append("| \(cell(finding.behaviour.sentence)) | \(finding.outcome.rawValue) | \(cell(finding.found)) | \(look) |")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
