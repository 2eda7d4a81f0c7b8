internal import Foundation

extension XYZDatabase {
    /// One change of a commit.
    struct Change: Sendable {
        enum Kind: Sendable {
            /// A new row, or new values of a row.
            case write([String: Value])
            /// Deletes the row.
            case delete
            /// Increments the version of an unchanged row.
            case lock
        }

        let table: String
        let primaryKey: String
        /// The expected version of the row; nil for a row that must not exist yet.
        let expectedVersion: UInt64?
        let kind: Kind
    }

    /// A change with an outdated version, and the current row; nil for a deleted row.
    struct StaleChange: Sendable {
        let change: Change
        let row: Row?
    }
}

extension XYZDatabase.Table {
    mutating func put(_ row: XYZDatabase.Row) {
        if rows.updateValue(row, forKey: row.primaryKey) == nil { order.append(row.primaryKey) }
    }

    mutating func apply(_ change: XYZDatabase.Change) {
        let version = (change.expectedVersion ?? 0) + 1
        switch change.kind {
        case .write(let columns): put(XYZDatabase.Row(primaryKey: change.primaryKey, version: version, columns: columns))
        case .delete:
            rows[change.primaryKey] = nil
            order.removeAll { $0 == change.primaryKey }
        case .lock: rows[change.primaryKey]?.version = version
        }
    }
}
