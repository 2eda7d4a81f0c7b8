#if PostgreSQL
internal import Foundation
internal import Logging
internal import MappedTables
@_spi(Stores) public import ObjectGraph

/// A model of another program's tables and views, drafted from the catalogue of the database, with a list of what it leaves out.
///
/// ```swift
/// let draft = try await PostgreSQLModelDraft(of: "postgresql://reader@db.example.com/shop")
/// print(draft.unmapped.joined(separator: "\n"))
/// ```
public struct PostgreSQLModelDraft: Sendable {
    /// The model. Its user info has the names of tables and columns, for a store with ``PostgreSQLStoreOptions/Layout/existing``.
    public let model: NSManagedObjectModel
    /// The parts of the schema that are not in the model, each with its name and the reason.
    public let unmapped: [String]
    /// The parts of the model whose form may be unexpected, such as types that are read as text.
    public let notes: [String]

    /// Drafts the model of a schema.
    ///
    /// - Parameters:
    ///   - url: The database, as libpq takes it.
    ///   - options: The settings of the connection; the schema is ``PostgreSQLStoreOptions/schema``.
    /// - Throws: Code 134080 if the database cannot be reached or has no such schema. Call it on any queue; it blocks no thread.
    public init(of url: String, options: PostgreSQLStoreOptions = PostgreSQLStoreOptions()) async throws {
        let entities = try await DraftedEntities.read(url, options)
        model = NSManagedObjectModel(entities: entities.entities)
        (unmapped, notes) = (entities.unmapped, entities.notes)
    }
}

extension NSManagedObjectModel {
    /// Drafts a model of the tables and views that another program has made in a PostgreSQL database, from its catalogue.
    ///
    /// Tables and views become entities, columns attributes, foreign keys relationships with inverses, and tables that contain only pairs
    /// many-to-many relationships. Parts that cannot be mapped are logged; ``PostgreSQLModelDraft`` returns them.
    ///
    /// - Parameters:
    ///   - url: The database, as libpq takes it.
    ///   - options: The settings of the connection; the schema is ``PostgreSQLStoreOptions/schema``.
    /// - Throws: Code 134080 if the database cannot be reached or has no such schema. Call it on any queue; it blocks no thread.
    public convenience init(describing url: String, options: PostgreSQLStoreOptions = PostgreSQLStoreOptions()) async throws {
        let drafted = try await DraftedEntities.read(url, options)
        for finding in drafted.unmapped { Log.model.notice("The drafted model leaves out: \(finding)") }
        self.init(entities: drafted.entities)
    }
}

extension DraftedEntities {
    /// Drafts the entities of a schema.
    static func read(_ url: String, _ options: PostgreSQLStoreOptions) async throws -> DraftedEntities {
        guard let url = ConnectionSettings.url(url) else {
            throw CoreDataError.make(
                NSPersistentStoreOpenError, "A model cannot be drafted.", reason: "The URL of the database is none.",
                next: "Write it as postgresql://user@host:port/database?parameter=value, with special characters as %XX.")
        }
        let pool = try ConnectionPool(url, options, .existing)
        defer { pool.close() }
        let check = ServerCheck(pool.settings.place)
        do {
            let catalogue: Catalogue? = try await pool.with { connection in
                try await check.check(connection)
                return try await CatalogueReader(connection: connection, schema: options.schema).read()
            }
            guard let catalogue else {
                throw check.refused("The database has no schema “\(options.schema)”.", next: "Name another one as “schema”.")
            }
            return DraftedEntities(catalogue)
        } catch let error as ServerError { throw check.failure(error) }
    }
}
#endif
