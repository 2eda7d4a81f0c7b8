/// A text that is JSON or not, in the manner of JSONTestSuite: what everybody must accept (y), refuse (n), or may decide (i).
struct JSONCase: Sendable {
    enum Verdict: Sendable { case accepted, refused }

    var name: String
    var bytes: [UInt8]
    var verdict: Verdict
    /// Why RFC 8259 leaves it open, and what was decided.
    var decision: String?

    static func y(_ name: String, _ text: String) -> JSONCase { JSONCase(name: "y_" + name, bytes: Array(text.utf8), verdict: .accepted) }

    static func n(_ name: String, _ text: String) -> JSONCase { JSONCase(name: "n_" + name, bytes: Array(text.utf8), verdict: .refused) }

    static func n(_ name: String, bytes: [UInt8]) -> JSONCase { JSONCase(name: "n_" + name, bytes: bytes, verdict: .refused) }

    /// A string with bytes that are no UTF-8.
    static func n(_ name: String, string bytes: UInt8...) -> JSONCase { n(name, bytes: [0x5B, 0x22] + bytes + [0x22, 0x5D]) }

    static func i(_ name: String, _ text: String, _ verdict: Verdict, _ decision: String) -> JSONCase {
        JSONCase(name: "i_" + name, bytes: Array(text.utf8), verdict: verdict, decision: decision)
    }

    static func i(_ name: String, bytes: [UInt8], _ verdict: Verdict, _ decision: String) -> JSONCase {
        JSONCase(name: "i_" + name, bytes: bytes, verdict: verdict, decision: decision)
    }

    static let all = structure + numbers + strings + encodings + undecided + generated
}
