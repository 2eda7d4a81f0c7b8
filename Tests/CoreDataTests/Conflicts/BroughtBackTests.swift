import CoreData
import RandomPrograms
import TestSupport
import Testing

@Suite("Objects that others have deleted and that come back") struct BroughtBackTests {
    @Test(
        "An object that two contexts bring back after its deletion is brought back once, with the changes of both",
        arguments: [ProgramStore.inMemory, .sqlite],
        [NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType])
    func broughtBackTwice(_ store: ProgramStore, _ type: NSMergePolicyType) throws {
        let coordinator = try GivingWayModel.coordinator(store)
        let deleting = GivingWayModel.context(coordinator, .errorMergePolicyType)
        let (first, second) = (GivingWayModel.context(coordinator, type), GivingWayModel.context(coordinator, type))
        try deleting.performAndWait {
            _ = deleting.insert("Region", ["code": 1, "name": "old", "label": 5])
            try deleting.save()
        }
        try first.performAndWait { try #require(try first.all("Thing").first).setValue(7, forKey: "label") }
        let policy = InterruptedPolicy(merge: type)
        // Between the two attempts of the second save.
        policy.afterwards = { try? first.performAndWait { try first.save() } }
        second.mergePolicy = policy
        try second.performAndWait {
            let mine = try #require(try second.all("Thing").first)
            mine.setValue("mine", forKey: "name")
            try deleting.performAndWait {
                deleting.delete(try #require(try deleting.all("Thing").first))
                try deleting.save()
            }
            try second.save()
            #expect(!second.hasChanges && !mine.isInserted)
            let reader = Music.context(coordinator)
            try reader.performAndWait {
                let found = try reader.all("Thing")
                expect(found.count, equals: 1)
                expect(found.first?.value(forKey: "name") as? String, equals: "mine")
                expect(found.first?.value(forKey: "label") as? Int, equals: (type == .overwriteMergePolicyType ? 5 : 7))
            }
            #expect(policy.afterwards == nil)
        }
    }
}

extension BroughtBackTests {
    @Test(
        "An object that is brought back has both ends of the relationships that it was given meanwhile",
        arguments: [ProgramStore.inMemory, .sqlite, .incremental])
    func relationships(_ store: ProgramStore) throws {
        let coordinator = try GivingWayModel.coordinator(store)
        let keeping = GivingWayModel.context(coordinator, .overwriteMergePolicyType)
        let deleting = GivingWayModel.context(coordinator, .errorMergePolicyType)
        deleting.automaticallyMergesChangesFromParent = true
        try keeping.performAndWait {
            let thing = keeping.insert("Region", ["code": 1])
            try keeping.save()
            try deleting.performAndWait {
                let shown = try #require(try deleting.all("Thing").first)
                _ = shown.value(forKey: "likes")
                deleting.delete(shown)
                thing.setValue(Set([thing]), forKey: "likes")
                try deleting.save()
            }
            try keeping.save()
        }
        try deleting.performAndWait {
            let found = try #require(try deleting.all("Thing").first)
            expect(found.value(forKey: "likes") as? Set<NSManagedObject>, equals: [found])
            expect(found.value(forKey: "likedBy") as? Set<NSManagedObject>, equals: [found])
        }
    }
}

/// Resolves conflicts like its type, and runs something once afterwards.
// Used on the queue of one context.
private final class InterruptedPolicy: NSMergePolicy, @unchecked Sendable {
    /// Used on the queue of one context.
    var afterwards: (() -> Void)?

    override func resolve(mergeConflicts list: [Any]) throws {
        try super.resolve(mergeConflicts: list)
        afterwards?()
        afterwards = nil
    }
}
