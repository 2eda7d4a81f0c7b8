public import CoreData

/// The model of songs, their albums and their composers: `Album` ⟷ `Song` ⟷⟷ `Composer`.
public enum SongModel {
    /// The user-info key of relationships with a column in the file. Their inverses are derived from the column.
    static let columnKey = "hasColumn"

    /// Creates the model, a new one for each call, because a model belongs to the coordinators created with it.
    public static func make() -> NSManagedObjectModel {
        let song = NSEntityDescription(name: "Song", managedObjectClass: Song.self)
        let album = NSEntityDescription(name: "Album", managedObjectClass: Album.self)
        let composer = NSEntityDescription(name: "Composer", managedObjectClass: Composer.self)

        let songAlbum = NSRelationshipDescription(name: "album", destination: album)
        let albumSongs = NSRelationshipDescription(name: "songs", destination: song, toMany: true)
        songAlbum.inverse(to: albumSongs)
        let songComposers = NSRelationshipDescription(name: "composers", destination: composer, toMany: true)
        let composerSongs = NSRelationshipDescription(name: "songs", destination: song, toMany: true)
        songComposers.inverse(to: composerSongs)
        for relationship in [songAlbum, songComposers] { relationship.userInfo = [columnKey: true] }

        song.properties = [
            identifier(), text("name"), number("duration", .double), number("trackNumber", .integer16),
            NSAttributeDescription(name: "lyrics", type: .string), songAlbum, songComposers,
        ]
        album.properties = [identifier(), text("title"), number("year", .integer16), albumSongs]
        composer.properties = [identifier(), text("name"), composerSongs]
        return NSManagedObjectModel(entities: [album, composer, song])
    }

    private static func identifier() -> NSAttributeDescription {
        NSAttributeDescription(name: "id", type: .uuid, isOptional: false)
    }

    private static func text(_ name: String) -> NSAttributeDescription {
        NSAttributeDescription(name: name, type: .string, isOptional: false)
    }

    private static func number(_ name: String, _ type: NSAttributeDescription.AttributeType) -> NSAttributeDescription {
        NSAttributeDescription(name: name, type: type, isOptional: false, defaultValue: 0)
    }
}
