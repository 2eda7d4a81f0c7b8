public import CoreData

/// A band. Its properties have the names that Bandcamp gives them.
public class Band: NSManagedObject {
    /// The number under which Bandcamp knows the band.
    @NSManaged public var band_id: Int64
    /// The name of the band.
    @NSManaged public var name: String
    /// The band's own part of the address.
    @NSManaged public var subdomain: String?
    /// The band's page at Bandcamp.
    @NSManaged public var url: String?
    /// The band's own site elsewhere.
    @NSManaged public var offsite_url: String?
    /// The band's albums. The first look asks the service.
    @NSManaged public var discography: Set<Album>
}
