public import CoreData

/// A song.
public class Song: NSManagedObject {
    /// The identifier of the song, also in the file. It is set once, when the song is inserted.
    @NSManaged public var id: UUID
    /// The name of the song.
    @NSManaged public var name: String
    /// The duration in seconds.
    @NSManaged public var duration: Double
    /// The position on the album, from 1; 0 for none.
    @NSManaged public var trackNumber: Int16
    /// The lyrics, with line breaks.
    @NSManaged public var lyrics: String?
    /// The album of the song.
    @NSManaged public var album: Album?
    /// The composers of the song.
    @NSManaged public var composers: Set<Composer>

    /// Assigns the identifier of a new song.
    public override func awakeFromInsert() {
        super.awakeFromInsert()
        id = UUID()
    }
}
