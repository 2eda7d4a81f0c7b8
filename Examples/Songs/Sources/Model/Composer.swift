public import CoreData

/// A composer of songs.
public class Composer: NSManagedObject {
    /// The identifier of the composer, also in the file. It is set once, when the composer is inserted.
    @NSManaged public var id: UUID
    /// The name.
    @NSManaged public var name: String
    /// The songs that the composer wrote or co-wrote.
    @NSManaged public var songs: Set<Song>

    /// Assigns the identifier of a new composer.
    public override func awakeFromInsert() {
        super.awakeFromInsert()
        id = UUID()
    }
}
