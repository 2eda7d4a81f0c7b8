import CoreData
import Foundation
import RandomPrograms
import TestSupport
import Testing

@Suite("References to objects that a save does not have") struct DanglingReferenceTests {
    enum Target: CaseIterable {
        case inNoContext, ofAnotherContext, ofAnotherCoordinator, ofAContextThatIsGone, deleted, deletedBeforeItWasSaved, deletedAndSaved,
            ofAContextBeforeItsReset
    }

    enum Saver: CaseIterable { case root, child, grandchild }

    private static let stores = [
        ProgramStore.inMemory, .atomic, .sqlite, .incremental, .server,
    ]

    /// Runs `body` in a context that saves to a store, at some depth.
    private func run(
        _ store: ProgramStore, _ saver: Saver = .root,
        _ body: (_ context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator) throws -> Void
    ) throws {
        let coordinator = try store.coordinators(Crates.model())[0]
        defer { store.discard([coordinator]) }
        let root = Crates.context(coordinator)
        let context =
            switch saver {
            case .root: root
            case .child: Crates.child(of: root)
            case .grandchild: Crates.child(of: Crates.child(of: root))
            }
        try context.performAndWait { try body(context, coordinator) }
    }

    /// Makes an object that no save of the context can refer to; `relate` relates it, before it becomes such an object where that is later refused.
    private func relate(
        _ target: Target, _ context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator,
        _ relate: (NSManagedObject) -> Void
    ) throws -> NSManagedObject {
        let object: NSManagedObject
        switch target {
        case .inNoContext:
            object = Crates.crate("target", in: nil, of: coordinator)
            relate(object)
        case .ofAnotherContext, .ofAnotherCoordinator:
            object = Crates.crate("target", in: nil, of: coordinator)
            relate(object)
            let second = NSPersistentStoreCoordinator(managedObjectModel: coordinator.managedObjectModel)
            let other = Crates.context(target == .ofAnotherContext ? coordinator : second)
            other.performAndWait { other.insert(object) }
            // It lives as long as the test.
            context.userInfo["other"] = other
        case .ofAContextThatIsGone:
            object = Crates.crate("target", in: Crates.context(coordinator), of: coordinator)
            relate(object)
        case .deleted:
            object = Crates.crate("target", in: context, of: coordinator)
            try context.save()
            context.delete(object)
            context.processPendingChanges()
            relate(object)
        case .deletedBeforeItWasSaved:
            object = Crates.crate("target", in: context, of: coordinator)
            context.delete(object)
            context.processPendingChanges()
            relate(object)
        case .deletedAndSaved:
            object = Crates.crate("target", in: context, of: coordinator)
            try context.save()
            context.delete(object)
            try context.save()
            relate(object)
        case .ofAContextBeforeItsReset:
            object = Crates.crate("target", in: context, of: coordinator)
            try context.save()
            context.reset()
            relate(object)
        }
        return object
    }

    private func expectDangling(_ error: NSError?, _ owner: NSManagedObject, _ name: String, _ target: NSManagedObject) throws {
        let error = try #require(
            error?.parts.first { $0.key == name && $0.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === owner })
        expect(error.code, equals: NSManagedObjectValidationError)
        expect(error.code, equals: 1550)
        #expect(error.localizedDescription.contains("dangling reference to an invalid object"))
        #expect(error.localizedDescription.contains("\(owner.objectID)"))
        #expect(error.localizedDescription.contains(name))
        expect(error.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject] ?? [], equals: [owner, target])
        #expect(error.userInfo[NSValidationValueErrorKey] as? NSManagedObject === target)
    }

    @Test("fail in every store, by relationships of every kind, and both objects are named", arguments: stores, Target.allCases)
    func everyKind(_ store: ProgramStore, _ target: Target) throws {
        for name in Crates.names {
            try run(store) { context, coordinator in
                var owner: NSManagedObject?
                let object = try relate(target, context, coordinator) { object in
                    owner = Crates.crate("owner", in: nil, of: coordinator)
                    Crates.relate(owner!, name, object)
                    context.insert(owner!)
                }
                let error = failure { try context.save() }
                try expectDangling(error, try #require(owner), name, object)
                #expect(context.hasChanges)
                // Nothing is lost: without the reference, the rest is saved.
                owner?.setValue(nil, forKey: name)
                try context.save()
                try expect(Crates.stored(coordinator), equals: [])
            }
        }
    }

    @Test("fail, whatever moment the context of the object goes at", arguments: ["shelf", "crates", "labels"])
    func goingContext(_ name: String) throws {
        let coordinator = try ProgramStore.inMemory.coordinators(Crates.model())[0]
        defer { ProgramStore.inMemory.discard([coordinator]) }
        let context = Crates.context(coordinator)
        for _ in TestRounds(seconds: 0.4, atLeast: 100) {
            let other = Guarded<NSManagedObjectContext?>(Crates.context(coordinator))
            let object = Crates.crate("target", in: other.withValue { $0 }, of: coordinator)
            let (isReady, isGone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            Thread.detachNewThread {
                isReady.signal()
                other.withValue { $0 = nil }
                isGone.signal()
            }
            isReady.wait()
            try context.performAndWait {
                let owner = Crates.crate("owner", in: nil, of: coordinator)
                Crates.relate(owner, name, object)
                context.insert(owner)
                try expectDangling(failure { try context.save() }, owner, name, object)
                context.rollback()
            }
            isGone.wait()
        }
    }

    @Test("fail in child contexts of any depth", arguments: Saver.allCases, Target.allCases)
    func children(_ saver: Saver, _ target: Target) throws {
        for name in Crates.names {
            try run(.sqlite, saver) { context, coordinator in
                var owner: NSManagedObject?
                let object = try relate(target, context, coordinator) { object in
                    owner = Crates.crate("owner", in: nil, of: coordinator)
                    Crates.relate(owner!, name, object)
                    context.insert(owner!)
                }
                try expectDangling(failure { try context.save() }, try #require(owner), name, object)
            }
        }
    }

    @Test("fail where the owner was saved before", arguments: stores)
    func savedOwner(_ store: ProgramStore) throws {
        for name in Crates.names {
            try run(store) { context, coordinator in
                let owner = Crates.crate("owner", in: context, of: coordinator)
                try context.save()
                context.refresh(owner, mergeChanges: false)
                let object = Crates.crate("target", in: nil, of: coordinator)
                Crates.relate(owner, name, object)
                try expectDangling(failure { try context.save() }, owner, name, object)
                context.insert(object)
                try context.save()
                if name != "copies" {
                    try expect(Crates.stored(coordinator).contains(Crates.Link(from: "owner", name: name, to: "target")), equals: true)
                }
            }
        }
    }

    @Test("fail in an asynchronous save, too", arguments: [ProgramStore.inMemory, .sqlite, .server], [Saver.root, .child])
    func asynchronously(_ store: ProgramStore, _ saver: Saver) async throws {
        let coordinator = try store.coordinators(Crates.model())[0]
        defer { store.discard([coordinator]) }
        let root = Crates.context(coordinator)
        let context = saver == .root ? root : Crates.child(of: root)
        context.performAndWait {
            let owner = Crates.crate("owner", in: context, of: coordinator)
            Crates.relate(owner, "crates", Crates.crate("target", in: nil, of: coordinator))
        }
        await #expect {
            try await context.saveAsynchronously()
        } throws: {
            ($0 as NSError).code == NSManagedObjectValidationError
        }
        #expect(context.performAndWait { context.hasChanges })
    }

    @Test("are all told at once")
    func several() throws {
        try run(.sqlite) { context, coordinator in
            let owners = ["a", "b"].map { Crates.crate($0, in: context, of: coordinator) }
            let target = Crates.crate("target", in: nil, of: coordinator)
            Crates.relate(owners[0], "maker", target)
            Crates.relate(owners[0], "route", target)
            Crates.relate(owners[1], "labels", target)
            let error = try #require(failure { try context.save() })
            expect(error.code, equals: NSValidationMultipleErrorsError)
            for (owner, name) in [(owners[0], "maker"), (owners[0], "route"), (owners[1], "labels")] {
                try expectDangling(error, owner, name, target)
            }
            expect(error.parts.count, equals: 3)
        }
    }

    @Test("are none where a saved reference without an inverse stays, or the reference is the deletion's to remove", arguments: stores)
    func harmless(_ store: ProgramStore) throws {
        try run(store) { context, coordinator in
            let crates = ["a", "b", "c"].map { Crates.crate($0, in: context, of: coordinator) }
            Crates.relate(crates[0], "maker", crates[1])
            try context.save()
            context.delete(crates[1])
            crates[0].setValue("changed", forKey: "name")
            try context.save()
            Crates.relate(crates[0], "crates", crates[2])
            context.delete(crates[2])
            try context.save()
            expect(Crates.related(crates[0], "crates"), equals: [])
        }
    }

    @Test("are found where a child refers to what its parent has discarded")
    func discardedByTheParent() throws {
        try run(.sqlite) { root, coordinator in
            let discarded = Crates.crate("target", in: root, of: coordinator)
            let child = Crates.child(of: root)
            try child.performAndWait {
                let target = child.object(with: discarded.objectID)
                expect(Crates.name(target), equals: "target")
                root.performAndWait { root.rollback() }
                Crates.relate(Crates.crate("owner", in: child, of: coordinator), "maker", target)
                try child.save()
            }
            let error = try #require(failure { try root.save() })
            expect(error.code, equals: NSManagedObjectValidationError)
            #expect(error.localizedDescription.contains("dangling reference to an invalid object"))
        }
    }

    // MARK: Random programs

    @Test(
        "Of random objects in and out of contexts, a save fails exactly where a reference dangles, and what it saves is what the context shows",
        arguments: [ProgramStore.inMemory, .sqlite, .server])
    func random(_ store: ProgramStore) throws {
        let seed = TestSeed.current(for: "DanglingReferenceTests, \(store.name)")
        for round in TestRounds(seconds: 1, atLeast: 10) {
            let own = seed &+ UInt64(round) &* 7919
            var random = SeededGenerator(seed: own)
            try run(store, Saver.allCases.randomElement(using: &random)!) { context, coordinator in
                try program(&random, context, coordinator, "\(store.name), COREDATA_TEST_SEED=\(own)")
            }
        }
    }

    private func program(
        _ random: inout SeededGenerator, _ context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator, _ about: String
    ) throws {
        let others = [Crates.context(coordinator), Crates.child(of: context)]
        var objects: [NSManagedObject] = []
        for step in 0..<4 {
            for index in 0..<Int.random(in: 1...4, using: &random) {
                objects.append(Crates.crate("\(step).\(index)", in: Bool.random(using: &random) ? context : nil, of: coordinator))
            }
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                let (owner, target) = (objects.randomElement(using: &random)!, objects.randomElement(using: &random)!)
                // To write to one that is to be deleted, or belongs to another queue, is a mistake of another kind.
                guard [owner, target].allSatisfy({ !isPending($0) && [nil, context].contains($0.managedObjectContext) }) else { continue }
                Crates.relate(owner, Crates.names.dropLast().randomElement(using: &random)!, target)
            }
            if step > 0, Int.random(in: 0..<6, using: &random) == 0 { context.rollback() }
            // Those that a deletion or a rollback has taken out come back, too.
            for object in objects where object.managedObjectContext == nil {
                switch Int.random(in: 0..<6, using: &random) {
                case 0, 1: context.insert(object)
                case 2 where step == 3:
                    let other = others.randomElement(using: &random)!
                    other.performAndWait { other.insert(object) }
                default: break
                }
            }
            let here = objects.filter { $0.managedObjectContext === context }
            if step > 0, Int.random(in: 0..<3, using: &random) == 0, let object = here.randomElement(using: &random) {
                context.delete(object)
            }
            context.processPendingChanges()
            let members = objects.filter { $0.managedObjectContext === context && !$0.isDeleted }
            var shown: Set<Crates.Link> = []
            var dangling: Set<String> = []
            for object in members {
                for name in Crates.names.dropLast() {
                    for other in Crates.related(object, name) {
                        // One without a name is a fault of an object that is gone: a rollback leads back to it.
                        if other.managedObjectContext === context, !other.isDeleted, Crates.name(other) != "?" {
                            shown.insert(Crates.Link(from: Crates.name(object), name: name, to: Crates.name(other)))
                        } else if object.hasChanges, object.changedValues()[name] != nil {
                            dangling.insert("\(Crates.name(object)).\(name)")
                        }
                    }
                }
            }
            let error = failure { try Crates.save(context) }
            let told = Set(
                (error?.parts ?? []).map { part in
                    let owner = part.userInfo[NSValidationObjectErrorKey] as? NSManagedObject
                    return "\(owner.map(Crates.name) ?? "?").\(part.key ?? "?")"
                })
            guard told == dangling else {
                Issue.record("\(about), step \(step): \(dangling) dangle, and the save says \(error?.localizedDescription ?? "nothing")")
                return
            }
            if error == nil {
                let stored = try Crates.stored(coordinator)
                guard stored == shown else {
                    Issue.record("\(about), step \(step): \(shown) was shown, and \(stored) is stored")
                    return
                }
            }
        }
    }

    private func isPending(_ object: NSManagedObject) -> Bool { object.managedObjectContext != nil && object.isDeleted }
}
