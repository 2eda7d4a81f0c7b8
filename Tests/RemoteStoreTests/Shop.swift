import CoreData

/// The model of the tests: bands with albums with tracks, tags on albums, and an inheritance of people.
enum Shop {
    static func model() -> NSManagedObjectModel {
        let band = NSEntityDescription(name: "Band")
        let album = NSEntityDescription(name: "Album")
        let track = NSEntityDescription(name: "Track")
        let tag = NSEntityDescription(name: "Tag")
        let person = NSEntityDescription(name: "Person")
        let singer = NSEntityDescription(name: "Singer")

        let albums = NSRelationshipDescription(name: "albums", destination: album, toMany: true)
        let albumBand = NSRelationshipDescription(name: "band", destination: band)
        albums.inverse(to: albumBand)
        let tracks = NSRelationshipDescription(
            name: "tracks", destination: track, toMany: true, isOrdered: true, deleteRule: .cascadeDeleteRule)
        let trackAlbum = NSRelationshipDescription(name: "album", destination: album)
        tracks.inverse(to: trackAlbum)
        let tags = NSRelationshipDescription(name: "tags", destination: tag, toMany: true)
        let tagged = NSRelationshipDescription(name: "albums", destination: album, toMany: true)
        tags.inverse(to: tagged)
        let writer = NSRelationshipDescription(name: "writer", destination: person)
        let wrote = NSRelationshipDescription(name: "wrote", destination: track, toMany: true)
        writer.inverse(to: wrote)

        band.properties = [
            NSAttributeDescription(name: "name", type: .string), NSAttributeDescription(name: "founded", type: .date), albums,
        ]
        album.properties = [
            NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "year", type: .integer64),
            NSAttributeDescription(name: "rating", type: .double), NSAttributeDescription(name: "isLive", type: .boolean),
            NSAttributeDescription(name: "notes", type: .string), albumBand, tracks, tags,
        ]
        track.properties = [
            NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "seconds", type: .integer64),
            trackAlbum, writer,
        ]
        tag.properties = [NSAttributeDescription(name: "label", type: .string), tagged]
        person.properties = [NSAttributeDescription(name: "name", type: .string), wrote]
        singer.properties = [NSAttributeDescription(name: "voice", type: .string)]
        person.subentities = [singer]
        return NSManagedObjectModel(entities: [band, album, track, tag, person, singer])
    }
}
