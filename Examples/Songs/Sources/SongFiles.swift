public import CoreData
internal import FileStores

/// The file of songs as a store of the product `FileStores`: all that must be said of it.
public enum SongFiles {
    /// Describes the store at a URL.
    public static func storeDescription(at csv: URL) -> NSPersistentStoreDescription {
        var layout = FileLayout()
        layout.entityColumn = "type"
        layout.versionColumn = "version"
        layout["Song"].columns = ["album": "album", "composers": "composers"]
        return CSVStore.description(at: csv, layout: layout)
    }
}
