import CoreData
import RandomPrograms
import TestSupport
import Testing

@Suite("Objects that have left their context and are inserted again") struct ReturningObjectTests {
    enum Leaving: CaseIterable { case deletionSaved, deletionSavedToParent, deletionMerged, insertionDeleted, insertionRolledBack }

    enum Saver: CaseIterable { case root, child, grandchild }

    private static let stores = [ProgramStore.inMemory, .atomic, .sqlite, .incremental, .server]

    private func run(
        _ store: ProgramStore, _ saver: Saver = .root, _ rule: NSDeleteRule = .nullifyDeleteRule,
        _ body: (_ context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator) throws -> Void
    ) throws {
        let coordinator = try store.coordinators(Crates.model(rule))[0]
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

    /// Relates an object to another in each way, and takes it out of its context.
    private func leave(
        _ leaving: Leaving, _ object: NSManagedObject, _ partner: NSManagedObject, _ context: NSManagedObjectContext,
        _ coordinator: NSPersistentStoreCoordinator
    ) throws {
        func relate() {
            for name in Crates.names {
                Crates.relate(object, name, partner)
                Crates.relate(partner, name, object)
            }
        }
        switch leaving {
        case .deletionSaved, .deletionSavedToParent:
            context.insert(object)
            relate()
            // What leads to it without an inverse is another test's.
            for name in Crates.names.suffix(2) { partner.setValue(nil, forKey: name) }
            try Crates.save(context)
            context.delete(object)
            if leaving == .deletionSaved { try Crates.save(context) } else { try context.save() }
        case .deletionMerged:
            context.insert(object)
            relate()
            for name in Crates.names.suffix(2) { partner.setValue(nil, forKey: name) }
            try Crates.save(context)
            let other = Crates.context(coordinator)
            try other.performAndWait {
                other.delete(try other.existingObject(with: object.objectID))
                let observer = NotificationCenter.default.addObserver(
                    forName: NSManagedObjectContext.didSaveObjectsNotification, object: other, queue: nil
                ) { context.mergeChanges(fromContextDidSave: $0) }
                defer { NotificationCenter.default.removeObserver(observer) }
                try other.save()
            }
        case .insertionDeleted:
            context.insert(object)
            relate()
            for name in Crates.names.suffix(2) { partner.setValue(nil, forKey: name) }
            context.delete(object)
            context.processPendingChanges()
        case .insertionRolledBack:
            context.insert(object)
            relate()
            context.rollback()
        }
    }

    @Test(
        "are new, with their values, without former relationships at either end, and with those that are set", arguments: stores,
        Leaving.allCases)
    func everyWay(_ store: ProgramStore, _ leaving: Leaving) throws {
        for saver in leaving == .deletionMerged ? [Saver.root] : Saver.allCases {
            for isRelatedBefore in [false, true] {
                try run(store, saver) { context, coordinator in
                    let about: Comment = "\(saver), related before: \(isRelatedBefore)"
                    let partner = Crates.crate("partner", in: context, of: coordinator)
                    try Crates.save(context)
                    let object = Crates.crate("object", in: nil, of: coordinator)
                    try leave(leaving, object, partner, context, coordinator)
                    #expect(object.managedObjectContext == nil, about)
                    if isRelatedBefore { Crates.relate(object, "shelf", partner) }
                    context.insert(object)
                    #expect(object.isInserted && !object.isDeleted && object.objectID.isTemporaryID, about)
                    for name in Crates.names where !isRelatedBefore {
                        #expect(Crates.related(object, name).isEmpty, "\(saver), \(name)")
                        #expect(Crates.related(partner, name).isEmpty, "\(saver), \(name) of the other")
                    }
                    if !isRelatedBefore { Crates.relate(partner, "crates", object) }
                    Crates.relate(partner, "maker", object)
                    try Crates.save(context)
                    let expected: Set = [
                        Crates.Link(from: "object", name: "shelf", to: "partner"),
                        Crates.Link(from: "partner", name: "crates", to: "object"),
                        Crates.Link(from: "partner", name: "maker", to: "object"),
                    ]
                    #expect(try Crates.stored(coordinator) == expected, about)
                    // It can be deleted again.
                    context.delete(object)
                    partner.setValue(nil, forKey: "maker")
                    try Crates.save(context)
                    #expect(try Crates.stored(coordinator).isEmpty, about)
                    let reader = Crates.context(coordinator)
                    let left = try reader.performAndWait { try reader.all("Crate").map(Crates.name) }
                    #expect(left == ["partner"], about)
                }
            }
        }
    }

    @Test("are beside what is stored where a reset has dropped them", arguments: stores, Saver.allCases)
    func reset(_ store: ProgramStore, _ saver: Saver) throws {
        for isSavedUpwards in [false, true] {
            try run(store, saver) { context, coordinator in
                let object = Crates.crate("object", in: context, of: coordinator)
                Crates.relate(object, "shelf", object)
                if isSavedUpwards { try Crates.save(context) } else { try context.save() }
                context.reset()
                context.insert(object)
                #expect(object.value(forKey: "name") == nil)
                expect(Crates.related(object, "shelf"), equals: [])
                object.setValue("again", forKey: "name")
                try Crates.save(context)
                let reader = Crates.context(coordinator)
                try reader.performAndWait { try expect(reader.all("Crate").map(Crates.name).sorted(), equals: ["again", "object"]) }
                try expect(
                    Crates.stored(coordinator),
                    equals: [
                        Crates.Link(from: "object", name: "shelf", to: "object"), Crates.Link(from: "object", name: "crates", to: "object"),
                    ])
            }
        }
    }

    @Test(
        "are what the references without an inverse lead to that their deletion has left, in the store too",
        arguments: [ProgramStore.inMemory, .atomic, .sqlite, .incremental], Saver.allCases)
    func references(_ store: ProgramStore, _ saver: Saver) throws {
        try run(store, saver) { context, coordinator in
            let (object, owner) = (
                Crates.crate("object", in: context, of: coordinator), Crates.crate("owner", in: context, of: coordinator)
            )
            Crates.relate(owner, "maker", object)
            Crates.relate(owner, "copies", object)
            try Crates.save(context)
            context.delete(object)
            try Crates.save(context)
            context.insert(object)
            #expect(owner.value(forKey: "maker") as? NSManagedObject === object)
            expect(Crates.related(owner, "copies"), equals: [object])
            try Crates.save(context)
            try expect(Crates.stored(coordinator), equals: [Crates.Link(from: "owner", name: "maker", to: "object")])
            let reader = Crates.context(coordinator)
            try reader.performAndWait {
                let read = try reader.existingObject(with: owner.objectID)
                expect(Crates.related(read, "copies").map(Crates.name), equals: ["object"])
            }
        }
    }

    @Test(
        "are what the references lead to that a rule without an action has left, in the store too",
        arguments: [ProgramStore.inMemory, .atomic, .sqlite, .incremental])
    func noAction(_ store: ProgramStore) throws {
        try run(store, .root, .noActionDeleteRule) { context, coordinator in
            let (object, owner) = (
                Crates.crate("object", in: context, of: coordinator), Crates.crate("owner", in: context, of: coordinator)
            )
            for name in ["shelf", "next", "labels", "route"] { Crates.relate(owner, name, object) }
            try context.save()
            context.delete(object)
            try context.save()
            context.insert(object)
            for name in ["crates", "previous", "labelled", "routes"] { expect(Crates.related(object, name), equals: [owner]) }
            try context.save()
            let links = [
                ("owner", "shelf", "object"), ("object", "crates", "owner"), ("owner", "next", "object"), ("object", "previous", "owner"),
                ("owner", "labels", "object"), ("object", "labelled", "owner"), ("owner", "route", "object"), ("object", "routes", "owner"),
            ]
            try expect(Crates.stored(coordinator), equals: Set(links.map { Crates.Link(from: $0, name: $1, to: $2) }))
        }
    }

    @Test("lead to nothing that a rollback has discarded, and nothing leads to them", arguments: Saver.allCases)
    func relatedBeforeARollback(_ saver: Saver) throws {
        try run(.sqlite, saver) { context, coordinator in
            let stored = Crates.crate("stored", in: context, of: coordinator)
            try Crates.save(context)
            let (new, outside) = (Crates.crate("new", in: context, of: coordinator), Crates.crate("outside", in: nil, of: coordinator))
            for name in Crates.names.dropLast(2) {
                Crates.relate(outside, name, new)
                Crates.relate(stored, name, outside)
            }
            context.rollback()
            for name in Crates.names {
                for object in [stored, new, outside] { expect(Crates.related(object, name), equals: []) }
            }
            context.insert(outside)
            context.insert(new)
            try Crates.save(context)
            try expect(Crates.stored(coordinator), equals: [])
        }
    }

    @Test("do not have the relationships of a save that failed", arguments: [ProgramStore.inMemory, .sqlite])
    func afterAFailedSave(_ store: ProgramStore) throws {
        try run(store) { context, coordinator in
            let partner = Crates.crate("partner", in: context, of: coordinator)
            try context.save()
            let other = Crates.context(coordinator)
            try other.performAndWait {
                try other.existingObject(with: partner.objectID).setValue("theirs", forKey: "name")
                try other.save()
            }
            let object = Crates.crate("object", in: context, of: coordinator)
            Crates.relate(object, "maker", partner)
            Crates.relate(object, "shelf", partner)
            partner.setValue("mine", forKey: "name")
            expect(failure { try context.save() }?.code, equals: NSManagedObjectMergeError)
            context.rollback()
            context.insert(object)
            for name in Crates.names { expect(Crates.related(object, name), equals: []) }
            try context.save()
            try expect(Crates.stored(coordinator), equals: [])
        }
    }

    @Test("write all their values where they meet another object of the same unique value, and no relationship that nobody has set")
    func upsert() throws {
        let model = Crates.model()
        model.entitiesByName["Crate"]?.uniquenessConstraints = [["name"]]
        let coordinator = try ProgramStore.sqlite.coordinators(model)[0]
        defer { ProgramStore.sqlite.discard([coordinator]) }
        let context = Crates.context(coordinator)
        try context.performAndWait {
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let object = Crates.crate("a", in: context, of: coordinator)
            try context.save()
            context.delete(object)
            try context.save()
            let other = Crates.context(coordinator)
            try other.performAndWait {
                let (stored, shelf) = (Crates.crate("a", in: other, of: coordinator), Crates.crate("b", in: other, of: coordinator))
                Crates.relate(stored, "shelf", shelf)
                try other.save()
            }
            context.insert(object)
            try context.save()
        }
        try expect(
            Crates.stored(coordinator),
            equals: [Crates.Link(from: "a", name: "shelf", to: "b"), Crates.Link(from: "b", name: "crates", to: "a")])
    }
}
