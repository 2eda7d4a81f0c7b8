/// A table of the behaviours, with a tick for each store that must have them.
public struct BehaviourReport: Sendable {
    private let stores: [StoreUnderTest]

    /// Creates a report on stores.
    public init(on stores: [StoreUnderTest]) { self.stores = stores }

    /// The table in Markdown, section by section. “✓” is checked on the store; “–” requires a capability that the store does not declare.
    public var markdown: String {
        var lines: [String] = []
        for section in Behaviour.Section.allCases {
            lines += ["## \(section.rawValue)", "", "| | " + stores.map(\.name).joined(separator: " | ") + " |"]
            lines.append("| --- |" + String(repeating: " --- |", count: stores.count))
            for behaviour in Behaviour.all where behaviour.section == section {
                let ticks = stores.map { behaviour.applies(to: $0) ? "✓" : "–" }
                lines.append("| \(behaviour.sentence) | " + ticks.joined(separator: " | ") + " |")
            }
            lines.append("")
        }
        return lines.joined(separator: "\n")
    }
}
