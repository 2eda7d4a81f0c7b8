#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// The changes of a transaction that is being written, for the history.
struct HistoryNotes {
    private let history: StoreHistory
    /// Whether changes are recorded.
    let isKept: Bool
    /// The ID of the transaction.
    let commit: UUID
    private let author: String?
    private let context: String?
    private var kinds: [Int64] = []
    private var entities: [Int64] = []
    private var objects: [Int64] = []
    private var properties: [String?] = []
    /// Whether tombstones were written before the changes that are noted.
    private var hasTombstones = false

    init(_ history: StoreHistory, _ commit: UUID, _ caller: StoreCaller) {
        (self.history, self.commit) = (history, commit)
        (author, context) = (caller.author, caller.name)
        isKept = history.isKept
    }

    /// The first statement of the transaction. It writes the commit's own row, by which a lost answer is resolved, and returns whether there is a
    /// history.
    var mark: Call { Self.mark(commit) }

    /// The same, as a statement that fails (``ServerError/isUnexpectedCount``) if the history has begun since these notes were created.
    var checkedMark: Call {
        isKept ? mark : Call(Self.checkedInsertion, [.uuid(commit)])
    }

    /// The same, together with an UPDATE or a DELETE, if no history is kept: it writes as many rows as that statement.
    func checkedMark(after call: Call) -> Call { Self.checkedMark(commit, after: call, history) }

    /// The same for another transaction.
    static func checkedMark(_ commit: UUID, after call: Call, _ history: StoreHistory) -> Call {
        call.appending(.uuid(commit)) { commit in
            history.markedText(of: call.sql) {
                "WITH done AS (\(call.sql) RETURNING 1) INSERT INTO \(place) SELECT \(commit) FROM done RETURNING \(check)"
            }
        }
    }

    static func mark(_ commit: UUID) -> Call { Call(answeringInsertion, [.uuid(commit)]) }

    private static let answeringInsertion = "\(insertion) RETURNING \(HistoryTables.exist)"
    private static let checkedInsertion = "\(insertion) RETURNING \(check)"

    private static let insertion = "INSERT INTO \(place) VALUES ($1)"
    private static let place = "\(PostgreSQLTables.commits) (id)"
    /// Divides by zero if there is a history.
    private static let check = "1 / (\(HistoryTables.doNotExist))::integer"

    /// Checks the result of ``mark``.
    ///
    /// - Throws: ``ServerError``, for which the transaction is retried, if the history has begun since these notes were created.
    func check(_ result: QueryResult) throws {
        guard !isKept, result.rowCount > 0, result.integer(0, 0) != 0 else { return }
        history.begin()
        throw ServerError(code: "40001", message: "The history of the store has begun meanwhile.", isConnectionLost: false)
    }

    /// Notes the change of an object.
    ///
    /// - Parameter updated: The changed properties of an updated object.
    mutating func note(
        _ kind: NSPersistentHistoryChangeType, _ entity: Int64, _ object: Int64, updated: @autoclosure () -> [NSPropertyDescription] = []
    ) {
        guard isKept else { return }
        kinds.append(Int64(kind.rawValue))
        entities.append(entity)
        objects.append(object)
        // The names of properties have no commas.
        properties.append(kind == .update ? updated().map(\.name).joined(separator: ",") : nil)
    }

    /// Returns the statement that records deletions with the tombstones of the objects, to be sent before the objects are deleted; nil if there are
    /// no tombstones: the deletions are then noted like other changes.
    mutating func deletion(of keys: [Int64], _ entity: SQLEntity) -> Call? {
        guard isKept, !keys.isEmpty, let tombstone = StoreHistory.tombstone(of: entity, "t") else { return nil }
        hasTombstones = true
        return Call(
            "INSERT INTO \(HistoryTables.changes) (transaction, kind, entity, object, tombstone) "
                + "SELECT $1, \(NSPersistentHistoryChangeType.delete.rawValue), t.entity, t.id, \(tombstone) FROM \(entity.table) t "
                + "WHERE t.id = ANY($2) AND t.entity = $3",
            [.uuid(commit), .keys(keys), .integer(entity.number)])
    }

    /// Returns the last statements of the transaction, which record it.
    func statements() -> [Call] {
        guard isKept, !kinds.isEmpty || hasTombstones else { return [] }
        func text(_ text: String?) -> BinaryValue { text.map { .text($0) } ?? .null(PostgreSQLType.text) }
        let bundle = Bundle.main.bundleIdentifier ?? Bundle.main.executableURL?.lastPathComponent
        var calls: [Call] = []
        if !kinds.isEmpty {
            let names: [BinaryValue] = properties.map { text($0) }
            calls.append(
                Call(
                    "INSERT INTO \(HistoryTables.changes) (transaction, kind, entity, object, properties) "
                        + "SELECT $1, n.kind, n.entity, n.object, string_to_array(n.properties, ',') "
                        + "FROM unnest($2, $3, $4, $5) WITH ORDINALITY AS n(kind, entity, object, properties, place) ORDER BY n.place",
                    [.uuid(commit), .keys(kinds), .keys(entities), .keys(objects), .array(names, of: PostgreSQLType.text)]))
        }
        calls.append(
            Call(
                "INSERT INTO \(HistoryTables.transactions) (id, system, xid, at, author, context, bundle, process) "
                    + "SELECT $1, system_identifier, pg_current_xact_id()::text::bigint, clock_timestamp(), $2, $3, $4, $5 FROM pg_control_system()",
                [.uuid(commit), text(author), text(context), text(bundle), text(ProcessInfo.processInfo.processName)]))
        return calls
    }
}
#endif
