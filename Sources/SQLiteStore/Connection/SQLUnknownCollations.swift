internal import CSQLite
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Stand-ins for a file's collations that only the program that made the file has.
///
/// SQLite does not open a table or an index with an unknown collation, not even for a full scan. With a stand-in it does, and all results are correct
/// as long as no comparison uses the collation. So the statements of this store never use it; a statement that does, such as the one of a view, is an
/// error. Connections that write have no stand-ins: SQLite then refuses a statement that would put a row into an index at a wrong place.
// Used by the thread that has the connection.
final class SQLUnknownCollations {
    /// The names that SQLite has requested, in capitals.
    private(set) var names: Set<String> = []
    /// The name of a collation by which texts were compared.
    private var compared: String?

    /// A name, and the place to record its use. SQLite keeps it with the collation.
    private final class StandIn {
        let name: String
        unowned let collations: SQLUnknownCollations

        init(_ name: String, _ collations: SQLUnknownCollations) { (self.name, self.collations) = (name, collations) }
    }

    fileprivate init(on handle: OpaquePointer) {
        sqlite3_collation_needed(handle, Unmanaged.passUnretained(self).toOpaque()) { context, handle, _, name in
            guard let context, let handle, let name else { return }
            Unmanaged<SQLUnknownCollations>.fromOpaque(context).takeUnretainedValue().add(String(cString: name), handle)
        }
    }

    private func add(_ name: String, _ handle: OpaquePointer) {
        names.insert(name.uppercased())
        let standIn = Unmanaged.passRetained(StandIn(name, self)).toOpaque()
        // If this fails, SQLite reports that there is no such collation. It does not call the last function then.
        let code = sqlite3_create_collation_v2(
            handle, name, SQLITE_UTF8, standIn,
            { context, length, text, otherLength, other in
                if let context {
                    let standIn = Unmanaged<StandIn>.fromOpaque(context).takeUnretainedValue()
                    standIn.collations.compared = standIn.name
                }
                let order = text.flatMap { text in other.map { memcmp(text, $0, Int(min(length, otherLength))) } } ?? 0
                return order == 0 ? length - otherLength : order
            }, { context in context.map { Unmanaged<StandIn>.fromOpaque($0).release() } })
        if code != SQLITE_OK { Unmanaged<StandIn>.fromOpaque(standIn).release() }
    }

    /// Returns the name of a collation that texts were compared by since this was called last.
    func takeCompared() -> String? { compared.take() }
}

extension SQLConnection {
    /// Lets the connection, which only reads, open tables and indexes with any collation.
    func standInForUnknownCollations() { unknownCollations = SQLUnknownCollations(on: handle) }

    /// - Throws: SQLite's error for an unknown collation, if a statement has compared by one.
    func checkCollations(_ sql: String) throws {
        guard let name = unknownCollations?.takeCompared() else { return }
        throw SQLError.make(
            code: SQLiteLimits.missingCollation, message: "no such collation sequence: \(name)", .reading, path: path, sql: sql)
    }
}
