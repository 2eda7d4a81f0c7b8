import CoreData

@objc(Draft) class Draft: NSManagedObject {
    @NSManaged var title: NotWrittenYet
}
