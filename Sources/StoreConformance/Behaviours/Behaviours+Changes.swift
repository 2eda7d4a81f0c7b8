internal import CoreData

extension Behaviour {
    /// The behaviours of inserts, edits and deletes.
    static let changes: [Behaviour] = [
        Behaviour(.changes, "An empty store fetches nothing and counts 0") { run in
            try run.inContext { context in
                try expectEqual(try run.members(context).count, 0)
                try expectEqual(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: run.roles.member)), 0)
            }
        },
        Behaviour(.changes, "Many inserts count as many after reset() and from a second context") { run in
            try run.inContext { context in
                for number in 0..<run.manyObjects { run.addMember("m\(number)", number, in: context) }
                try context.save()
                context.reset()
                try expectEqual(try run.members(context).count, run.manyObjects, "after reset")
            }
            try run.elsewhere { context in
                try expectEqual(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: run.roles.member)), run.manyObjects)
            }
        },
        Behaviour(.changes, "Deleting 10 of many leaves the others, here and elsewhere") { run in
            try run.inContext { context in
                for number in 0..<run.manyObjects { run.addMember("m\(number)", number, in: context) }
                try context.save()
                for object in try run.members(context, NSPredicate(format: "%K < 10", run.roles.memberNumber)) { context.delete(object) }
                try context.save()
                try expectEqual(try run.members(context).count, run.manyObjects - 10, "here")
            }
            try run.elsewhere { try expectEqual(try run.members($0).count, run.manyObjects - 10, "elsewhere") }
        },
        Behaviour(.changes, "Ten rounds of editing and saving one object succeed") { run in
            let other = run.context()
            let id = try run.inContext { context -> NSManagedObjectID in
                let object = run.addMember("a", 0, in: context)
                try context.save()
                for round in 1...10 {
                    object.setValue(round, forKey: run.roles.memberNumber)
                    try context.save()
                }
                return object.objectID
            }
            try other.performAndWait {
                try expectEqual(run.number(try other.existingObject(with: id)), 10)
            }
        },
        Behaviour(.changes, "A new object has a temporary ID, and a permanent one after the save") { run in
            try run.inContext { context in
                let group = run.addGroup("g", members: ["a"], in: context)
                try expect(group.objectID.isTemporaryID, "the new object's ID is not temporary")
                let before = group.objectID
                try context.save()
                try expect(!group.objectID.isTemporaryID, "the saved object's ID is temporary")
                try expect(context.object(with: before) === group, "the temporary ID does not lead to the object any more")
                try expect(
                    try run.member("a", context).value(forKey: run.roles.memberGroup) as? NSManagedObject === group, "a reference was lost")
            }
        },
        Behaviour(.changes, "An object inserted and deleted before a save never reaches the store") { run in
            try run.inContext { context in
                let object = run.addMember("a", in: context)
                context.processPendingChanges()
                context.delete(object)
                try context.save()
                try expect(!context.hasChanges, "the context is still dirty")
            }
            try run.elsewhere { try expectEqual(try run.members($0).count, 0) }
        },
        Behaviour(.changes, "A failed save leaves the context as it was, still dirty") { run in
            try run.inContext { context in
                let object = run.addMember("a", 1, in: context)
                // A value that the attribute cannot hold.
                object.setValue(NSObject(), forKey: run.roles.memberNumber)
                _ = try expectError("saving a wrong value") { try context.save() }
                try expect(context.insertedObjects.contains(object) && context.hasChanges, "the insert is forgotten")
                try run.inContext { try expectEqual(try run.members($0).count, 0, "the store has something of it:") }
                object.setValue(2, forKey: run.roles.memberNumber)
                try context.save()
            }
            try run.elsewhere { try expectEqual(try run.members($0).map { run.number($0) }, [2]) }
        },
        Behaviour(.changes, "A store that is opened again has the saved objects, under the same URIs", requires: .durable) { run in
            let uri = try run.inContext { context -> URL in
                let group = run.addGroup("g", members: ["a", "b"], in: context)
                try context.save()
                return group.objectID.uriRepresentation()
            }
            try run.reopen()
            try run.inContext { context in
                guard let id = run.coordinator.managedObjectID(forURIRepresentation: uri) else {
                    throw ConformanceFailure(description: "\(uri) names no object after the store was opened again")
                }
                try expectEqual(run.memberNames(of: try context.existingObject(with: id)), ["a", "b"])
            }
        },
        Behaviour(.changes, "Rollback forgets inserts, edits and deletes") { run in
            try run.inContext { context in
                let (a, b) = (run.addMember("a", 1, in: context), run.addMember("b", 2, in: context))
                try context.save()
                a.setValue(5, forKey: run.roles.memberNumber)
                context.delete(b)
                run.addMember("c", in: context)
                context.rollback()
                try expect(!context.hasChanges, "the context is still dirty")
                try expectEqual(try run.members(context).map { run.number($0) }, [1, 2])
            }
        },
    ]
}
