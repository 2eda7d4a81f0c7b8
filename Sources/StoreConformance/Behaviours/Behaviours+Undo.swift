internal import CoreData

extension Behaviour {
    /// The behaviours of undo and redo.
    static let undo: [Behaviour] = [
        Behaviour(.contexts, "Undo and redo restore values") { run in
            try run.withUndo { context, manager in
                let object = run.addMember("a", 1, in: context)
                try context.save()
                manager.removeAllActions()
                manager.group { object.setValue(2, forKey: run.roles.memberNumber) }
                manager.group {
                    object.setValue("b", forKey: run.roles.memberName)
                    object.setValue(nil, forKey: run.roles.memberNumber)
                }
                func state() -> String { "\(run.name(object) ?? "nil") \(run.number(object).map { "\($0)" } ?? "nil")" }
                var seen: [String] = []
                for step in [context.undo, context.undo, context.redo, context.redo, context.undo] {
                    step()
                    seen.append(state())
                }
                try expectEqual(seen, ["a 2", "a 1", "a 2", "b nil", "a 2"])
                try context.save()
            }
            try run.elsewhere { try expectEqual(try run.members($0).map { run.number($0) }, [2]) }
        },
        Behaviour(.contexts, "Undo and redo restore relationships at both ends") { run in
            try run.withUndo { context, manager in
                let (first, second) = (run.addGroup("1", members: ["a", "b"], in: context), run.addGroup("2", in: context))
                let a = try run.member("a", context)
                try context.save()
                manager.removeAllActions()
                manager.group { a.setValue(second, forKey: run.roles.memberGroup) }
                try manager.group { second.setValue(Set(try run.members(context)), forKey: run.roles.members) }
                func state() -> [[String]] { [first, second].map(run.memberNames) }
                var seen: [[[String]]] = []
                for step in [context.undo, context.undo, context.redo, context.redo, context.undo] {
                    step()
                    seen.append(state())
                    try expectEqual(run.groupName(of: a), second.isMember(a, run) ? "2" : "1", "the other end")
                }
                try expectEqual(seen, [[["b"], ["a"]], [["a", "b"], []], [["b"], ["a"]], [[], ["a", "b"]], [["b"], ["a"]]])
                try context.save()
            }
            try run.elsewhere { context in
                try expectEqual(try run.groups(context).map { run.memberNames(of: $0) }, [["b"], ["a"]])
            }
        },
        Behaviour(.contexts, "Undo removes inserted objects, and redo inserts the same objects again") { run in
            try run.withUndo { context, manager in
                let group = run.addGroup("g", in: context)
                try context.save()
                manager.removeAllActions()
                var object: NSManagedObject?
                manager.group { object = run.addMember("a", 1, to: group, in: context) }
                context.undo()
                try expect(context.insertedObjects.isEmpty, "the insert is not taken back")
                try expectEqual(run.memberNames(of: group), [])
                context.redo()
                try expect(context.insertedObjects == Set([object].compactMap { $0 }), "another object was inserted")
                try expectEqual(run.memberNames(of: group), ["a"])
                try context.save()
            }
            try run.elsewhere { try expectEqual(try run.members($0).map { run.groupName(of: $0) }, ["g"]) }
        },
        Behaviour(.contexts, "Undo restores deleted objects with their values and relationships") { run in
            try run.withUndo { context, manager in
                run.addGroup("g", members: ["a", "b"], in: context)
                try context.save()
                manager.removeAllActions()
                let (group, a) = (try run.groups(context).at(0), try run.member("a", context))
                manager.group { context.delete(a) }
                try expectEqual(run.memberNames(of: group), ["b"])
                context.undo()
                try expect(context.deletedObjects.isEmpty && !a.isDeleted, "the object is deleted still")
                try expectEqual(run.memberNames(of: group), ["a", "b"])
                context.redo()
                try expect(context.deletedObjects == [a], "the object is not deleted again")
                try context.save()
            }
            try run.elsewhere { try expectEqual(run.memberNames(of: try run.groups($0).at(0)), ["b"]) }
        },
        Behaviour(.contexts, "One undo reverts a group with its nested groups, and nothing of the group before") { run in
            try run.withUndo { context, manager in
                let object = run.addMember("a", 1, in: context)
                try context.save()
                manager.removeAllActions()
                manager.group { object.setValue(2, forKey: run.roles.memberNumber) }
                manager.group {
                    object.setValue(3, forKey: run.roles.memberNumber)
                    manager.group { object.setValue("b", forKey: run.roles.memberName) }
                    run.addMember("c", in: context)
                    manager.group { object.setValue(4, forKey: run.roles.memberNumber) }
                }
                context.undo()
                try expectEqual(run.name(object), "a")
                try expectEqual(run.number(object), 2)
                try expect(context.insertedObjects.isEmpty, "the insert is not taken back")
                context.undo()
                try expectEqual(run.number(object), 1)
                try expect(!manager.canUndo, "there is something left to undo")
                context.redo()
                context.redo()
                try expectEqual(run.number(object), 4)
                try expectEqual(run.names(try run.members(context)), ["b", "c"])
                try context.save()
            }
            try run.elsewhere { try expectEqual(run.names(try run.members($0)), ["b", "c"]) }
        },
        Behaviour(.contexts, "After a save an undo is a change for the next save: of values, inserts and deletes") { run in
            try run.withUndo { context, manager in
                let (a, b) = (run.addMember("a", 1, in: context), run.addMember("b", 2, in: context))
                try context.save()
                manager.removeAllActions()
                manager.group {
                    a.setValue(9, forKey: run.roles.memberNumber)
                    context.delete(b)
                    run.addMember("c", 3, in: context)
                }
                try context.save()
                context.undo()
                try expect(context.hasChanges, "there is nothing to save")
                try context.save()
                try run.inContext { try expectEqual(try run.members($0).map { run.number($0) }, [1, 2], "undone") }
                context.redo()
                try context.save()
            }
            try run.elsewhere { context in
                try expectEqual(try run.members(context).map { run.number($0) }, [9, 3], "redone")
            }
        },
        Behaviour(.contexts, "A new change leaves nothing to redo, and a rollback nothing to undo") { run in
            try run.withUndo { context, manager in
                let object = run.addMember("a", 1, in: context)
                try context.save()
                manager.removeAllActions()
                manager.group { object.setValue(2, forKey: run.roles.memberNumber) }
                context.undo()
                try expect(manager.canRedo, "there is nothing to redo")
                manager.group { object.setValue(3, forKey: run.roles.memberNumber) }
                try expect(!manager.canRedo, "there is something to redo")
                context.rollback()
                try expect(!manager.canUndo, "there is something to undo")
                try expectEqual(run.number(object), 1)
            }
        },
    ]
}

extension ConformanceRun {
    /// Runs `body` in a context whose undo groups `body` begins and ends.
    fileprivate func withUndo(_ body: (NSManagedObjectContext, UndoManager) throws -> Void) throws {
        try inContext { context in
            let manager = UndoManager()
            manager.groupsByEvent = false
            context.undoManager = manager
            try body(context, manager)
        }
    }
}

extension UndoManager {
    fileprivate func group(_ body: () throws -> Void) rethrows {
        beginUndoGrouping()
        defer { endUndoGrouping() }
        try body()
    }
}

extension NSManagedObject {
    fileprivate func isMember(_ object: NSManagedObject, _ run: ConformanceRun) -> Bool {
        run.related(self, run.roles.members).contains { $0 === object }
    }
}
