public import CoreData

/// The models of the guide's checkpoints. Each call creates a new one.
public enum GuideModel {
    /// One entity, `Employee`: for fetches, faults, predicates and saves.
    public static func oneEntity() -> NSManagedObjectModel {
        let employee = employeeEntity()
        return NSManagedObjectModel(entities: [employee])
    }

    /// Two entities, and a to-one relationship from `Employee` to `Department` without an inverse.
    public static func toOne() -> NSManagedObjectModel {
        let (employee, department) = (employeeEntity(), departmentEntity())
        employee.properties.append(NSRelationshipDescription(name: "department", destination: department))
        return NSManagedObjectModel(entities: [department, employee])
    }

    /// Two entities, and a to-many relationship as the inverse of the to-one.
    public static func toMany() -> NSManagedObjectModel {
        let (employee, department) = (employeeEntity(), departmentEntity())
        let toOne = NSRelationshipDescription(name: "department", destination: department)
        let toMany = NSRelationshipDescription(name: "employees", destination: employee, toMany: true)
        toOne.inverse(to: toMany)
        employee.properties.append(toOne)
        department.properties.append(toMany)
        return NSManagedObjectModel(entities: [department, employee])
    }

    private static func employeeEntity() -> NSEntityDescription {
        NSEntityDescription(
            name: "Employee", managedObjectClass: Employee.self,
            properties: [
                NSAttributeDescription(name: "name", type: .string, isOptional: false),
                NSAttributeDescription(name: "salary", type: .integer64, isOptional: false, defaultValue: 0),
                NSAttributeDescription(name: "hired", type: .date),
            ])
    }

    private static func departmentEntity() -> NSEntityDescription {
        NSEntityDescription(
            name: "Department", managedObjectClass: Department.self,
            properties: [NSAttributeDescription(name: "name", type: .string, isOptional: false)])
    }
}
