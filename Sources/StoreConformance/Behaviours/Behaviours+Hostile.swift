internal import CoreData
internal import Dispatch
internal import Synchronization

extension Behaviour {
    /// The behaviours of calls that go wrong, or that few authors try.
    static let hostile: [Behaviour] = [
        Behaviour(
            .hostile, "A fault whose row was deleted is an error, and never an empty object",
            look: "an unknown object ID: throw code 133000"
        ) { run in
            try run.inContext { context in
                run.addMember("a", 1, in: context)
                run.addMember("b", 2, in: context)
                try context.save()
            }
            let reader = run.context()
            let fault = try reader.performAndWait { () -> NSManagedObject in
                let object = try run.member("a", reader)
                reader.refresh(object, mergeChanges: false)
                return object
            }
            try run.inContext { context in
                context.delete(try run.member("a", context))
                try context.save()
            }
            try reader.performAndWait {
                reader.shouldDeleteInaccessibleFaults = false
                _ = try expectError("reading the row of a deleted object") { _ = try reader.existingObject(with: fault.objectID) }
            }
            try run.elsewhere { try expectEqual(run.names(try run.members($0)), ["b"]) }
        },
        Behaviour(.hostile, "A URI of a deleted object leads to none, also after the store was opened again", look: "an unknown object ID")
        { run in
            let uri = try run.inContext { context -> URL in
                let object = run.addMember("a", in: context)
                try context.save()
                let uri = object.objectID.uriRepresentation()
                context.delete(object)
                try context.save()
                return uri
            }
            try run.elsewhere { context in
                guard let id = run.coordinator.managedObjectID(forURIRepresentation: uri) else { return }
                _ = try expectError("the object of \(uri)") { _ = try context.existingObject(with: id) }
            }
        },
        Behaviour(
            .hostile, "A predicate or an order over an unknown key is an error, not a result", look: "keys that the entity does not have"
        ) { run in
            try run.inContext { context in
                run.addMember("a", in: context)
                try context.save()
                _ = try expectError("a predicate over an unknown key") {
                    _ = try run.members(context, NSPredicate(format: "noSuchKey == 1"))
                }
                _ = try expectError("an order by an unknown key") {
                    _ = try run.all(run.roles.member, context, by: "noSuchKey")
                }
                try expectEqual(run.names(try run.members(context)), ["a"], "afterwards")
            }
        },
        Behaviour(.hostile, "IN takes nothing, and thousands of values", look: "long lists in the predicate") { run in
            try run.inContext { context in
                for number in 0..<50 { run.addMember("m\(number)", number, in: context) }
                try context.save()
                let key = run.roles.memberNumber
                try expectEqual(try run.members(context, NSPredicate(format: "%K IN %@", key, [Int]())).count, 0, "IN {}")
                let many = (0..<5000).map { $0 + 25 }
                try expectEqual(try run.members(context, NSPredicate(format: "%K IN %@", key, many)).count, 25, "IN 5,000 values")
                try expectEqual(try run.members(context, NSPredicate(format: "NOT %K IN %@", key, many)).count, 25, "NOT IN 5,000 values")
            }
        },
        Behaviour(
            .hostile, "A save without changes succeeds, and one of the same values, too", look: "a save request that has nothing to write"
        ) { run in
            try run.inContext { context in
                try context.save()
                let object = run.addMember("a", 1, in: context)
                try context.save()
                try context.save()
                object.setValue(1, forKey: run.roles.memberNumber)
                try context.save()
            }
            try run.elsewhere { try expectEqual(try run.members($0).map { run.number($0) }, [1]) }
        },
        Behaviour(.hostile, "A fetch with an offset beyond the end, or of nothing, is empty", look: "fetchOffset and fetchLimit") { run in
            try run.inContext { context in
                run.addMember("a", in: context)
                try context.save()
                let request = NSFetchRequest<NSManagedObject>(entityName: run.roles.member)
                request.fetchOffset = 1000
                request.fetchLimit = 10
                try expectEqual(try context.fetch(request).count, 0, "beyond the end")
                try expectEqual(try context.count(for: request), 0, "the count beyond the end")
                try expectEqual(
                    try run.members(context, NSPredicate(format: "%K == %@", run.roles.memberName, "nobody")).count, 0, "nobody")
            }
        },
        Behaviour(.hostile, "A removed store saves nothing more, and the program goes on", look: "requests after willRemove(from:)") {
            run in
            let (context, object) = try run.inContext { context in
                let object = run.addMember("a", 1, in: context)
                try context.save()
                return (context, object)
            }
            for store in run.coordinator.persistentStores { try run.coordinator.remove(store) }
            try context.performAndWait {
                object.setValue(2, forKey: run.roles.memberNumber)
                run.addMember("b", in: context)
                _ = try expectError("a save to a removed store") { try context.save() }
            }
            guard run.isDurable else { return }
            try run.reopen()
            try run.inContext { try expectEqual(try run.members($0).map { run.number($0) }, [1], "what is stored") }
        },
        Behaviour(
            .hostile, "Contexts on several threads fetch and save at once, and nothing is lost",
            look: "locks: a store is called on any thread"
        ) { run in
            let mistakes = Mutex<[String]>([])
            let shared = UncheckedRun(run: run)
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                let run = shared.run
                do {
                    for round in 0..<10 {
                        try run.inContext { context in
                            run.addMember("t\(thread).\(round)", thread * 100 + round, in: context)
                            try context.save()
                        }
                        try run.inContext { context in
                            let own = try run.members(context, NSPredicate(format: "%K BEGINSWITH %@", run.roles.memberName, "t\(thread)."))
                            try expectEqual(own.count, round + 1, "the objects of one thread")
                        }
                    }
                } catch { mistakes.withLock { $0.append("\(error)") } }
            }
            let found = mistakes.withLock { $0 }
            try expect(found.isEmpty, found.first ?? "")
            try run.elsewhere { try expectEqual(try run.members($0).count, 40) }
        },
    ]
}

/// A run that several threads use.
// Each thread creates contexts of its own; they share only the coordinator, which may be used on any thread.
private struct UncheckedRun: @unchecked Sendable {
    let run: ConformanceRun
}
