import CoreData

@objc(Track)
@objcMembers
public final class Track: NSManagedObject {
    @NSManaged public var title: String, seconds: Int32
    @NSManaged public var album: Album!

    /// The line that a test expects.
    public func whereThisStands() -> (String, Int) { (#fileID, #line) }
}
