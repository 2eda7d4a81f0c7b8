internal import CoreData

/// Something that every store and context must do, as a sentence and a check.
public struct Behaviour: Sendable, CustomStringConvertible {
    /// The parts that the behaviours fall into.
    public enum Section: String, CaseIterable, Sendable {
        /// Inserts, edits and deletes.
        case changes = "Create, change, delete"
        /// Inverses, delete rules, faults.
        case relationships = "Relationships"
        /// Contexts beside and above each other.
        case contexts = "Identity, contexts, conflicts"
    }

    /// The part it belongs to.
    public let section: Section
    /// The sentence.
    public let sentence: String
    /// What a store must be able to do for the check to make sense.
    public let requires: StoreUnderTest.Capabilities
    let check: @Sendable (ConformanceRun) throws -> Void

    init(
        _ section: Section, _ sentence: String, requires: StoreUnderTest.Capabilities = [],
        check: @escaping @Sendable (ConformanceRun) throws -> Void
    ) {
        self.section = section
        self.sentence = sentence
        self.requires = requires
        self.check = check
    }

    /// Every behaviour, section by section.
    public static let all: [Behaviour] =
        changes + atomicity + values
        + relationships + deleteRules + faults
        + contexts + merging + conflicts + uniqueness + undo + validation

    /// Whether the behaviour can be asked of a store.
    public func applies(to store: StoreUnderTest) -> Bool { store.capabilities.isSuperset(of: requires) }

    /// Tries the behaviour on a new store.
    ///
    /// It blocks while the contexts of the check work; call it from a thread that may wait.
    ///
    /// - Throws: ``ConformanceFailure`` where the store behaves otherwise, or the store's own error.
    public func run(on store: StoreUnderTest) throws { try check(ConformanceRun(store)) }

    /// The sentence.
    public var description: String { sentence }
}

/// A store does not behave as it must.
public struct ConformanceFailure: Error, CustomStringConvertible {
    /// What was found instead, and where in the kit it was asked.
    public let description: String
}

/// What a check expects.
func expect(_ condition: Bool, _ what: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line) throws {
    if !condition { throw ConformanceFailure(description: "\(what()) (\(file):\(line))") }
}

/// Two values that a check expects to be equal.
func expectEqual<Value: Equatable>(
    _ found: Value, _ wanted: Value, _ what: @autoclosure () -> String = "", file: StaticString = #fileID, line: UInt = #line
) throws {
    try expect(found == wanted, "\(what()) found \(found), not \(wanted)", file: file, line: line)
}

/// The error that a check expects.
func expectError(
    code: Int? = nil, _ what: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line, _ body: () throws -> Void
) throws -> NSError {
    do {
        try body()
    } catch {
        let found = error as NSError
        if let code { try expectEqual(found.code, code, what(), file: file, line: line) }
        return found
    }
    throw ConformanceFailure(description: "\(what()): there was no error (\(file):\(line))")
}
