public import CoreDataMacros

/// Provides the model of the library's classes, and a container for it.
public enum Library {
    /// Returns the model.
    public static func model() throws -> NSManagedObjectModel {
        let model = try NSManagedObjectModel(for: Album.self, SmartPlaylist.self, PlaybackEvent.self)
        model.versionIdentifiers = ["2"]
        return model
    }

    /// Returns an open library in memory.
    public static func open() throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: try model())
        container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        return container
    }
}
