package import CoreData

/// The model of random programs over lists: bands, some of them duos, with albums with tracks in order, and tags on albums.
package enum ListModel {
    package static func make() -> NSManagedObjectModel {
        let band = NSEntityDescription(name: "Band")
        let duo = NSEntityDescription(name: "Duo")
        let album = NSEntityDescription(name: "Album")
        let single = NSEntityDescription(name: "Single")
        let track = NSEntityDescription(name: "Track")
        let tag = NSEntityDescription(name: "Tag")
        let albums = NSRelationshipDescription(name: "albums", destination: album, toMany: true, deleteRule: .cascadeDeleteRule)
        let albumBand = NSRelationshipDescription(name: "band", destination: band)
        (albums.inverseRelationship, albumBand.inverseRelationship) = (albumBand, albums)
        let tracks = NSRelationshipDescription(
            name: "tracks", destination: track, toMany: true, isOrdered: true, deleteRule: .cascadeDeleteRule)
        let trackAlbum = NSRelationshipDescription(name: "album", destination: album)
        (tracks.inverseRelationship, trackAlbum.inverseRelationship) = (trackAlbum, tracks)
        let tags = NSRelationshipDescription(name: "tags", destination: tag, toMany: true)
        let tagged = NSRelationshipDescription(name: "albums", destination: album, toMany: true)
        (tags.inverseRelationship, tagged.inverseRelationship) = (tagged, tags)

        band.properties = [NSAttributeDescription(name: "name", type: .string, isOptional: false), albums]
        duo.properties = [NSAttributeDescription(name: "second", type: .string)]
        band.subentities = [duo]
        album.properties = [
            NSAttributeDescription(name: "title", type: .string, isOptional: false, defaultValue: "Untitled"),
            NSAttributeDescription(name: "year", type: .integer16, defaultValue: 2001),
            NSAttributeDescription(name: "rating", type: .double), albumBand, tracks, tags,
        ]
        single.properties = [NSAttributeDescription(name: "side", type: .string)]
        album.subentities = [single]
        track.properties = [
            NSAttributeDescription(name: "title", type: .string),
            NSAttributeDescription(name: "seconds", type: .integer32, isOptional: false, defaultValue: 0), trackAlbum,
        ]
        tag.properties = [NSAttributeDescription(name: "label", type: .string), tagged]
        return NSManagedObjectModel(entities: [band, duo, album, single, track, tag])
    }
}
