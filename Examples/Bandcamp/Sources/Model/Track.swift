public import CoreData

/// A track of an album.
public class Track: NSManagedObject {
    /// The identifier of the track at Bandcamp.
    @NSManaged public var track_id: Int64
    /// The identifier of the album.
    @NSManaged public var album_id: Int64
    /// The identifier of the album's band.
    @NSManaged public var band_id: Int64
    /// The position on the album, from 1.
    @NSManaged public var number: Int16
    /// The title.
    @NSManaged public var title: String
    /// The artist, if it is not the band.
    @NSManaged public var artist: String?
    /// The length in seconds.
    @NSManaged public var duration: Double
    /// 1 for a free track, 2 for one that is for sale.
    @NSManaged public var downloadable: Int16
    /// The track's page, as a path on the band's site.
    @NSManaged public var url: String?
    /// The URL of the audio stream.
    @NSManaged public var streaming_url: String?
    /// The URL of a small picture of the cover.
    @NSManaged public var small_art_url: String?
    /// The URL of a large picture of the cover.
    @NSManaged public var large_art_url: String?
    /// The album of the track. It needs no request, because a track has an `album_id`.
    @NSManaged public var album: Album?
}
