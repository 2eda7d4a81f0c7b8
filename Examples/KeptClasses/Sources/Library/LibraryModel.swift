import Catalogue
public import CoreData

/// The model as in a file of Xcode: with the names of classes, not the classes.
public enum LibraryModel {
    public static func make() -> NSManagedObjectModel {
        let artist = NSEntityDescription(name: "Artist", managedObjectClass: Artist.self)
        let band = NSEntityDescription(name: "Band", managedObjectClass: Band.self)
        artist.subentities = [band]
        let label = NSEntityDescription(name: "Label", managedObjectClass: Label.self)
        let album = NSEntityDescription(name: "Album")
        album.managedObjectClassName = "Library.CDAlbum"
        let track = NSEntityDescription(name: "Track")
        track.managedObjectClassName = "Library.Track"

        let labels = NSRelationshipDescription(name: "labels", destination: label, toMany: true)
        let artists = NSRelationshipDescription(name: "artists", destination: artist, toMany: true)
        labels.inverse(to: artists)
        let albumArtist = NSRelationshipDescription(name: "artist", destination: artist)
        let tracks = NSRelationshipDescription(name: "tracks", destination: track, toMany: true)
        tracks.isOrdered = true
        let trackAlbum = NSRelationshipDescription(name: "album", destination: album)
        tracks.inverse(to: trackAlbum)

        artist.properties = [
            attribute("name", .string), attribute("nickname", .string), attribute("genre", .integer16),
            attribute("secondGenre", .integer16),
            attribute("origin", .transformable), attribute("visits", .integer64), labels,
        ]
        band.properties = [attribute("members", .integer32)]
        label.properties = [attribute("title", .string), attribute("address", .uri), attribute("secret", .integer64), artists]
        album.properties = [
            attribute("title", .string), attribute("rating", .integer16), attribute("format", .integer32), albumArtist, tracks,
        ]
        track.properties = [attribute("title", .string), attribute("seconds", .integer32), trackAlbum]
        let review = NSEntityDescription(name: "Review", managedObjectClass: Review.self)
        review.properties = [
            attribute("verdict", .string), attribute("secret", .string), NSRelationshipDescription(name: "artist", destination: artist),
            NSRelationshipDescription(name: "album", destination: album),
        ]
        return NSManagedObjectModel(entities: [artist, band, label, album, track, review, specimen()])
    }

    private static func specimen() -> NSEntityDescription {
        let specimen = NSEntityDescription(name: "Specimen", managedObjectClass: Specimen.self)
        let matches = NSFetchedPropertyDescription()
        matches.name = "matches"
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = specimen
        request.predicate = NSPredicate(format: "text == $FETCH_SOURCE.optionalText")
        matches.fetchRequest = request
        specimen.properties = [
            attribute("flag", .boolean), attribute("small", .integer16), attribute("middle", .integer32), attribute("large", .integer64),
            attribute("number", .integer64), attribute("real", .double), attribute("float", .float), attribute("text", .string),
            attribute("date", .date), attribute("data", .binaryData), attribute("identifier", .uuid), attribute("address", .uri),
            attribute("decimal", .decimal), attribute("optionalText", .string), attribute("optionalDate", .date),
            attribute("boxedNumber", .double), attribute("boxedDecimal", .decimal), attribute("boxedText", .string),
            attribute("boxedDate", .date), attribute("boxedData", .binaryData), attribute("boxedIdentifier", .uuid),
            attribute("boxedAddress", .uri), attribute("words", .transformable), attribute("counts", .transformable),
            attribute("list", .transformable), attribute("table", .transformable), attribute("object", .transformable),
            attribute("anything", .transformable), attribute("style", .transformable), matches,
        ]
        return specimen
    }

    private static func attribute(_ name: String, _ type: NSAttributeDescription.AttributeType) -> NSAttributeDescription {
        NSAttributeDescription(name: name, type: type)
    }
}
