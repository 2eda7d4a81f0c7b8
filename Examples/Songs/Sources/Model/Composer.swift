public import CoreData

/// Someone who writes songs.
public class Composer: NSManagedObject {
    /// What the composer is known by, in the file too. It is set once, when the composer is made.
    @NSManaged public var id: UUID
    /// The name.
    @NSManaged public var name: String
    /// The songs that this composer wrote or helped to write.
    @NSManaged public var songs: Set<Song>

    /// Gives the new composer an identity.
    public override func awakeFromInsert() {
        super.awakeFromInsert()
        id = UUID()
    }
}
