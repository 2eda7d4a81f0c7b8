import CoreData
import RandomPrograms
import Testing

@Suite("Changes that a merge policy discards") struct DiscardedChangesTests {
    @Test(
        "A deletion that is discarded takes nothing out of what the store has", arguments: [ProgramStore.inMemory, .sqlite],
        [NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType])
    func deletion(_ store: ProgramStore, _ policy: NSMergePolicyType) throws {
        // In both orders, for the conflicts come in that of the changes.
        for deletesLast in [true, false] {
            let coordinator = try GivingWayModel.coordinator(store)
            let (first, second) = (GivingWayModel.context(coordinator, .errorMergePolicyType), GivingWayModel.context(coordinator, policy))
            try first.performAndWait {
                let (one, two) = (first.insert("Region", ["code": 1]), first.insert("Region", ["code": 2]))
                one.setValue(two, forKey: "next")
                try first.save()
            }
            try second.performAndWait {
                let (one, two) = try pair(second)
                try first.performAndWait {
                    let (one, two) = try pair(first)
                    two.setValue(one, forKey: "next")
                    try first.save()
                }
                two.setValue(one, forKey: "next")
                if deletesLast { two.setValue("changed", forKey: "name") }
                second.delete(one)
                second.processPendingChanges()
                two.setValue(two, forKey: "next")
                try second.save()
                #expect(!second.hasChanges)
                for context in [second, Music.context(coordinator)] {
                    try context.performAndWait {
                        let (one, two) = try pair(context)
                        for key in ["next", "previous"] {
                            #expect(one.value(forKey: key) as? NSManagedObject === two, "\(key), \(deletesLast)")
                            #expect(two.value(forKey: key) as? NSManagedObject === one, "\(key), \(deletesLast)")
                        }
                    }
                }
            }
        }
    }

    private func pair(_ context: NSManagedObjectContext) throws -> (NSManagedObject, NSManagedObject) {
        let found = try context.all("Thing").sorted { first, second in
            (first.value(forKey: "code") as! Int) < (second.value(forKey: "code") as! Int)
        }
        try #require(found.count == 2)
        return (found[0], found[1])
    }
}
