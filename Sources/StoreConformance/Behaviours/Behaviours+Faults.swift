internal import CoreData

extension Behaviour {
    /// The behaviours of faults: when values are loaded, how old they may be, and how often a store is queried.
    static let faults: [Behaviour] = [
        Behaviour(.relationships, "A second context reads what the first has read; the store is not asked again") { run in
            try run.inContext { context in
                run.addGroup("g", members: ["a", "b"], in: context)
                try context.save()
            }
            let (first, second) = (run.context(), run.context())
            let members = try first.performAndWait { () -> [NSManagedObject] in
                let members = run.related(try run.groups(first).at(0), run.roles.members)
                try expectEqual(members.compactMap(run.name).sorted(), ["a", "b"])
                return members
            }
            let calls = try run.calls {
                try second.performAndWait {
                    let names = members.map { run.name(second.object(with: $0.objectID)) ?? "nil" }
                    try expectEqual(names.sorted(), ["a", "b"])
                }
            }
            withExtendedLifetime(first) {}
            if let calls { try expectEqual(calls, 0, "calls of the store for rows that are in memory:") }
        },
        Behaviour(.relationships, "A fault reads the same whatever the staleness interval, and asks the store where that is 0") {
            run in
            try run.inContext { context in
                run.addMember("a", 5, in: context)
                try context.save()
            }
            let keeper = run.context()
            let object = try keeper.performAndWait { () -> NSManagedObject in
                let object = try run.member("a", keeper)
                _ = run.number(object)
                return object
            }
            for interval in [-1, 0, 3600] as [TimeInterval] {
                let reader = run.context()
                reader.stalenessInterval = interval
                let calls = try run.calls {
                    try reader.performAndWait {
                        try expectEqual(run.number(reader.object(with: object.objectID)), 5, "interval \(interval)")
                    }
                }
                if let calls { try expectEqual(calls > 0, interval == 0, "calls of the store with interval \(interval):") }
            }
            withExtendedLifetime(keeper) {}
        },
        Behaviour(.relationships, "Values that an object has stay until it is refreshed, whatever others save") { run in
            let (mine, object) = try run.staleMember()
            try mine.performAndWait {
                try expectEqual(run.number(object), 1, "before the refresh")
                mine.refresh(object, mergeChanges: false)
                try expect(object.isFault, "the refreshed object is not a fault")
                try expectEqual(run.number(object), 10, "after the refresh")
                try expectEqual(run.groupName(of: object), "2", "the relationship after the refresh")
                try expect(!mine.hasChanges, "a refresh has changed something")
            }
        },
        Behaviour(.relationships, "A refresh takes what others have saved; with merging unsaved edits stay above it") { run in
            for merging in [true, false] {
                let (mine, object) = try run.staleMember()
                try mine.performAndWait {
                    object.setValue("mine", forKey: run.roles.memberName)
                    mine.refresh(object, mergeChanges: merging)
                    try expectEqual(run.name(object), merging ? "mine" : "a", "the edit, merging \(merging):")
                    try expectEqual(run.number(object), 10, "what others have saved, merging \(merging):")
                    try expectEqual(run.groupName(of: object), "2")
                    try expectEqual(mine.hasChanges, merging, "unsaved changes, merging \(merging):")
                    try mine.save()
                    mine.delete(object)
                    try mine.save()
                }
            }
        },
        Behaviour(.relationships, "Refreshing all objects shows what others have saved and keeps what is unsaved") { run in
            let (mine, object) = try run.staleMember()
            try mine.performAndWait {
                let doomed = run.addMember("z", in: mine)
                let edited = run.addMember("y", 1, in: mine)
                try mine.save()
                mine.delete(doomed)
                edited.setValue(2, forKey: run.roles.memberNumber)
                let new = run.addMember("x", 3, in: mine)
                mine.refreshAllObjects()
                try expectEqual(run.number(object), 10)
                try expectEqual(run.number(edited), 2)
                try expect(mine.insertedObjects == [new], "the insert is lost")
                try expect(mine.deletedObjects == [doomed], "the delete is lost")
                try mine.save()
            }
            try run.elsewhere { try expectEqual(try run.members($0).map { run.number($0) }, [10, 3, 2]) }
        },
        Behaviour(.relationships, "A reset forgets every object, and the next fetch shows what the store has") { run in
            let (mine, object) = try run.staleMember()
            try mine.performAndWait {
                run.addMember("unsaved", in: mine)
                mine.reset()
                try expect(object.managedObjectContext == nil, "an object lives on in the context")
                try expect(!mine.hasChanges && mine.registeredObjects.isEmpty, "something is left in the context")
                try expectEqual(try run.members(mine).map { run.number($0) }, [10])
            }
        },
        Behaviour(.relationships, "Walking from many objects to one and from there to many finds all, in a handful of calls") { run in
            try run.inContext { context in
                for number in 0..<100 {
                    run.addGroup("\(number)", members: (0..<3).map { "\(number).\($0)" }, in: context)
                }
                try context.save()
            }
            let down = try run.calls {
                try run.inContext { context in
                    for group in try run.all(run.roles.group, context) {
                        guard let name = group.value(forKey: run.roles.groupName) as? String else {
                            throw ConformanceFailure(description: "a group has lost its name")
                        }
                        try expectEqual(run.memberNames(of: group), (0..<3).map { "\(name).\($0)" })
                    }
                }
            }
            if let down { try expect(down < 12, "from 100 groups to their members the store was asked \(down) times") }
            let up = try run.calls {
                try run.inContext { context in
                    let members = try run.all(run.roles.member, context)
                    try expectEqual(members.count, 300)
                    for member in members {
                        guard let name = run.name(member), let group = run.groupName(of: member), name.hasPrefix("\(group).") else {
                            throw ConformanceFailure(description: "\(member.objectID) has lost its name or its group")
                        }
                    }
                }
            }
            if let up { try expect(up < 12, "from 300 members to their groups the store was asked \(up) times") }
        },
    ]
}

extension ConformanceRun {
    /// Returns a member with the number 1 in the group “1”, read by a context that does not know of another's change to 10 and “2”.
    fileprivate func staleMember() throws -> (NSManagedObjectContext, NSManagedObject) {
        try inContext { context in
            for object in try groups(context) { context.delete(object) }
            let first = addGroup("1", in: context)
            addGroup("2", in: context)
            addMember("a", 1, to: first, in: context)
            try context.save()
        }
        let mine = context()
        let object = try mine.performAndWait { () -> NSManagedObject in
            let object = try member("a", mine)
            guard number(object) == 1, groupName(of: object) == "1" else {
                throw ConformanceFailure(description: "the saved member reads otherwise")
            }
            return object
        }
        try inContext { context in
            let theirs = try member("a", context)
            theirs.setValue(10, forKey: roles.memberNumber)
            theirs.setValue(try groups(context).at(1), forKey: roles.memberGroup)
            try context.save()
        }
        return (mine, object)
    }
}
