internal import Platform
internal import Predicates
internal import Synchronization

/// Collects the statements that database stores execute for one piece of work: for tools that show the cost of an answer.
///
/// SQLite's connections collect them if they were opened after ``enable()``.
package final class SQLRecording: Sendable {
    /// A statement that was executed.
    package struct Statement: Sendable {
        package let sql: String
        /// The bound values of a fetch, as text.
        package let values: [String]
        /// The number of rows that a fetch read; nil for other statements.
        package let rows: Int?
        package let seconds: Double
    }

    /// The recording of the current task, or of the current call if there is no task; nil for none.
    @TaskLocal package static var current: SQLRecording?

    private static let isEnabledFlag = Atomic<Bool>(false)
    /// Whether connections report the statements that they execute. Once enabled, this stays enabled.
    package static var isEnabled: Bool { isEnabledFlag.load(ordering: .relaxed) }
    /// The maximum number of statements that are kept.
    private static let limit = 200
    /// The maximum number of bytes that are kept of a statement or a value: both may hold a long text.
    private static let textLimit = 10_000

    private let collected = LockedBox<(statements: [Statement], count: Int)>(([], 0))

    package init() {}

    /// Makes connections that are opened from now on report their statements.
    package static func enable() { isEnabledFlag.store(true, ordering: .relaxed) }

    /// The statements so far, the first of them.
    package var statements: [Statement] { collected.withLock { $0.statements } }
    /// The number of statements so far.
    package var count: Int { collected.withLock { $0.count } }

    package func add(_ sql: String, values: [String] = [], rows: Int? = nil, seconds: Double) {
        let statement = Statement(
            sql: String(sql.prefix(Self.textLimit)), values: values.map { String($0.prefix(Self.textLimit)) }, rows: rows, seconds: seconds)
        collected.withLock {
            $0.count += 1
            if $0.statements.count < Self.limit { $0.statements.append(statement) }
        }
    }
}
