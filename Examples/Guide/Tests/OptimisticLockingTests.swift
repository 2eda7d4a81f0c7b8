import CoreData
import Guide
import Testing

struct OptimisticLockingTests {
    /// Two contexts of one coordinator, or of two, as in two processes.
    enum Pair: CaseIterable, Sendable { case oneCoordinator, twoCoordinators }

    /// Lets two contexts read Ada; the first raises her salary and saves, the second has renamed her when `body` is called.
    private func conflict(
        _ pair: Pair, firstDeletes: Bool = false, _ body: (Stack, String, NSManagedObjectContext, Employee) throws -> Void
    ) throws {
        let stack = try Stack()
        let key = stack.populate()[0]
        let other = pair == .oneCoordinator ? stack : try stack.another(GuideModel.oneEntity())
        let (first, second) = (stack.context(), other.context())
        try second.performAndWait {
            let ada = try second.employee("Ada")
            ada.name = "Ada Second"
            try first.performAndWait {
                let ada = try first.employee("Ada")
                if firstDeletes { first.delete(ada) } else { ada.salary = 6000 }
                try first.save()
            }
            try body(stack, key, second, ada)
        }
    }

    @Test(arguments: Pair.allCases)
    func theSecondOfTwoContextsThatEditOneRowFailsWithBothVersions(pair: Pair) throws {
        try conflict(pair) { stack, key, context, ada in
            // However often it is tried.
            for _ in 1...2 {
                let error = try #require(failure { try context.save() } as NSError?)
                #expect(error.domain == NSCocoaErrorDomain)
                #expect(error.code == 133020)
                let conflicts = try #require(error.userInfo["conflictList"] as? [NSMergeConflict])
                #expect(conflicts.map(\.sourceObject) == [ada])
                #expect(conflicts[0].oldVersionNumber == 1)
                #expect(conflicts[0].newVersionNumber == 2)
                #expect(conflicts[0].objectSnapshot?["salary"] as? Int == 5200)
                #expect(conflicts[0].persistedSnapshot?["salary"] as? Int == 6000)
                #expect(error.localizedDescription.contains("version 1") && error.localizedDescription.contains("version 2"))
            }
            #expect(context.hasChanges)
            #expect(stack.database.peek("Employee", key)?.columns["name"] == .text("Ada"))
        }
    }

    @Test(arguments: Pair.allCases)
    func theConflictIsSettledByTheMergePolicy(pair: Pair) throws {
        try conflict(pair) { stack, key, context, ada in
            context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
            try context.save()
            #expect(ada.name == "Ada Second")
            #expect(ada.salary == 6000)
            let row = try #require(stack.database.peek("Employee", key))
            #expect(row.version == 3)
            #expect(row.columns["name"] == .text("Ada Second"))
            #expect(row.columns["salary"] == .integer(6000))
            ada.salary = 7000
            try context.save()
            #expect(stack.database.peek("Employee", key)?.version == 4)
        }
    }

    @Test(arguments: Pair.allCases)
    func theConflictIsRolledBackByTheMergePolicy(pair: Pair) throws {
        try conflict(pair) { stack, key, context, ada in
            context.mergePolicy = NSRollbackMergePolicy
            try context.save()
            #expect(ada.name == "Ada")
            #expect(ada.salary == 6000)
            #expect(stack.database.peek("Employee", key)?.version == 2)
        }
    }

    @Test(arguments: Pair.allCases)
    func aRowThatWasDeletedIsAConflictWithVersion0(pair: Pair) throws {
        try conflict(pair, firstDeletes: true) { _, _, context, _ in
            let error = try #require(failure { try context.save() } as NSError?)
            #expect(error.code == 133020)
            #expect((error.userInfo["conflictList"] as? [NSMergeConflict])?.map(\.newVersionNumber) == [0])
        }
    }

    @Test func aNewRowHasVersion1AndEachUpdateCountsItUp() throws {
        let stack = try Stack()
        let key = try stack.run { context in
            let employee = Employee(context: context)
            employee.name = "New"
            try context.save()
            let key = try #require(stack.store.referenceObject(for: employee.objectID) as? String)
            #expect(stack.database.peek("Employee", key)?.version == 1)
            for round in 1...10 {
                employee.salary = Int64(round)
                try context.save()
            }
            return key
        }
        #expect(stack.database.peek("Employee", key)?.version == 11)
    }

    @Test func theVersionOfALockedObjectIsCountedUpThoughItDoesNotChange() throws {
        let stack = try Stack()
        let key = stack.populate()[0]
        let before = stack.database.peek("Employee", key)
        try stack.run { context in
            let ada = try context.employee("Ada")
            #expect(ada.salary == 5200)
            let request = NSSaveChangesRequest(inserted: nil, updated: nil, deleted: nil, locked: [ada])
            _ = try stack.coordinator.execute(request, with: context)
        }
        let after = stack.database.peek("Employee", key)
        #expect(after?.version == 2)
        #expect(after?.columns == before?.columns)
    }
}
