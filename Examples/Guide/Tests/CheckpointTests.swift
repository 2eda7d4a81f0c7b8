import CoreData
import Guide
import Testing

/// The checkpoints of the guide, in its order.
struct CheckpointTests {
    /// Checkpoint 1. Setup: one entity, and several rows in the database.
    ///
    /// Test: a simple fetch request for all objects of the entity gives objects with valid IDs, all of them faults.
    @Test func theStoreRespondsToFetchRequestsWithFaults() throws {
        let stack = try Stack()
        let keys = stack.populate()
        try stack.run { context in
            let employees = try context.employees()
            #expect(employees.count == 4)
            #expect(employees.allSatisfy { $0.isFault && !$0.objectID.isTemporaryID && $0.objectID.persistentStore === stack.store })
            #expect(employees.map { stack.store.referenceObject(for: $0.objectID) as? String } == keys)
            #expect(Set(employees.map(\.objectID)).count == 4)
        }
    }

    /// Checkpoint 2. Setup: one entity, and several rows in the database.
    ///
    /// Test: the fetch alone fires no fault; looking at a value does.
    @Test func theStoreFulfillsAttributeFaultsWhenValuesAreInspectedAndNotBefore() throws {
        let stack = try Stack()
        let keys = stack.populate()
        try stack.run { context in
            let employees = try context.employees()
            #expect(stack.database.calls.rows == 0)
            #expect(stack.store.calls.filter { $0.registeredIDs.isEmpty } == [.loadMetadata, .fetch("Employee")])
            #expect(employees[1].name == "Bo")
            #expect(employees[1].salary == 3100)
            #expect(employees[1].hired == Date(timeIntervalSince1970: 86_400 * 365))
            #expect(stack.database.calls.rows == 1)
            #expect(stack.store.calls.last == .values(keys[1]))
            #expect(employees.map(\.isFault) == [true, false, true, true])
        }
    }

    /// Checkpoint 3. Setup: one entity, and several rows in the database.
    ///
    /// Test: fetch requests with predicates and sort descriptors give the right objects in the right order.
    @Test func theStoreExecutesFetchRequestsWithSortDescriptorsAndScopeModifiers() throws {
        let stack = try Stack()
        stack.populate()
        try stack.run { context in
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.predicate = NSPredicate(format: "salary > %d", 3500)
            request.sortDescriptors = [NSSortDescriptor(key: "salary", ascending: false)]
            let sorted = try context.fetch(request)
            #expect(sorted.allSatisfy { $0.isFault })
            // One request for the table, none for single rows.
            #expect(stack.database.calls == XYZDatabase.Calls(tables: 1))
            #expect(sorted.map(\.name) == ["Ada", "Cleo", "Dov"])

            request.fetchOffset = 1
            request.fetchLimit = 1
            try #expect(context.fetch(request).map(\.name) == ["Cleo"])
            try #expect(context.count(for: request) == 1)
            try #expect(
                context.employees(NSPredicate(format: "name IN %@ OR hired > %@", ["Bo"], Date(timeIntervalSince1970: 90_000_000)))
                    .map(\.name) == ["Bo", "Dov"])
            try #expect(context.employees(NSPredicate(format: "SELF == %@", sorted[0])) == [sorted[0]])
            try #expect(context.employees(NSPredicate(format: "NOT (name LIKE '*o*')"), by: "name").map(\.name) == ["Ada"])
        }
    }

    /// Checkpoint 4. Setup: two entities, and several rows in the database.
    ///
    /// Test: managed objects are created, their properties set, and the context saved; fetched again they are there.
    @Test func objectsAreCreatedChangedAndDeleted() throws {
        let stack = try Stack(GuideModel.toOne())
        let keys = stack.populate()
        try stack.run { context in
            let eve = Employee(context: context)
            eve.name = "Eve"
            eve.salary = 6000
            let sales = Department(context: context)
            sales.name = "Sales"
            let bo = try context.employee("Bo")
            bo.salary += 200
            bo.hired = nil
            context.delete(try context.employee("Dov"))
            try context.save()
            #expect(!eve.objectID.isTemporaryID)
            #expect(!context.hasChanges)
        }
        #expect(stack.database.peek("Employee", keys[1])?.version == 2)
        #expect(stack.database.peek("Employee", keys[1])?.columns["hired"] == nil)
        #expect(stack.database.peek("Employee", keys[3]) == nil)
        try stack.another(GuideModel.toOne()).run { context in
            try #expect(context.employees(by: "name").map(\.name) == ["Ada", "Bo", "Cleo", "Eve"])
            try #expect(context.employee("Bo").salary == 3300)
            try #expect(context.employee("Bo").hired == nil)
            let eve = try context.employee("Eve")
            #expect(eve.salary == 6000)
            #expect(stack.store.baseVersion(of: eve) == 1)
            try #expect(context.department("Sales").name == "Sales")
        }
    }

    /// Checkpoint 5. Setup: two entities, and several rows in the database.
    ///
    /// Test: a to-one relationship between the two can be created, removed and persisted.
    @Test func aToOneRelationshipIsCreatedPersistedAndRemoved() throws {
        let stack = try Stack(GuideModel.toOne())
        let keys = stack.populate()
        let sales = stack.database.populate("Department", ["name": .text("Sales")])
        try stack.run { context in
            try context.employee("Ada").department = try context.department("Sales")
            try context.save()
        }
        #expect(stack.database.peek("Employee", keys[0])?.columns["department"] == .key(sales))
        let other = try stack.another(GuideModel.toOne())
        try other.run { context in
            let ada = try context.employee("Ada")
            let rows = other.database.calls.rows
            let department = try #require(ada.department)
            #expect(department.isFault)
            #expect(department.name == "Sales")
            // The relationship came with the attributes: one row for each object.
            #expect(other.database.calls.rows == rows + 2)
            try #expect(context.employees(NSPredicate(format: "department.name == 'Sales'")) == [ada])
            try #expect(context.employees(NSPredicate(format: "department == nil")).count == 3)
            ada.department = nil
            try context.save()
        }
        #expect(stack.database.peek("Employee", keys[0])?.columns["department"] == nil)
        try stack.another(GuideModel.toOne()).run { context in try #expect(context.employee("Ada").department == nil) }
    }

    /// Checkpoint 6. Setup: two entities, a to-many relationship as the inverse of the to-one, and several rows in the database.
    ///
    /// Test: objects can be added to and removed from the relationship, and the database has it.
    @Test func aToManyRelationshipFollowsItsInverseAndIsPersisted() throws {
        let stack = try Stack(GuideModel.toMany())
        let keys = stack.populate()
        let sales = stack.database.populate("Department", ["name": .text("Sales")])
        try stack.run { context in
            let department = try context.department("Sales")
            let (ada, bo) = (try context.employee("Ada"), try context.employee("Bo"))
            ada.department = department
            #expect(department.employees == [ada])
            department.employees.insert(bo)
            #expect(bo.department == department)
            try context.save()
        }
        #expect(stack.database.peek("Employee", keys[1])?.columns["department"] == .key(sales))
        let other = try stack.another(GuideModel.toMany())
        try other.run { context in
            let department = try context.department("Sales")
            #expect(department.name == "Sales")
            #expect(!other.store.calls.contains(.relationship("employees", of: sales)))
            #expect(Set(department.employees.map(\.name)) == ["Ada", "Bo"])
            #expect(other.store.calls.contains(.relationship("employees", of: sales)))
            try #expect(context.employees(NSPredicate(format: "department.employees.@count == 2")).count == 2)

            let ada = try context.employee("Ada")
            department.employees.remove(ada)
            #expect(ada.department == nil)
            department.employees.insert(try context.employee("Cleo"))
            try context.save()
        }
        #expect(stack.database.peek("Employee", keys[0])?.columns["department"] == nil)
        // The relationship has no order, and so the column has any.
        let column = stack.database.peek("Department", sales)?.columns["employees"]
        #expect(column == .keys([keys[1], keys[2]]) || column == .keys([keys[2], keys[1]]))
        try stack.another(GuideModel.toMany()).run { context in
            try #expect(Set(context.department("Sales").employees.map(\.name)) == ["Bo", "Cleo"])
            context.delete(try context.department("Sales"))
            try context.save()
            try #expect(context.employees().allSatisfy { $0.department == nil })
        }
    }
}
