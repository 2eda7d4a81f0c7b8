public import CoreData

/// A song.
public class Song: NSManagedObject {
    /// What the song is known by, in the file too. It is set once, when the song is made.
    @NSManaged public var id: UUID
    /// The name of the song.
    @NSManaged public var name: String
    /// How long it takes, in seconds.
    @NSManaged public var duration: Double
    /// Its place on the album, from 1; 0 while it has none.
    @NSManaged public var trackNumber: Int16
    /// The words, on as many lines as they have.
    @NSManaged public var lyrics: String?
    /// The album it is on.
    @NSManaged public var album: Album?
    /// Those who wrote it.
    @NSManaged public var composers: Set<Composer>

    /// Gives the new song its identity.
    public override func awakeFromInsert() {
        super.awakeFromInsert()
        id = UUID()
    }
}
