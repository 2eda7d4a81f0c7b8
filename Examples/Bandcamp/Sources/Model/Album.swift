public import CoreData

/// An album of a band.
public class Album: NSManagedObject {
    /// The number under which Bandcamp knows the album.
    @NSManaged public var album_id: Int64
    /// The number of the band that made it.
    @NSManaged public var band_id: Int64
    /// The title.
    @NSManaged public var title: String
    /// The day it came out. Bandcamp sends seconds since 1970.
    @NSManaged public var release_date: Date?
    /// 1 when it can be had for nothing, 2 when it is for sale.
    @NSManaged public var downloadable: Int16
    /// The album's page.
    @NSManaged public var url: String?
    /// Where a small picture of the cover is.
    @NSManaged public var small_art_url: String?
    /// Where a large picture of the cover is.
    @NSManaged public var large_art_url: String?
    /// The band that made it. Which one it is costs no request, for an album comes with its `band_id`.
    @NSManaged public var band: Band?
    /// The tracks. The first look asks the service.
    @NSManaged public var tracks: Set<Track>
}
