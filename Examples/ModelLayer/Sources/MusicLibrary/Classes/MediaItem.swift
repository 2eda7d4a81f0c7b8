import CoreData

@objc(MediaItem)
public class MediaItem: NSManagedObject {

    public override func awakeFromInsert() {
        super.awakeFromInsert()
        id = UUID()
        addedAt = Date()
    }
}
