import CoreData

@objc(Artist)
public class Artist: NSManagedObject {

    @NSManaged public var name: String
    @NSManaged public var website: URL?
    @NSManaged public var albums: Set<Album>

    @NSManaged public func addToAlbums(_ value: Album)
    @NSManaged public func removeFromAlbums(_ value: Album)

    public class func request(named name: String) -> NSFetchRequest<Artist> {
        let request = NSFetchRequest<Artist>(entityName: "Artist")
        request.predicate = NSPredicate(format: "%K == %@", #keyPath(Artist.name), name)
        request.fetchLimit = 1
        return request
    }
}

extension Artist {

    /// The albums, newest first.
    public var discography: [Album] {
        return albums.sorted { ($0.releaseDate ?? .distantPast) > ($1.releaseDate ?? .distantPast) }
    }
}
