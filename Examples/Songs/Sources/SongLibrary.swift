public import CoreData

/// Opens a CSV file of songs with one of the stores.
///
/// ```swift
/// let container = try SongLibrary.open(csv: SongLibrary.sampleFile, kind: .incremental, isReadOnly: true)
/// let songs = try container.viewContext.fetch(NSFetchRequest<Song>(entityName: "Song"))
/// ```
public enum SongLibrary {
    /// The stores that can open a file of songs. Programs use them alike.
    public enum Kind: String, CaseIterable, Sendable {
        /// ``MyAtomicStore``: everything in memory.
        case atomic
        /// ``MyIncrementalStore``: values are read on demand.
        case incremental
        /// The product `FileStores`, which needs no code but ``SongFiles``.
        case files

        /// The stores of this example, which the article writes.
        public static let handWritten: [Kind] = [.atomic, .incremental]
    }

    /// The URL of a file of invented songs. It belongs to the program: open it read-only, or copy it first.
    public static var sampleFile: URL {
        Bundle.module.bundleURL.appendingPathComponent("Resources").appendingPathComponent("Songs.csv")
    }

    /// Registers both stores. ``open(csv:kind:isReadOnly:)`` calls it.
    public static func registerStores() {
        NSPersistentStoreCoordinator.registerStoreClass(MyAtomicStore.self, type: MyAtomicStore.storeType)
        NSPersistentStoreCoordinator.registerStoreClass(MyIncrementalStore.self, type: MyIncrementalStore.storeType)
    }

    /// Opens or creates a file.
    ///
    /// - Parameters:
    ///   - csv: The file.
    ///   - kind: The store to open it with.
    ///   - isReadOnly: Whether to open it read-only.
    /// - Returns: A container whose only store is `persistentStoreCoordinator.persistentStores[0]`.
    /// - Throws: ``SongFileError`` (the product `FileStores`: its own error), with the line and column of an error in the file.
    public static func open(csv: URL, kind: Kind, isReadOnly: Bool = false) throws -> NSPersistentContainer {
        registerStores()
        let description =
            switch kind {
            case .atomic: MyAtomicStore.storeDescription(at: csv)
            case .incremental: MyIncrementalStore.storeDescription(at: csv)
            case .files: SongFiles.storeDescription(at: csv)
            }
        description.isReadOnly = isReadOnly
        let container = NSPersistentContainer(name: "Songs", managedObjectModel: SongModel.make())
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }
}
