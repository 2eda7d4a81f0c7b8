#if PostgreSQL
internal import Foundation
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// A database that was opened for a store.
// Unchecked: the metadata are a property list, which is not changed.
struct OpenedDatabase: @unchecked Sendable {
    let pool: ConnectionPool
    let schema: SQLSchema
    /// The tables of another program; nil for a store's own.
    let mapping: Mapping?
    /// The reason why the database lacks the functions of ``ServerFunctions``; nil if it has them, which is always so if the tables are the store's
    /// own.
    var missingFunctions: MissingFunctions?
    let metadata: [String: Any]
    let history: StoreHistory
    let aftermath: CommitAftermath
    var settings: DatabaseSettings
    /// Whether saves of single objects may share transactions.
    var combinesSaves = false
    /// The state of the commits at opening; nil if no listener is needed.
    var look: RemoteChangeListener.Look?
    /// The coordinator whose store has opened the connections; nil for this store's own.
    var origin: NSPersistentStoreCoordinator?
}
#endif
