public import CoreData

/// Bandcamp as an object graph: `Band` ⟷ `Album` ⟷ `Track`.
///
/// The model has the keys that every answer with an entity contains, so that an object is the same however it was reached. Keys that
/// Bandcamp sends in some answers only (`about`, `credits`, `lyrics`, the `artist` of an album) are not in it.
public enum BandcampModel {
    /// Creates the model, a new one for each call, because a model belongs to the coordinators created with it.
    public static func make() -> NSManagedObjectModel {
        let band = NSEntityDescription(name: "Band", managedObjectClass: Band.self)
        let album = NSEntityDescription(name: "Album", managedObjectClass: Album.self)
        let track = NSEntityDescription(name: "Track", managedObjectClass: Track.self)

        let discography = NSRelationshipDescription(name: "discography", destination: album, toMany: true)
        let albumBand = NSRelationshipDescription(name: "band", destination: band)
        discography.inverse(to: albumBand)
        let tracks = NSRelationshipDescription(name: "tracks", destination: track, toMany: true)
        let trackAlbum = NSRelationshipDescription(name: "album", destination: album)
        tracks.inverse(to: trackAlbum)

        band.properties = [
            number("band_id", .integer64), text("name", isOptional: false), text("subdomain"), text("url"), text("offsite_url"),
            discography,
        ]
        album.properties = [
            number("album_id", .integer64), number("band_id", .integer64), text("title", isOptional: false),
            NSAttributeDescription(name: "release_date", type: .date), number("downloadable", .integer16), text("url"),
            text("small_art_url"), text("large_art_url"), albumBand, tracks,
        ]
        track.properties = [
            number("track_id", .integer64), number("album_id", .integer64), number("band_id", .integer64), number("number", .integer16),
            text("title", isOptional: false), text("artist"), number("duration", .double), number("downloadable", .integer16), text("url"),
            text("streaming_url"), text("small_art_url"), text("large_art_url"), trackAlbum,
        ]
        return NSManagedObjectModel(entities: [band, album, track])
    }

    private static func text(_ name: String, isOptional: Bool = true) -> NSAttributeDescription {
        NSAttributeDescription(name: name, type: .string, isOptional: isOptional)
    }

    private static func number(_ name: String, _ type: NSAttributeDescription.AttributeType) -> NSAttributeDescription {
        NSAttributeDescription(name: name, type: type, isOptional: false, defaultValue: 0)
    }
}
