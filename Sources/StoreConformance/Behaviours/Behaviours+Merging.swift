internal import CoreData

extension Behaviour {
    /// The behaviours of merging saves of others into a context.
    static let merging: [Behaviour] = [
        Behaviour(.contexts, "Merging a save brings its inserts, edits and deletes in without losing local edits") { run in
            let scene = try MergeScene(run)
            let saved = try scene.saveTheirs()
            try scene.mine.performAndWait {
                try scene.editMine()
                scene.mine.mergeChanges(fromContextDidSave: saved)
                try scene.checkMine()
            }
            try scene.checkStore()
        },
        Behaviour(.contexts, "Merging leaves a context without unsaved changes clean, and posts the merged objects once") { run in
            let scene = try MergeScene(run)
            let saved = try scene.saveTheirs()
            try scene.mine.performAndWait {
                let posted = try notifications(.NSManagedObjectContextObjectsDidChange, of: scene.mine) {
                    scene.mine.mergeChanges(fromContextDidSave: saved)
                }
                try expect(!scene.mine.hasChanges, "the context is dirty")
                try expectEqual(posted.count, 1, "notifications")
                func objects(_ key: String) -> Set<NSManagedObject> { posted.first?.userInfo?[key] as? Set<NSManagedObject> ?? [] }
                try expectEqual(objects(NSInsertedObjectsKey).compactMap(run.name), ["new"], "inserted")
                try expect(objects(NSRefreshedObjectsKey).contains(scene.a), "the edited object is not told of")
                try expect(objects(NSDeletedObjectsKey) == [scene.b], "the deleted object is not told of")
                try expectEqual(run.name(scene.a), "theirs")
                try expect(scene.b.managedObjectContext == nil, "the deleted object is here still")
            }
        },
        Behaviour(.contexts, "A context that merges by itself has what others saved, and its own edits above it") { run in
            let scene = try MergeScene(run)
            try scene.mine.performAndWait {
                scene.mine.automaticallyMergesChangesFromParent = true
                try scene.editMine()
            }
            _ = try scene.saveTheirs()
            // The merge is enqueued on the context's queue before this block.
            try scene.mine.performAndWait { try scene.checkMine() }
            try scene.checkStore()
        },
        Behaviour(.contexts, "A child that merges by itself has what its parent saves") { run in
            let parent = run.context()
            let child = run.child(of: parent)
            try parent.performAndWait {
                run.addMember("a", 1, in: parent)
                try parent.save()
            }
            let object = try child.performAndWait { () -> NSManagedObject in
                child.automaticallyMergesChangesFromParent = true
                let object = try run.member("a", child)
                object.setValue("mine", forKey: run.roles.memberName)
                return object
            }
            try parent.performAndWait {
                try run.member("a", parent).setValue(10, forKey: run.roles.memberNumber)
                try parent.save()
            }
            try child.performAndWait {
                try expectEqual(run.number(object), 10)
                try expectEqual(run.name(object), "mine")
                try child.save()
            }
            try parent.performAndWait { try parent.save() }
            try run.elsewhere { try expectEqual(try run.members($0).map { "\(run.name($0) ?? "") \(run.number($0) ?? 0)" }, ["mine 10"]) }
        },
        Behaviour(.contexts, "A merged relationship has what was added here and there, and lacks what was taken out") { run in
            try run.inContext { context in
                run.addGroup("g", members: ["a", "b", "c"], in: context)
                try context.save()
            }
            let (first, second) = (run.context(), run.context())
            let group = try second.performAndWait { () -> NSManagedObject in
                let group = try run.groups(second).at(0)
                try run.member("a", second).setValue(nil, forKey: run.roles.memberGroup)
                run.addMember("mine", to: group, in: second)
                return group
            }
            let saved = try first.performAndWait { () -> Notification in
                try run.member("b", first).setValue(nil, forKey: run.roles.memberGroup)
                run.addMember("theirs", to: try run.groups(first).at(0), in: first)
                return try savedNotification(of: first)
            }
            try second.performAndWait {
                second.mergeChanges(fromContextDidSave: saved)
                try expectEqual(run.memberNames(of: group), ["c", "mine", "theirs"])
                try second.save()
            }
            try run.elsewhere { try expectEqual(run.memberNames(of: try run.groups($0).at(0)), ["c", "mine", "theirs"]) }
        },
    ]

    /// Returns the notification of a context's save.
    private static func savedNotification(of context: NSManagedObjectContext) throws -> Notification {
        let posted = try notifications(.NSManagedObjectContextDidSave, of: context) { try context.save() }
        guard posted.count == 1 else { throw ConformanceFailure(description: "a save has posted \(posted.count) notifications") }
        return try posted.at(0)
    }

    /// Returns the notifications of a name that a context posts while `body` runs, on its queue.
    private static func notifications(
        _ name: Notification.Name, of context: NSManagedObjectContext, during body: () throws -> Void
    ) throws -> [Notification] {
        // Used on the context's queue, while this waits.
        nonisolated(unsafe) var posted: [Notification] = []
        let token = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { posted.append($0) }
        defer { NotificationCenter.default.removeObserver(token) }
        try body()
        return posted
    }

    /// Two members read by a context, one of which others edit while they delete the other.
    private struct MergeScene {
        let run: ConformanceRun
        let mine: NSManagedObjectContext
        let a: NSManagedObject
        let b: NSManagedObject

        init(_ run: ConformanceRun) throws {
            self.run = run
            try run.inContext { context in
                run.addMember("a", 1, in: context)
                run.addMember("b", 2, in: context)
                try context.save()
            }
            let mine = run.context()
            self.mine = mine
            (a, b) = try mine.performAndWait {
                let pair = (try run.member("a", mine), try run.member("b", mine))
                _ = (run.number(pair.0), run.number(pair.1))
                return pair
            }
        }

        func saveTheirs() throws -> Notification {
            let theirs = run.context()
            return try theirs.performAndWait {
                try run.member("a", theirs).setValue("theirs", forKey: run.roles.memberName)
                theirs.delete(try run.member("b", theirs))
                run.addMember("new", 3, in: theirs)
                return try savedNotification(of: theirs)
            }
        }

        func editMine() throws {
            a.setValue(10, forKey: run.roles.memberNumber)
            run.addMember("mine", 4, in: mine)
        }

        func checkMine() throws {
            try expectEqual(run.name(a), "theirs", "what was edited there:")
            try expectEqual(run.number(a), 10, "what was edited here:")
            try expect(mine.updatedObjects == [a], "the edit is forgotten")
            try expectEqual(mine.insertedObjects.compactMap(run.name), ["mine"], "inserted here:")
            try expect(b.managedObjectContext == nil, "what was deleted there lives on here")
            try expectEqual(run.names(try run.members(mine)), ["mine", "new", "theirs"], "fetched")
            try mine.save()
        }

        func checkStore() throws {
            try run.elsewhere { context in
                try expectEqual(
                    try run.members(context).map { "\(run.name($0) ?? "") \(run.number($0) ?? 0)" }, ["mine 4", "new 3", "theirs 10"])
            }
        }
    }
}
