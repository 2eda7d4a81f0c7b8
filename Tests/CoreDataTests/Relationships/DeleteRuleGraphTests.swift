import CoreData
import TestSupport
import Testing

/// Things that own things: the relationship is the superentity's, and a subentity adds one of its own.
private struct Things {
    let context: NSManagedObjectContext

    /// - Parameters:
    ///   - owned: the rule of `owned`, which every kind of thing inherits.
    ///   - extra: the rule of `extras`, which boxes have besides.
    init(owned: NSDeleteRule, extra: NSDeleteRule = .nullifyDeleteRule) throws {
        let thing = NSEntityDescription(name: "Thing")
        thing.isAbstract = true
        let ownedThings = NSRelationshipDescription(name: "owned", destination: thing, toMany: true, deleteRule: owned)
        let owner = NSRelationshipDescription(name: "owner", destination: thing)
        ownedThings.inverse(to: owner)
        thing.properties = [NSAttributeDescription(name: "name", type: .string), ownedThings, owner]
        let stone = NSEntityDescription(name: "Stone")
        let box = NSEntityDescription(name: "Box")
        let extras = NSRelationshipDescription(name: "extras", destination: stone, toMany: true, deleteRule: extra)
        let boxes = NSRelationshipDescription(name: "boxes", destination: box, toMany: true)
        extras.inverse(to: boxes)
        box.properties = [extras]
        stone.properties = [boxes]
        let crate = NSEntityDescription(name: "Crate")
        box.subentities = [crate]
        thing.subentities = [stone, box]
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: NSManagedObjectModel(entities: [thing, stone, box, crate]))
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        context = Music.context(coordinator)
    }

    func make(_ entity: String, _ name: String, in owner: NSManagedObject? = nil) -> NSManagedObject {
        let thing = context.insert(entity, ["name": name])
        thing.setValue(owner, forKey: "owner")
        return thing
    }

    /// The names of what is stored, as another context reads it, with the names of the owners.
    var stored: Set<String> {
        get throws {
            let other = Music.context(context.persistentStoreCoordinator!)
            return try other.performAndWait {
                Set(
                    try other.all("Thing").map { thing in
                        let owner = thing.value(forKeyPath: "owner.name") as? String
                        return (thing.value(forKey: "name") as? String ?? "?") + (owner.map { "<\($0)" } ?? "")
                    })
            }
        }
    }
}

@Suite("Delete rules with inheritance and round cycles") struct DeleteRuleGraphTests {
    static let rules: [NSDeleteRule] = [.nullifyDeleteRule, .cascadeDeleteRule, .denyDeleteRule, .noActionDeleteRule]

    @Test("A rule of the superentity holds for objects of subentities at both ends", arguments: rules)
    func inherited(_ rule: NSDeleteRule) throws {
        let things = try Things(owned: rule)
        try things.context.performAndWait {
            let crate = things.make("Crate", "crate")
            let box = things.make("Box", "box", in: crate)
            _ = things.make("Stone", "stone", in: box)
            _ = things.make("Stone", "pebble", in: crate)
            try things.context.save()
            things.context.refreshAllObjects()
            things.context.delete(crate)
            let error = failure { try things.context.save() }
            switch rule {
            case .cascadeDeleteRule:
                #expect(error == nil)
                try expect(things.stored, equals: [])
            case .denyDeleteRule:
                expect(error?.code, equals: NSValidationRelationshipDeniedDeleteError)
                expect(error?.key, equals: "owned")
                try expect(things.stored, equals: ["crate", "box<crate", "stone<box", "pebble<crate"])
            case .nullifyDeleteRule:
                #expect(error == nil)
                try expect(things.stored, equals: ["box", "stone<box", "pebble"])
            default:
                #expect(error == nil)
                #expect(box.managedObjectContext === things.context)
                try expect(things.stored, equals: ["box", "stone<box", "pebble"], "What leads nowhere reads as nil.")
            }
        }
    }

    @Test("The rules of all levels are carried out, each its own", arguments: rules)
    func ownRule(_ rule: NSDeleteRule) throws {
        let things = try Things(owned: .cascadeDeleteRule, extra: rule)
        try things.context.performAndWait {
            let crate = things.make("Crate", "crate")
            _ = things.make("Stone", "owned", in: crate)
            let extra = things.make("Stone", "extra")
            crate.addObjects([extra], toRelationship: "extras")
            try things.context.save()
            things.context.delete(crate)
            let error = failure { try things.context.save() }
            switch rule {
            case .cascadeDeleteRule: try expect(things.stored, equals: [])
            case .denyDeleteRule:
                expect(error?.code, equals: NSValidationRelationshipDeniedDeleteError)
                expect(error?.key, equals: "extras")
                try expect(things.stored, equals: ["crate", "owned<crate", "extra"])
            default: try expect(things.stored, equals: ["extra"])
            }
            if rule == .nullifyDeleteRule { expect((extra.value(forKey: "boxes") as? Set<NSManagedObject>), equals: []) }
        }
    }

    @Test("Round a cycle each rule comes to an end, from whichever object it starts", arguments: rules, [0, 2])
    func cycle(_ rule: NSDeleteRule, _ start: Int) throws {
        let things = try Things(owned: rule)
        try things.context.performAndWait {
            let ring = (0..<4).map { things.make($0.isMultiple(of: 2) ? "Box" : "Crate", "\($0)") }
            for index in 0..<4 { ring[index].setValue(ring[(index + 3) % 4], forKey: "owner") }
            try things.context.save()
            try expect(things.stored, equals: ["0<3", "1<0", "2<1", "3<2"])
            things.context.refreshAllObjects()
            things.context.delete(ring[start])
            let error = failure { try things.context.save() }
            var expected: Set<String> = ["0<3", "1<0", "2<1", "3<2"]
            switch rule {
            case .cascadeDeleteRule: expected = []
            case .denyDeleteRule: expect(error?.code, equals: NSValidationRelationshipDeniedDeleteError)
            default: expected = start == 0 ? ["1", "2<1", "3<2"] : ["0<3", "1<0", "3"]
            }
            try expect(things.stored, equals: expected)
        }
    }

    @Test("An object that owns itself can be deleted under every rule", arguments: rules)
    func itself(_ rule: NSDeleteRule) throws {
        let things = try Things(owned: rule)
        try things.context.performAndWait {
            let box = things.make("Box", "box")
            box.setValue(box, forKey: "owner")
            try things.context.save()
            things.context.refreshAllObjects()
            things.context.delete(box)
            try things.context.save()
            try expect(things.stored, equals: [])
            #expect(!things.context.hasChanges)
        }
    }

    @Test("Deny stops a delete that cascades into it, and nothing of it is stored")
    func denyBelowCascade() throws {
        let things = try Things(owned: .cascadeDeleteRule, extra: .denyDeleteRule)
        try things.context.performAndWait {
            let crate = things.make("Crate", "crate")
            let box = things.make("Box", "box", in: crate)
            let stone = things.make("Stone", "stone")
            box.addObjects([stone], toRelationship: "extras")
            try things.context.save()
            things.context.delete(crate)
            let error = failure { try things.context.save() }
            expect(error?.code, equals: NSValidationRelationshipDeniedDeleteError)
            #expect(error?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === box)
            try expect(things.stored, equals: ["crate", "box<crate", "stone"])
            things.context.delete(stone)
            try things.context.save()
            try expect(things.stored, equals: [])
        }
    }

    @Test("Without propagation at the end of the event, rules wait for the save, and until then nothing is deleted", arguments: rules)
    func deferred(_ rule: NSDeleteRule) throws {
        let things = try Things(owned: rule)
        let context = things.context
        try context.performAndWait {
            #expect(context.propagatesDeletesAtEndOfEvent)
            context.propagatesDeletesAtEndOfEvent = false
            let crate = things.make("Crate", "crate")
            let box = things.make("Box", "box", in: crate)
            let stone = things.make("Stone", "stone", in: box)
            try context.save()
            context.delete(crate)
            context.processPendingChanges()
            _ = try context.all("Stone")
            expect(context.deletedObjects, equals: [crate])
            #expect(box.value(forKey: "owner") as? NSManagedObject === crate)
            // What is moved away before the save does not go with it.
            box.setValue(nil, forKey: "owner")
            try context.save()
            try expect(things.stored, equals: ["box", "stone<box"])

            context.delete(box)
            context.processPendingChanges()
            #expect(!stone.isDeleted)
            let error = failure { try context.save() }
            switch rule {
            case .cascadeDeleteRule: try expect(things.stored, equals: [])
            case .denyDeleteRule:
                expect(error?.code, equals: NSValidationRelationshipDeniedDeleteError)
                try expect(things.stored, equals: ["box", "stone<box"])
            default: try expect(things.stored, equals: ["stone"])
            }
        }
    }

    @Test("A deferred delete that is rolled back or undone has done nothing")
    func deferredAndTakenBack() throws {
        let things = try Things(owned: .cascadeDeleteRule)
        let context = things.context
        try context.performAndWait {
            context.propagatesDeletesAtEndOfEvent = false
            context.undoManager = UndoManager()
            let crate = things.make("Crate", "crate")
            let box = things.make("Box", "box", in: crate)
            try context.save()
            context.undoManager?.removeAllActions()
            context.delete(crate)
            context.processPendingChanges()
            context.undo()
            #expect(!crate.isDeleted)
            try context.save()
            try expect(things.stored, equals: ["crate", "box<crate"])
            context.delete(crate)
            context.processPendingChanges()
            context.rollback()
            try context.save()
            try expect(things.stored, equals: ["crate", "box<crate"])
            #expect(box.value(forKey: "owner") as? NSManagedObject === crate)
        }
    }
}
