public import CoreData

/// Someone who works somewhere.
public class Employee: NSManagedObject {
    /// The name.
    @NSManaged public var name: String
    /// What the employee earns in a month.
    @NSManaged public var salary: Int64
    /// The first day at work.
    @NSManaged public var hired: Date?
    /// Where the employee works. The models of the first checkpoints do not have it.
    @NSManaged public var department: Department?
}
