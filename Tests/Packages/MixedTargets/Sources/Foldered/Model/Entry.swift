import CoreData
import Foundation

@objc(Entry)
public class Entry: NSManagedObject {
    public var feeling: Mood { Mood(rawValue: mood) ?? .calm }
}
