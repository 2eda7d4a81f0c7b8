#if PostgreSQL
internal import SQLQueries

/// The text of an update of some columns of one row that must still have the version that was read.
struct UpdateStatement {
    /// The parameters are the key, the version that was read, the new version, and the values of the columns. The statement waits for a transaction
    /// that holds the row.
    let plain: String
    /// The same, but it writes nothing if another transaction holds the row. Nil if it writes relationships: the server checks their foreign keys
    /// against other rows, and may wait for these.
    let unwaiting: String?

    init(_ entity: SQLEntity, _ columns: [SQLIdentifier], hasRelationships: Bool) {
        let (table, identity) = (entity.table, entity.identity)
        let assignments = columns.enumerated().map { "\($1) = $\($0 + 4)" } + ["\(identity.version) = $3"]
        let start = "UPDATE \(table) SET \(assignments.joined(separator: ", ")) WHERE \(identity.key) = "
        let condition = "\(identity.key) = $1 AND \(identity.version) = $2"
        plain = "\(start)$1 AND \(identity.version) = $2"
        // The row is locked from here on, so the update finds it as it was compared.
        unwaiting =
            hasRelationships ? nil : "\(start)(SELECT \(identity.key) FROM \(table) WHERE \(condition) FOR NO KEY UPDATE SKIP LOCKED)"
    }
}
#endif
