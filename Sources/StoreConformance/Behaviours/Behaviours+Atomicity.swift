internal import CoreData

extension Behaviour {
    /// The behaviours of saves that must succeed or fail as a whole.
    static let atomicity: [Behaviour] = [
        Behaviour(.changes, "A save with one invalid object stores nothing of the others") { run in
            try run.inContext { context in
                let group = run.addGroup("g", members: ["a", "b"], in: context)
                try context.save()
                try run.member("a", context).setValue(7, forKey: run.roles.memberNumber)
                context.delete(try run.member("b", context))
                let added = (0..<20).map { run.addMember("new \($0)", to: group, in: context) }
                // A value that the attribute cannot hold.
                added[10].setValue(NSObject(), forKey: run.roles.memberNumber)
                _ = try expectError("saving a wrong value among good ones") { try context.save() }
                try expect(context.insertedObjects == Set(added), "the inserts are forgotten")
                try expectEqual(context.deletedObjects.count, 1, "deletes that are unsaved still:")
                try run.inContext { other in
                    try expectEqual(try run.members(other).map { run.number($0) }, [0, 0], "another context has seen some of it:")
                }
                added[10].setValue(1, forKey: run.roles.memberNumber)
                try context.save()
            }
            try run.elsewhere { context in
                try expectEqual(try run.members(context).count, 21)
                try expectEqual(run.memberNames(of: try run.groups(context).at(0)).count, 21)
            }
        },
        Behaviour(.changes, "A store that is opened again has nothing of a failed save", requires: .durable) { run in
            try run.inContext { context in
                run.addMember("a", 1, in: context)
                try context.save()
                run.addMember("b", 2, in: context)
                run.addMember("c", in: context).setValue(NSObject(), forKey: run.roles.memberNumber)
                _ = try expectError("saving a wrong value") { try context.save() }
            }
            try run.reopen()
            try run.elsewhere { try expectEqual(try run.members($0).map { run.number($0) }, [1]) }
        },
        Behaviour(
            .changes, "A save with one conflicting object stores nothing of the others", requires: [.detectsConflicts, .savesAtomically]
        ) { run in
            try run.inContext { context in
                for name in ["a", "b", "c"] { run.addMember(name, 1, in: context) }
                try context.save()
            }
            let (first, second) = (run.context(), run.context())
            let members = try second.performAndWait { () -> [NSManagedObject] in
                let members = try run.members(second)
                for member in members { _ = run.number(member) }
                return members
            }
            try first.performAndWait {
                try run.member("b", first).setValue(2, forKey: run.roles.memberNumber)
                try first.save()
            }
            try second.performAndWait {
                for member in members.prefix(2) { member.setValue(3, forKey: run.roles.memberNumber) }
                second.delete(try members.at(2))
                run.addMember("d", in: second)
                _ = try expectError(code: NSManagedObjectMergeError, "the second save") { try second.save() }
            }
            try run.elsewhere { context in
                try expectEqual(try run.members(context).map { run.number($0) }, [1, 2, 1])
            }
        },
        Behaviour(
            .changes, "An object keeps a permanent ID that was obtained before the save", requires: .identifiesBeforeSaving
        ) { run in
            try run.inContext { context in
                let object = run.addMember("a", in: context)
                try context.obtainPermanentIDs(for: [object])
                let id = object.objectID
                try expect(!id.isTemporaryID, "the ID is temporary")
                try expect(object.isInserted, "the object is not new any more")
                try run.inContext { try expectEqual(try run.members($0).count, 0, "before the save") }
                try context.save()
                try expectEqual(object.objectID, id)
                try run.inContext { try expectEqual(run.name(try $0.existingObject(with: id)), "a") }
            }
        },
        Behaviour(.changes, "The version counts the edits that were saved", requires: .detectsConflicts) { run in
            try run.inContext { context in
                run.addMember("a", 0, in: context)
                try context.save()
            }
            let (first, second) = (run.context(), run.context())
            let object = try second.performAndWait { () -> NSManagedObject in
                let object = try run.member("a", second)
                _ = run.number(object)
                return object
            }
            try first.performAndWait {
                let object = try run.member("a", first)
                for round in 1...10 {
                    object.setValue(round, forKey: run.roles.memberNumber)
                    try first.save()
                }
            }
            try second.performAndWait {
                object.setValue(20, forKey: run.roles.memberNumber)
                let error = try expectError(code: NSManagedObjectMergeError, "the second save") { try second.save() }
                let conflict = (error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.first
                try expectEqual(conflict.map { $0.newVersionNumber - $0.oldVersionNumber }, 10, "versions between")
            }
        },
    ]
}
