internal import CoreData

extension Behaviour {
    /// The behaviours of contexts of one coordinator, parents and children.
    static let contexts: [Behaviour] = [
        Behaviour(.contexts, "The same row is the same instance within a context") { run in
            try run.inContext { context in
                run.addGroup("g", members: ["a"], in: context)
                try context.save()
            }
            try run.elsewhere { context in
                let (first, second) = (try run.member("a", context), try run.member("a", context))
                try expect(first === second, "two fetches gave two instances")
                try expect(
                    run.related(try run.groups(context).at(0), run.roles.members).first === first, "the relationship gave another instance")
                try expect(context.object(with: first.objectID) === first, "the ID gave another instance")
            }
        },
        Behaviour(.contexts, "A second context sees what the first saved, and not before") { run in
            let (first, second) = (run.context(), run.context())
            first.performAndWait { _ = run.addMember("a", in: first) }
            try second.performAndWait { try expectEqual(try run.members(second).count, 0) }
            try first.performAndWait { try first.save() }
            try second.performAndWait { try expectEqual(try run.members(second).count, 1) }
        },
        Behaviour(.contexts, "A fetch does not lose unsaved edits") { run in
            try run.inContext { context in
                let object = run.addMember("a", 1, in: context)
                try context.save()
                object.setValue(7, forKey: run.roles.memberNumber)
                try expectEqual(try run.members(context).map { run.number($0) }, [7])
                try expect(object.hasChanges, "the edit is forgotten")
            }
        },
        Behaviour(.contexts, "A fetch shows pending inserts, edits and deletes, or not, as the request says") { run in
            try run.inContext { context in
                let (a, b) = (run.addMember("a", 1, in: context), run.addMember("b", 2, in: context))
                try context.save()
                run.addMember("c", 3, in: context)
                context.delete(a)
                b.setValue(20, forKey: run.roles.memberNumber)
                try expectEqual(run.names(try run.members(context)), ["b", "c"])
                try expectEqual(run.names(try run.members(context, NSPredicate(format: "%K >= 3", run.roles.memberNumber))), ["b", "c"])
                let request = NSFetchRequest<NSManagedObject>(entityName: run.roles.member)
                request.includesPendingChanges = false
                try expectEqual(try context.fetch(request).count, 2)
            }
        },
        Behaviour(.contexts, "A child's save reaches the parent, not the store; the parent's save reaches the store") { run in
            let parent = run.context()
            let child = run.child(of: parent)
            try child.performAndWait {
                run.addGroup("g", members: ["a"], in: child)
                try child.save()
            }
            try run.inContext { try expectEqual(try run.members($0).count, 0, "after the child's save") }
            try parent.performAndWait {
                try expectEqual(run.memberNames(of: try run.groups(parent).at(0)), ["a"], "in the parent")
                try parent.save()
            }
            try run.elsewhere { try expectEqual(run.memberNames(of: try run.groups($0).at(0)), ["a"], "after the parent's save") }
        },
        Behaviour(.contexts, "A child sees what is unsaved in its parent, and edits reach it as edits") { run in
            let parent = run.context()
            let child = run.child(of: parent)
            try parent.performAndWait {
                run.addMember("a", 1, in: parent)
                try parent.save()
                try run.member("a", parent).setValue(2, forKey: run.roles.memberNumber)
            }
            try child.performAndWait {
                let object = try run.member("a", child)
                try expectEqual(run.number(object), 2)
                object.setValue(3, forKey: run.roles.memberNumber)
                try child.save()
            }
            try parent.performAndWait {
                try expectEqual(run.number(try run.member("a", parent)), 3)
                try parent.save()
            }
            try run.elsewhere { try expectEqual(run.number(try run.member("a", $0)), 3) }
        },
        Behaviour(.contexts, "The notifications of a change and of a save carry the right sets, once") { run in
            try run.inContext { context in
                let (a, b) = (run.addMember("a", 1, in: context), run.addMember("b", 2, in: context))
                try context.save()
                let log = NotificationLog(context)
                a.setValue(5, forKey: run.roles.memberNumber)
                context.delete(b)
                let c = run.addMember("c", in: context)
                try context.save()
                try expectEqual(
                    log.names,
                    [.NSManagedObjectContextWillSave, .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextDidSave].sortedByName,
                    "notifications")
                for name in [Notification.Name.NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextDidSave] {
                    try expectEqual(log.objects(name, NSInsertedObjectsKey), [c], "\(name) inserted")
                    try expectEqual(log.objects(name, NSUpdatedObjectsKey), [a], "\(name) updated")
                    try expectEqual(log.objects(name, NSDeletedObjectsKey), [b], "\(name) deleted")
                }
            }
        },
        Behaviour(.contexts, "A fault for a deleted row reads as deleted, or is an error that names the object, as the context says") {
            run in
            try run.inContext { context in
                run.addMember("a", in: context)
                try context.save()
            }
            let (lenient, strict) = (run.context(), run.context())
            strict.shouldDeleteInaccessibleFaults = false
            // IDs only: no row is loaded when the object is released.
            func fault(_ context: NSManagedObjectContext) throws -> NSManagedObject {
                let request = NSFetchRequest<NSManagedObjectID>(entityName: run.roles.member)
                request.resultType = .managedObjectIDResultType
                return context.object(with: try context.fetch(request).at(0))
            }
            let first = try lenient.performAndWait { try fault(lenient).objectID }
            try run.inContext { context in
                context.delete(try run.member("a", context))
                try context.save()
            }
            try lenient.performAndWait {
                let object = lenient.object(with: first)
                try expect(object.value(forKey: run.roles.memberName) == nil, "a value of a row that is gone")
                try lenient.throwPendingFaultError()
            }
            try strict.performAndWait {
                _ = strict.object(with: first).value(forKey: run.roles.memberName)
                _ = try expectError(code: NSManagedObjectReferentialIntegrityError, "reading a row that is gone") {
                    try strict.throwPendingFaultError()
                }
            }
        },
    ]
}

/// Records the notifications of a context, ordered by name.
private final class NotificationLog {
    // Used on the context's queue only.
    private final class Entries: @unchecked Sendable { var notifications: [Notification] = [] }
    private let entries = Entries()
    private var observers: [any NSObjectProtocol] = []

    init(_ context: NSManagedObjectContext) {
        let names: [Notification.Name] = [
            .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave,
        ]
        let entries = entries
        observers = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { entries.notifications.append($0) }
        }
    }

    deinit { for observer in observers { NotificationCenter.default.removeObserver(observer) } }

    var names: [Notification.Name] { entries.notifications.map(\.name).sortedByName }

    func objects(_ name: Notification.Name, _ key: String) -> Set<NSManagedObject> {
        entries.notifications.first { $0.name == name }?.userInfo?[key] as? Set<NSManagedObject> ?? []
    }
}

extension [Notification.Name] {
    fileprivate var sortedByName: [Notification.Name] { sorted { $0.rawValue < $1.rawValue } }
}
