public import CoreData

/// An employee.
public class Employee: NSManagedObject {
    /// The name.
    @NSManaged public var name: String
    /// The monthly salary.
    @NSManaged public var salary: Int64
    /// The date of hiring.
    @NSManaged public var hired: Date?
    /// The department. The models of the first checkpoints do not have it.
    @NSManaged public var department: Department?
}
