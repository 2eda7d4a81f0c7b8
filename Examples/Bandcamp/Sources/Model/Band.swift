public import CoreData

/// A band. Its properties have Bandcamp's names.
public class Band: NSManagedObject {
    /// The identifier of the band at Bandcamp.
    @NSManaged public var band_id: Int64
    /// The name of the band.
    @NSManaged public var name: String
    /// The band's subdomain.
    @NSManaged public var subdomain: String?
    /// The URL of the band's page at Bandcamp.
    @NSManaged public var url: String?
    /// The URL of the band's own site.
    @NSManaged public var offsite_url: String?
    /// The albums of the band. The first read sends a request.
    @NSManaged public var discography: Set<Album>
}
