public import CoreData

/// An album of a band.
public class Album: NSManagedObject {
    /// The identifier of the album at Bandcamp.
    @NSManaged public var album_id: Int64
    /// The identifier of the band.
    @NSManaged public var band_id: Int64
    /// The title.
    @NSManaged public var title: String
    /// The release date. Bandcamp sends seconds since 1970.
    @NSManaged public var release_date: Date?
    /// 1 for a free album, 2 for one that is for sale.
    @NSManaged public var downloadable: Int16
    /// The URL of the album's page.
    @NSManaged public var url: String?
    /// The URL of a small picture of the cover.
    @NSManaged public var small_art_url: String?
    /// The URL of a large picture of the cover.
    @NSManaged public var large_art_url: String?
    /// The band of the album. It needs no request, because an album has a `band_id`.
    @NSManaged public var band: Band?
    /// The tracks. The first read sends a request.
    @NSManaged public var tracks: Set<Track>
}
