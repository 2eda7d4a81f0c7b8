import CoreData
import Guide
import Testing

struct ErrorTests {
    struct Outage: Error, Equatable { let number: Int }

    @Test func anErrorOfTheDatabaseReachesTheCallerOfFetchUnchanged() throws {
        let stack = try Stack()
        stack.populate()
        try stack.run { context in
            stack.database.failNext(with: Outage(number: 1))
            #expect(throws: Outage(number: 1)) { _ = try context.employees() }
            try #expect(context.employees().count == 4)
            stack.database.failNext(with: Outage(number: 2))
            #expect(throws: Outage(number: 2)) { _ = try context.employees(by: "name") }
        }
    }

    @Test func anErrorOfTheDatabaseReachesTheCallerOfSaveUnchangedAndTheChangesStay() throws {
        let stack = try Stack()
        let keys = stack.populate()
        try stack.run { context in
            let ada = try context.employee("Ada")
            ada.salary = 1
            stack.database.failNext(with: Outage(number: 3))
            #expect(throws: Outage(number: 3)) { try context.save() }
            #expect(context.hasChanges)
            #expect(stack.database.peek("Employee", keys[0])?.columns["salary"] == .integer(5200))
            // The second save is the same one, and finds the database well.
            try context.save()
            #expect(stack.database.peek("Employee", keys[0])?.columns["salary"] == .integer(1))
        }
    }

    @Test func anErrorInObtainingPermanentIDsLeavesTheNewObjectsTemporary() throws {
        let stack = try Stack()
        try stack.run { context in
            let employee = Employee(context: context)
            employee.name = "New"
            stack.database.failNext(with: Outage(number: 4))
            #expect(throws: Outage(number: 4)) { try context.save() }
            #expect(employee.objectID.isTemporaryID)
            #expect(employee.isInserted)
            #expect(stack.database.calls.commits == 0)
            try context.save()
            #expect(!employee.objectID.isTemporaryID)
        }
    }

    @Test func anErrorOfAFiringFaultReachesTheNextThrowingCall() throws {
        let stack = try Stack()
        stack.populate()
        try stack.run { context in
            let employee = try context.employees()[0]
            stack.database.failNext(with: Outage(number: 5))
            #expect(employee.name.isEmpty)
            #expect(employee.isFault)
            #expect(throws: Outage(number: 5)) { try context.save() }
            context.refresh(employee, mergeChanges: true)
            #expect(employee.name == "Ada")
            stack.database.failNext(with: Outage(number: 6))
            #expect(throws: Outage(number: 6)) { try context.employees()[1].fulfillFault() }
        }
    }

    @Test func aRowThatIsGoneIsAnErrorThatNamesTheObject() throws {
        let stack = try Stack()
        stack.populate()
        try stack.run { context in
            let employee = try context.employees()[0]
            let other = try stack.another(GuideModel.oneEntity())
            try other.run { others in
                others.delete(try others.employee("Ada"))
                try others.save()
            }
            let error = failure { _ = try context.existingObject(with: employee.objectID) } as NSError?
            #expect(error?.code == NSManagedObjectReferentialIntegrityError)
            #expect(error?.localizedDescription.contains("Employee") == true)
        }
    }

    @Test func aFetchOfDictionariesIsRefusedNotAnsweredWrongly() throws {
        let stack = try Stack()
        stack.populate()
        try stack.run { context in
            let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
            request.resultType = .dictionaryResultType
            #expect(throws: IncrementalStoreError.invalidRequest) { _ = try context.fetch(request) }
        }
    }

    @Test func aSortDescriptorWithoutAKeyIsRefused() throws {
        let stack = try Stack()
        stack.populate()
        try stack.run { context in
            let request = NSFetchRequest<Employee>(entityName: "Employee")
            request.sortDescriptors = [NSSortDescriptor(keyPath: \Employee.salary, ascending: true)]
            let salaries = try context.fetch(request).map(\.salary)
            #expect(salaries == salaries.sorted())
            request.sortDescriptors = [NSSortDescriptor(key: nil, ascending: true) { _, _ in .orderedSame }]
            #expect(throws: IncrementalStoreError.unsupportedSortDescriptor) { _ = try context.fetch(request) }
        }
    }

    @Test func aPredicateWithAnUnknownKeyIsAnErrorThatNamesIt() throws {
        let stack = try Stack()
        stack.populate()
        try stack.run { context in
            let error = try #require(failure { _ = try context.employees(NSPredicate(format: "shoeSize > 40")) })
            #expect("\(error)".contains("shoeSize"))
        }
    }
}
