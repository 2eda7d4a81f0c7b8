import CoreData
import Foundation
import TestSupport

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// A directory that is gone with the test.
final class Scratchpad {
    private let scratch: ScratchFolder
    var url: URL { scratch.url }

    init() throws { scratch = try ScratchFolder("sqlite") }

    var store: URL { url.appendingPathComponent("store.sqlite") }

    /// The rows of a question asked by plain SQL, as texts.
    func texts(_ sql: String, in file: URL? = nil) throws -> [[String?]] {
        try SQLiteFiles.connectForReading(file ?? store, timeout: 5).texts(sql)
    }

    /// Runs statements on a connection of its own.
    func execute(_ sql: String) throws { try SQLiteFiles.connectForWriting(store, timeout: 5, creates: true).execute(sql) }

    /// A coordinator with the store.
    func coordinator(
        _ model: NSManagedObjectModel, options: [AnyHashable: Any]? = nil, at place: URL? = nil
    ) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: place ?? store, options: options)
        return coordinator
    }

    /// A context of a coordinator of its own.
    func context(_ model: NSManagedObjectModel, options: [AnyHashable: Any]? = nil) throws -> NSManagedObjectContext {
        Music.context(try coordinator(model, options: options))
    }
}
