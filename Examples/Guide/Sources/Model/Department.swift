public import CoreData

/// A place to work.
public class Department: NSManagedObject {
    /// The name.
    @NSManaged public var name: String
    /// Who works there. Only the model of the last checkpoint has it.
    @NSManaged public var employees: Set<Employee>
}
