public import CoreData

/// An album.
public class Album: NSManagedObject {
    /// The identifier of the album, also in the file. It is set once, when the album is inserted.
    @NSManaged public var id: UUID
    /// The title of the album.
    @NSManaged public var title: String
    /// The year of release; 0 if it is unknown.
    @NSManaged public var year: Int16
    /// The songs of the album.
    @NSManaged public var songs: Set<Song>

    /// Assigns the identifier of a new album.
    public override func awakeFromInsert() {
        super.awakeFromInsert()
        id = UUID()
    }
}
