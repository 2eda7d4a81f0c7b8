internal import CoreData

/// A behaviour that every store and context must have: a sentence and a check.
public struct Behaviour: Sendable, CustomStringConvertible {
    /// The sections of the behaviours.
    public enum Section: String, CaseIterable, Sendable {
        /// Inserts, edits and deletes.
        case changes = "Create, change, delete"
        /// Inverses, delete rules, faults.
        case relationships = "Relationships"
        /// Contexts of one coordinator, parents and children.
        case contexts = "Identity, contexts, conflicts"
    }

    /// The section of the behaviour.
    public let section: Section
    /// The description of the behaviour.
    public let sentence: String
    /// The capabilities that the check requires of a store.
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

    /// Returns whether the behaviour applies to a store.
    public func applies(to store: StoreUnderTest) -> Bool { store.capabilities.isSuperset(of: requires) }

    /// Checks the behaviour on a new store.
    ///
    /// Blocks while the contexts of the check work; call it on a thread that may wait.
    ///
    /// - Throws: ``ConformanceFailure`` where the store behaves differently, or the store's own error.
    public func run(on store: StoreUnderTest) throws { try check(ConformanceRun(store)) }

    /// The description of the behaviour.
    public var description: String { sentence }
}

/// The error of a store that does not have a behaviour.
public struct ConformanceFailure: Error, CustomStringConvertible {
    /// The actual result, and its place in the kit.
    public let description: String
}

/// Checks a condition.
func expect(_ condition: Bool, _ what: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line) throws {
    if !condition { throw ConformanceFailure(description: "\(what()) (\(file):\(line))") }
}

/// Checks that two values are equal.
func expectEqual<Value: Equatable>(
    _ found: Value, _ wanted: Value, _ what: @autoclosure () -> String = "", file: StaticString = #fileID, line: UInt = #line
) throws {
    try expect(found == wanted, "\(what()) found \(found), not \(wanted)", file: file, line: line)
}

/// Checks that an error is thrown, and returns it.
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
