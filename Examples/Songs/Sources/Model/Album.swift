public import CoreData

/// An album.
public class Album: NSManagedObject {
    /// What the album is known by, in the file too. It is set once, when the album is made.
    @NSManaged public var id: UUID
    /// The title of the album.
    @NSManaged public var title: String
    /// The year it came out; 0 where that is not known.
    @NSManaged public var year: Int16
    /// The songs on it.
    @NSManaged public var songs: Set<Song>

    /// Gives the new album its identity.
    public override func awakeFromInsert() {
        super.awakeFromInsert()
        id = UUID()
    }
}
