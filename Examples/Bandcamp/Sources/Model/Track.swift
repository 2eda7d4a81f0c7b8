public import CoreData

/// A track of an album.
public class Track: NSManagedObject {
    /// The number under which Bandcamp knows the track.
    @NSManaged public var track_id: Int64
    /// The number of the album it is on.
    @NSManaged public var album_id: Int64
    /// The number of the band whose album that is.
    @NSManaged public var band_id: Int64
    /// The place on the album, from 1.
    @NSManaged public var number: Int16
    /// The title.
    @NSManaged public var title: String
    /// Who plays it, when that is not the band alone.
    @NSManaged public var artist: String?
    /// The length in seconds.
    @NSManaged public var duration: Double
    /// 1 when it can be had for nothing, 2 when it is for sale.
    @NSManaged public var downloadable: Int16
    /// The track's page, as a path on the band's site.
    @NSManaged public var url: String?
    /// Where it can be listened to.
    @NSManaged public var streaming_url: String?
    /// Where a small picture of the cover is.
    @NSManaged public var small_art_url: String?
    /// Where a large picture of the cover is.
    @NSManaged public var large_art_url: String?
    /// The album it is on. Which one it is costs no request, for a track comes with its `album_id`.
    @NSManaged public var album: Album?
}
