package import Foundation
@_spi(Stores) package import ObjectGraph
internal import PostgreSQLStore
internal import SQLQueries
package import SQLiteStore
package import WebBackend

/// An open store, with its model.
///
/// Its context has a private queue, on which `read` runs.
package final class OpenStore {
    /// The origin of the model.
    package enum ModelOrigin: Sendable {
        /// The copy that the store keeps.
        case store
        case file(String)
        /// A model drafted from the store itself, with a note about the gaps in the draft.
        case drafted(String)
    }

    /// The requested place. A copy may be open instead.
    package let url: URL
    package let kind: StoreKind
    package let modelOrigin: ModelOrigin
    package let coordinator: NSPersistentStoreCoordinator
    package let store: NSPersistentStore
    package let context: NSManagedObjectContext
    /// The file below the object graph; nil for stores other than SQLite.
    package let file: SQLiteInspection?
    /// The suffixes of the files beside a SQLite store before it was opened.
    package let sideFiles: [String]
    private let copy: StoreCopyForReading?
    /// Whether a copy of the file is open, which others do not write to.
    package var isCopy: Bool { copy != nil }
    /// The web service behind the store; nil for files.
    package internal(set) var service: WebBackend?

    init(
        _ found: StoreKind.Found, _ origin: ModelOrigin, _ coordinator: NSPersistentStoreCoordinator, _ store: NSPersistentStore,
        _ file: SQLiteInspection?, _ copy: StoreCopyForReading?, sideFiles: [String] = []
    ) {
        (url, kind, modelOrigin, self.coordinator, self.store) = (found.url, found.kind, origin, coordinator, store)
        (self.file, self.copy, self.sideFiles) = (file, copy, sideFiles)
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
    }

    /// The place in a form for people: a path, or an address without credentials.
    package var place: String { kind.hasFiles ? url.path : url.absoluteString }

    package var model: NSManagedObjectModel { coordinator.managedObjectModel }

    /// Whether the store is for the tables of another program. The values of its transformable attributes are JSON.
    var hasTables: Bool { store is ExistingSQLiteStore || store.type == Self.existingPostgreSQL }

    #if PostgreSQL
    private static let existingPostgreSQL = ExistingPostgreSQLStoreType
    #else
    private static let existingPostgreSQL: String? = nil
    #endif

    /// Calls `body` on the context's queue.
    package func read<Result>(_ body: () throws -> Result) rethrows -> Result { try context.performAndWait(body) }

    /// Returns the SQL of a fetch, and the database's plan for it; nil for a store that is completely in memory.
    ///
    /// - Throws: The errors of the fetch that are known before it runs: code 134091 names a clause without SQL.
    func explanation(of query: StoreQuery) throws -> SQLExplanation? {
        if let sqlite = store as? SQLiteStore { return try sqlite.explanation(of: query) }
        if let tables = store as? ExistingSQLiteStore { return try tables.explanation(of: query) }
        #if PostgreSQL
        return try store.databaseExplanation(of: query)
        #else
        return nil
        #endif
    }

    /// Returns whether an error of a fetch is about its entity alone, such as a view whose rows cannot be computed: other entities can be read.
    func isOfOneEntity(_ error: any Error) -> Bool {
        guard hasTables, !(error is CancellationError) else { return false }
        if kind == .postgreSQL { return (try? databaseStamp()) != nil }
        return (error as NSError).userInfo[NSSQLiteErrorDomain] as? Int == Self.failedStatement
    }

    /// SQLite's code for a statement that cannot run. Other codes are about the file.
    private static let failedStatement = 1

    /// Returns a number that changes whenever any program has written to the database; nil for other stores.
    package func databaseStamp() throws -> Int64? {
        #if PostgreSQL
        return try store.databaseStamp()
        #else
        return nil
        #endif
    }

    /// Returns an entity.
    ///
    /// - Throws: An error with the existing names, for an unknown one.
    package func entity(_ name: String) throws -> NSEntityDescription {
        if let entity = model.entitiesByName[name] { return entity }
        let names = model.entities.compactMap(\.name).sorted()
        if let near = names.first(where: { $0.lowercased() == name.lowercased() }) {
            throw CommandError.make("The store has no entity “\(name)”.", next: "Did you mean “\(near)”?")
        }
        throw CommandError.make("The store has no entity “\(name)”.", next: "It has: \(names.joined(separator: ", ")).")
    }
}
