import CoreData

/// The target's options do not name this file.
@objc class Other: NSManagedObject {
    @NSManaged var title: NotWrittenYet
}
