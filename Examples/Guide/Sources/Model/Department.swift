public import CoreData

/// A department.
public class Department: NSManagedObject {
    /// The name.
    @NSManaged public var name: String
    /// The employees. Only the model of the last checkpoint has them.
    @NSManaged public var employees: Set<Employee>
}
