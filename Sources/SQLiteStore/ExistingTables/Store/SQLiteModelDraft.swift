public import Foundation
internal import Logging
internal import MappedTables
@_spi(Stores) public import ObjectGraph

/// The type of stores for the tables of another program in a SQLite file.
///
/// ```swift
/// let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try NSManagedObjectModel(describing: url))
/// try coordinator.addPersistentStore(type: .existingSQLite, at: url)
/// ```
///
/// The user info of the model names its tables and columns, see ``SQLiteModelDraft``. No table is created or changed, and reading changes no byte of
/// the file.
public let ExistingSQLiteStoreType = "SQLiteExisting"

extension NSPersistentStore.StoreType {
    /// A store about the tables of another program in a SQLite file.
    public static let existingSQLite = NSPersistentStore.StoreType(rawValue: ExistingSQLiteStoreType)
}

/// A model of another program's tables and views in a SQLite file, drafted from the file's definitions, with a list of what it leaves out.
///
/// ```swift
/// let draft = try SQLiteModelDraft(of: URL(fileURLWithPath: "db.sqlite3"))
/// print(draft.unmapped.joined(separator: "\n"))
/// ```
public struct SQLiteModelDraft: Sendable {
    /// The model. Its user info has the names of tables and columns, for a store of the type ``ExistingSQLiteStoreType``.
    public let model: NSManagedObjectModel
    /// The parts of the file that are not in the model, each with its name and the reason.
    public let unmapped: [String]
    /// The parts of the model whose form may be unexpected, such as dates that are kept as numbers.
    public let notes: [String]

    /// Drafts the model of a file, which is not changed.
    ///
    /// If the declared type of a column is ambiguous, its first values decide.
    ///
    /// - Throws: Code 260 if there is no file, 259 if it is not a SQLite file, or is damaged. Call it on any queue; the thread waits for the disk.
    public init(of url: URL) throws { try self.init(of: url, keepsFiles: false) }

    /// Drafts the model of a file.
    ///
    /// - Parameter keepsFiles: Whether the files beside it stay unchanged, too, see ``SQLiteKeepsFilesOption``.
    package init(of url: URL, keepsFiles: Bool) throws {
        let entities = try SQLiteTablesOpening(url: url, keepsFiles: keepsFiles).draft()
        model = NSManagedObjectModel(entities: entities.entities)
        (unmapped, notes) = (entities.unmapped, entities.notes)
    }
}

extension NSManagedObjectModel {
    /// Drafts a model of the tables and views that another program has made in a SQLite file.
    ///
    /// Tables and views become entities, columns attributes, foreign keys relationships with inverses, and tables that contain only pairs
    /// many-to-many relationships. Parts that cannot be mapped are logged; ``SQLiteModelDraft`` returns them.
    ///
    /// - Throws: Code 260 if there is no file, 259 if it is not a SQLite file, or is damaged. Call it on any queue; the thread waits for the disk.
    public convenience init(describing url: URL) throws {
        let drafted = try SQLiteTablesOpening(url: url).draft()
        for finding in drafted.unmapped { Log.model.notice("The drafted model leaves out: \(finding)") }
        self.init(entities: drafted.entities)
    }
}
