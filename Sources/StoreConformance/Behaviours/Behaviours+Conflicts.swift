internal import CoreData
internal import Platform

extension Behaviour {
    /// The behaviours of two contexts that change one object.
    static let conflicts: [Behaviour] = [
        Behaviour(
            .contexts, "Two contexts edit one row: the second save fails and lists both snapshots, or is resolved as the policy says",
            requires: .detectsConflicts
        ) { run in
            let expected: [(NSMergePolicyType, Int)] = [
                (.mergeByPropertyStoreTrumpMergePolicyType, 10), (.mergeByPropertyObjectTrumpMergePolicyType, 20),
                (.overwriteMergePolicyType, 20), (.rollbackMergePolicyType, 10),
            ]
            for (policy, number) in expected {
                let (first, second) = (run.context(), run.context())
                let name = "m\(policy.rawValue)"
                try run.inContext { context in
                    run.addMember(name, 1, in: context)
                    try context.save()
                }
                let object = try second.performAndWait { () -> NSManagedObject in
                    let object = try run.member(name, second)
                    _ = run.number(object)
                    return object
                }
                try first.performAndWait {
                    try run.member(name, first).setValue(10, forKey: run.roles.memberNumber)
                    try first.save()
                }
                try second.performAndWait {
                    object.setValue(20, forKey: run.roles.memberNumber)
                    let error = try expectError(code: NSManagedObjectMergeError, "the second save") { try second.save() }
                    let conflict = (error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.first
                    try expect(conflict?.sourceObject === object, "the conflict names another object")
                    let numbers = [conflict?.objectSnapshot, conflict?.persistedSnapshot].map { $0?[run.roles.memberNumber] as? Int }
                    try expectEqual(numbers, [1, 10], "the snapshots")
                    try expect(second.hasChanges, "the edit is lost")
                    second.mergePolicy = NSMergePolicy(merge: policy)
                    try second.save()
                }
                try run.inContext { try expectEqual(run.number(try run.member(name, $0)), number, "policy \(policy.rawValue)") }
            }
        },
        Behaviour(
            .contexts, "Two contexts edit two properties of one row: both stay under a policy by property", requires: .detectsConflicts
        ) {
            run in
            let expected: [(NSMergePolicyType, String)] = [
                (.mergeByPropertyStoreTrumpMergePolicyType, "theirs 2"), (.mergeByPropertyObjectTrumpMergePolicyType, "theirs 2"),
                (.overwriteMergePolicyType, "m 2"), (.rollbackMergePolicyType, "theirs 1"),
            ]
            for (policy, wanted) in expected {
                let race = try Race(run)
                try race.theirs { $0.setValue("theirs", forKey: run.roles.memberName) }
                try race.mine { $0.setValue(2, forKey: run.roles.memberNumber) }
                try race.saveWithPolicy(policy)
                try expectEqual(try race.stored(), wanted, "policy \(policy.rawValue):")
            }
        },
        Behaviour(.contexts, "Deleted there, edited here: an error, or resolved as the policy says", requires: .detectsConflicts) { run in
            for (policy, edited) in [(storeTrumps, nil), (rollsBack, nil), (objectTrumps, "m 2"), (overwrites, "m 2")] {
                let race = try Race(run)
                try race.theirs { $0.managedObjectContext?.delete($0) }
                try race.mine { $0.setValue(2, forKey: run.roles.memberNumber) }
                try race.saveWithPolicy(policy)
                try expectEqual(try race.stored(), edited, "policy \(policy.rawValue):")
            }
        },
        Behaviour(.contexts, "Edited there, deleted here: an error, or resolved as the policy says", requires: .detectsConflicts) { run in
            for (policy, edited) in [(storeTrumps, "m 2"), (rollsBack, "m 2"), (objectTrumps, nil), (overwrites, nil)] {
                let race = try Race(run)
                try race.theirs { $0.setValue(2, forKey: run.roles.memberNumber) }
                try race.mine { $0.managedObjectContext?.delete($0) }
                try race.saveWithPolicy(policy)
                try expectEqual(try race.stored(), edited, "policy \(policy.rawValue):")
            }
        },
        Behaviour(.contexts, "Deleted there and here: an error, or the object is deleted, under every policy", requires: .detectsConflicts)
        {
            run in
            for policy in [storeTrumps, rollsBack, objectTrumps, overwrites] {
                let race = try Race(run)
                try race.theirs { $0.managedObjectContext?.delete($0) }
                try race.mine { $0.managedObjectContext?.delete($0) }
                try race.saveWithPolicy(policy)
                try expectEqual(try race.stored(), nil, "policy \(policy.rawValue):")
            }
        },
        Behaviour(.contexts, "After a refresh with merging the save that was in conflict succeeds", requires: .detectsConflicts) { run in
            let race = try Race(run)
            try race.theirs { $0.setValue("theirs", forKey: run.roles.memberName) }
            try race.mine { $0.setValue(2, forKey: run.roles.memberNumber) }
            try race.context.performAndWait {
                _ = try expectError(code: NSManagedObjectMergeError, "the second save") { try race.context.save() }
                race.context.refresh(race.object, mergeChanges: true)
                try race.context.save()
            }
            try expectEqual(try race.stored(), "theirs 2")
        },
        Behaviour(.contexts, "Many contexts save at once, and nothing is lost") { run in
            let contexts = (0..<4).map { _ in run.context() }
            let failures = FailureList()
            let group = DispatchGroup()
            for (index, context) in contexts.enumerated() {
                group.enter()
                context.perform {
                    defer { group.leave() }
                    do {
                        for round in 0..<10 {
                            run.addGroup("\(index).\(round)", members: ["\(index).\(round)"], in: context)
                            try context.save()
                        }
                    } catch { failures.add(error) }
                }
            }
            group.wait()
            try failures.throwFirst()
            try run.inContext { context in
                try expectEqual(try run.groups(context).count, 40)
                try expect(try run.groups(context).allSatisfy { run.memberNames(of: $0).count == 1 }, "a group has lost its member")
            }
        },
    ]

    private static let storeTrumps = NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType
    private static let objectTrumps = NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType
    private static let overwrites = NSMergePolicyType.overwriteMergePolicyType
    private static let rollsBack = NSMergePolicyType.rollbackMergePolicyType

    /// A member “m 1” that a context has read before another changes it.
    private struct Race {
        let run: ConformanceRun
        let context: NSManagedObjectContext
        let object: NSManagedObject

        init(_ run: ConformanceRun) throws {
            self.run = run
            try run.inContext { context in
                for object in try run.members(context) { context.delete(object) }
                run.addMember("m", 1, in: context)
                try context.save()
            }
            let context = run.context()
            self.context = context
            object = try context.performAndWait {
                let object = try run.member("m", context)
                _ = run.number(object)
                return object
            }
        }

        func theirs(_ change: (NSManagedObject) -> Void) throws {
            try run.inContext { context in
                change(try run.member("m", context))
                try context.save()
            }
        }

        func mine(_ change: (NSManagedObject) -> Void) throws { context.performAndWait { change(object) } }

        /// Saves this context's changes: without a merge policy the save fails and loses nothing; with one it succeeds.
        func saveWithPolicy(_ policy: NSMergePolicyType) throws {
            try context.performAndWait {
                let error = try expectError(code: NSManagedObjectMergeError, "the save under the error policy") { try context.save() }
                let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
                try expect(conflicts?.count == 1 && conflicts?[0].sourceObject === object, "the conflict names other objects")
                try expect(context.hasChanges, "the change is lost")
                context.mergePolicy = NSMergePolicy(merge: policy)
                try context.save()
                try expect(!context.hasChanges, "the context is dirty after policy \(policy.rawValue)")
                // This context's values equal the stored ones.
                try expectEqual(try shown(context), try stored(), "shown after policy \(policy.rawValue):")
            }
        }

        func stored() throws -> String? { try run.inContext(shown) }

        private func shown(_ context: NSManagedObjectContext) throws -> String? {
            let members = try run.members(context)
            try expect(members.count <= 1, "there are \(members.count) members")
            return members.first.map { "\(run.name($0) ?? "nil") \(run.number($0).map { "\($0)" } ?? "nil")" }
        }
    }
}

/// Collects errors of other threads.
private final class FailureList: Sendable {
    private let errors = LockedBox<[any Error]>([])
    func add(_ error: any Error) { errors.withLock { $0.append(error) } }
    func throwFirst() throws { if let first = errors.withLock({ $0.first }) { throw first } }
}
