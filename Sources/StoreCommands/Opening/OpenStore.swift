package import Foundation
@_spi(Stores) package import ObjectGraph
package import SQLiteStore
package import WebBackend

/// An open store, with the model it was opened with.
///
/// Its context has a private queue; `read` runs on it.
package final class OpenStore {
    /// Where the model comes from.
    package enum ModelOrigin: Sendable {
        /// The copy that the store keeps.
        case store
        case file(String)
        /// Drafted from the store itself, with what the draft lacks.
        case drafted(String)
    }

    /// The place that was asked for; a copy may have been opened instead.
    package let url: URL
    package let kind: StoreKind
    package let modelOrigin: ModelOrigin
    package let coordinator: NSPersistentStoreCoordinator
    package let store: NSPersistentStore
    package let context: NSManagedObjectContext
    /// The file below the object graph; nil for other stores than SQLite.
    package let file: SQLiteInspection?
    /// The endings of the files that were beside a SQLite store before it was opened.
    package let sideFiles: [String]
    private let copy: StoreCopyForReading?
    /// Whether a copy of the file was opened, which others do not write to.
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

    /// The place for people: a path, or the address of a web service.
    package var place: String { kind == .service ? url.absoluteString : url.path }

    package var model: NSManagedObjectModel { coordinator.managedObjectModel }

    /// Calls `body` on the context's queue.
    package func read<Result>(_ body: () throws -> Result) rethrows -> Result { try context.performAndWait(body) }

    /// Returns an entity.
    ///
    /// - Throws: The names that there are, where there is none of this name.
    package func entity(_ name: String) throws -> NSEntityDescription {
        if let entity = model.entitiesByName[name] { return entity }
        let names = model.entities.compactMap(\.name).sorted()
        if let near = names.first(where: { $0.lowercased() == name.lowercased() }) {
            throw CommandError.make("The store has no entity “\(name)”.", next: "Did you mean “\(near)”?")
        }
        throw CommandError.make("The store has no entity “\(name)”.", next: "It has: \(names.joined(separator: ", ")).")
    }
}
