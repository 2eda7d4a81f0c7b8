public import CoreData

/// Opens a CSV file of songs with one of the two stores.
///
/// ```swift
/// let container = try SongLibrary.open(csv: SongLibrary.sampleFile, kind: .incremental, isReadOnly: true)
/// let songs = try container.viewContext.fetch(NSFetchRequest<Song>(entityName: "Song"))
/// ```
public enum SongLibrary {
    /// The stores that can open a file of songs. To the rest of a program they are alike.
    public enum Kind: String, CaseIterable, Sendable {
        /// ``MyAtomicStore``: everything in memory.
        case atomic
        /// ``MyIncrementalStore``: values are read when they are asked for.
        case incremental
    }

    /// A file of invented songs to look at. It belongs to the program: open it read-only, or copy it first.
    public static var sampleFile: URL {
        Bundle.module.bundleURL.appendingPathComponent("Resources").appendingPathComponent("Songs.csv")
    }

    /// Makes both stores known to coordinators. ``open(csv:kind:isReadOnly:)`` does it by itself.
    public static func registerStores() {
        NSPersistentStoreCoordinator.registerStoreClass(MyAtomicStore.self, type: MyAtomicStore.storeType)
        NSPersistentStoreCoordinator.registerStoreClass(MyIncrementalStore.self, type: MyIncrementalStore.storeType)
    }

    /// Opens a file, or begins it where there is none.
    ///
    /// - Parameters:
    ///   - csv: the file.
    ///   - kind: the store to open it with.
    ///   - isReadOnly: whether it is opened for reading only.
    /// - Returns: a container with that one store; its store is `persistentStoreCoordinator.persistentStores[0]`.
    /// - Throws: ``SongFileError``, with the line and column where the file is not what it should be.
    public static func open(csv: URL, kind: Kind, isReadOnly: Bool = false) throws -> NSPersistentContainer {
        registerStores()
        let description =
            switch kind {
            case .atomic: MyAtomicStore.storeDescription(at: csv)
            case .incremental: MyIncrementalStore.storeDescription(at: csv)
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
