public import Foundation
internal import Logging
internal import MappedTables
@_spi(Stores) public import ObjectGraph

/// The type of stores about the tables of another program in a SQLite file.
///
/// ```swift
/// let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try NSManagedObjectModel(describing: url))
/// try coordinator.addPersistentStore(type: .existingSQLite, at: url)
/// ```
///
/// The model says by its user info which tables and columns it is about, see ``SQLiteModelDraft``. No table is created or changed, and reading
/// changes no byte of the file.
public let ExistingSQLiteStoreType = "SQLiteExisting"

extension NSPersistentStore.StoreType {
    /// A store about the tables of another program in a SQLite file.
    public static let existingSQLite = NSPersistentStore.StoreType(rawValue: ExistingSQLiteStoreType)
}

/// A model of the tables and views that another program has made in a SQLite file, drafted from what the file says of them, and what it leaves out.
///
/// ```swift
/// let draft = try SQLiteModelDraft(of: URL(fileURLWithPath: "db.sqlite3"))
/// print(draft.unmapped.joined(separator: "\n"))
/// ```
public struct SQLiteModelDraft: Sendable {
    /// The model. Its user info has the names of tables and columns, for a store of the type ``ExistingSQLiteStoreType``.
    public let model: NSManagedObjectModel
    /// What of the file is not in the model, each with its name and the reason.
    public let unmapped: [String]
    /// What is in the model in another form than one may expect, such as dates that are kept as numbers.
    public let notes: [String]

    /// Drafts the model of a file, which is not changed.
    ///
    /// Where the declared type of a column leaves something open, its first values decide.
    ///
    /// - Throws: Code 260 where there is no file, 259 where it is none of SQLite's or damaged. Call it on any queue; the thread waits for the disk.
    public init(of url: URL) throws { try self.init(of: url, keepsFiles: false) }

    /// Drafts the model of a file.
    ///
    /// - Parameter keepsFiles: Whether the files beside it stay as they are, too, see ``SQLiteKeepsFilesOption``.
    package init(of url: URL, keepsFiles: Bool) throws {
        let entities = try SQLiteTablesOpening(url: url, keepsFiles: keepsFiles).draft()
        model = NSManagedObjectModel(entities: entities.entities)
        (unmapped, notes) = (entities.unmapped, entities.notes)
    }
}

extension NSManagedObjectModel {
    /// Drafts a model of the tables and views that another program has made in a SQLite file.
    ///
    /// Tables and views become entities, columns attributes, foreign keys relationships with inverses, tables that have nothing but pairs
    /// many-to-many relationships. What cannot be mapped is logged; ``SQLiteModelDraft`` returns it.
    ///
    /// - Throws: Code 260 where there is no file, 259 where it is none of SQLite's or damaged. Call it on any queue; the thread waits for the disk.
    public convenience init(describing url: URL) throws {
        let drafted = try SQLiteTablesOpening(url: url).draft()
        for finding in drafted.unmapped { Log.model.notice("The drafted model leaves out: \(finding)") }
        self.init(entities: drafted.entities)
    }
}
