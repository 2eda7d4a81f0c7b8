internal import CoreData
public import Foundation

/// A behaviour that every store and context must have: a sentence and a check.
public struct Behaviour: Sendable, CustomStringConvertible {
    /// The sections of the behaviours.
    public enum Section: String, CaseIterable, Sendable {
        /// Inserts, edits and deletes.
        case changes = "Create, change, delete"
        /// Predicates, orders, pages, counts.
        case fetching = "Fetching"
        /// Inverses, delete rules, faults.
        case relationships = "Relationships"
        /// Contexts of one coordinator, parents and children.
        case contexts = "Identity, contexts, conflicts"
        /// Deleted rows, unknown keys, removed stores, many threads, killed processes.
        case hostile = "Calls that go wrong"

        /// The first place where an author should look if a behaviour of the section fails.
        fileprivate var look: String {
            switch self {
            case .changes: "the save request: inserted, updated and deleted objects, and the values that are read back"
            case .fetching: "the answer to a fetch request"
            case .relationships: "the values of relationships, in rows and when they are asked for alone"
            case .contexts: "the versions of rows, and the conflicts that a save reports"
            case .hostile: "the errors of the store"
            }
        }
    }

    /// The section of the behaviour.
    public let section: Section
    /// The description of the behaviour.
    public let sentence: String
    /// The capabilities that the check requires of a store.
    public let requires: StoreUnderTest.Capabilities
    /// The first place where an author should look if it fails.
    public let look: String
    /// Whether the check starts a process, which the store's description must provide.
    let needsChild: Bool
    let check: @Sendable (ConformanceRun) throws -> Void

    init(
        _ section: Section, _ sentence: String, requires: StoreUnderTest.Capabilities = [], look: String? = nil, needsChild: Bool = false,
        check: @escaping @Sendable (ConformanceRun) throws -> Void
    ) {
        self.section = section
        self.sentence = sentence
        self.requires = requires
        self.look = look ?? section.look
        self.needsChild = needsChild
        self.check = check
    }

    /// Every behaviour, section by section.
    public static let all: [Behaviour] =
        changes + keeping + atomicity + values
        + fetching + relationships + deleteRules + faults
        + contexts + merging + conflicts + uniqueness + undo + validation
        + hostile + kills

    /// Returns whether the behaviour applies to a store.
    public func applies(to store: StoreUnderTest) -> Bool {
        store.capabilities.isSuperset(of: requires) && (!needsChild || store.child != nil)
    }

    /// Checks the behaviour on a new store.
    ///
    /// Blocks while the contexts of the check work; call it on a thread that may wait.
    ///
    /// - Throws: ``ConformanceFailure`` if the store behaves differently, or the store's own error.
    public func run(on store: StoreUnderTest) throws { try check(ConformanceRun(store)) }

    /// The description of the behaviour.
    public var description: String { sentence }
}

/// The error of a store that does not have a behaviour.
public struct ConformanceFailure: LocalizedError, CustomStringConvertible {
    /// The actual result, and its place in the kit.
    public let description: String
    /// The same as ``description``.
    public var errorDescription: String? { description }
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

extension Array {
    /// Returns an element. A missing element is a failure, and does not crash the program.
    func at(_ index: Int, file: StaticString = #fileID, line: UInt = #line) throws -> Element {
        try expect(index < count, "found \(count) of what there are \(index + 1) of at least", file: file, line: line)
        return self[index]
    }
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
