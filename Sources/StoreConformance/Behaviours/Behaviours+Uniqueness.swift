internal import CoreData

extension Behaviour {
    /// The behaviours of uniqueness constraints.
    static let uniqueness: [Behaviour] = [
        Behaviour(
            .contexts, "A new object with the unique value of a saved one: the save fails and names both", requires: unique
        ) { run in
            try run.inContext { context in
                let saved = run.add("Badge", ["code": "a"], in: context)
                try context.save()
                let new = run.add("Badge", ["code": "a"], in: context)
                let error = try expectError(code: NSManagedObjectConstraintMergeError, "saving a value that is taken") {
                    try context.save()
                }
                let conflict = (error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first
                try expectEqual(conflict?.constraint, ["code"])
                try expectEqual(conflict?.constraintValues["code"] as? String, "a")
                try expect(conflict?.conflictingObjects == [new], "the conflict names another object")
                try expect(conflict?.databaseObject === saved, "the conflict names another saved object")
                try expect(context.insertedObjects == [new], "the insert is forgotten")
                try expectEqual(try badges(run), ["a -"], "in the store:")
                new.setValue("b", forKey: "code")
                try context.save()
            }
            try run.elsewhere { try expectEqual(try badges($0), ["a -", "b -"]) }
        },
        Behaviour(.contexts, "Two new objects with one unique value are refused, or become one", requires: unique) { run in
            try run.inContext { context in
                let twins: Set = [run.add("Badge", ["code": "a"], in: context), run.add("Badge", ["code": "a"], in: context)]
                let error = try expectError(code: NSManagedObjectConstraintMergeError, "saving twins") { try context.save() }
                let conflict = (error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first
                try expect(Set(conflict?.conflictingObjects ?? []) == twins, "the conflict names other objects")
                context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                try context.save()
                try expectEqual(try badges(context), ["a -"])
            }
            try run.elsewhere { try expectEqual(try badges($0), ["a -"]) }
        },
        Behaviour(.contexts, "A new object with the unique value of a saved one updates it or gives way, by policy", requires: unique) {
            run in
            let expected: [(NSMergePolicyType, String)] = [
                (.mergeByPropertyObjectTrumpMergePolicyType, "red 7"), (.overwriteMergePolicyType, "red 0"),
                (.mergeByPropertyStoreTrumpMergePolicyType, "blue 7"), (.rollbackMergePolicyType, "blue 7"),
            ]
            for (policy, wanted) in expected {
                let code = "p\(policy.rawValue)"
                let id = try run.inContext { context -> NSManagedObjectID in
                    let object = run.add("Badge", ["code": code, "colour": "blue", "points": 7], in: context)
                    try context.save()
                    return object.objectID
                }
                try run.inContext { context in
                    context.mergePolicy = NSMergePolicy(merge: policy)
                    run.add("Badge", ["code": code, "colour": "red"], in: context)
                    try context.save()
                    try expect(!context.hasChanges, "the context is dirty, policy \(policy.rawValue)")
                }
                try run.inContext { context in
                    let found = try run.all("Badge", context, NSPredicate(format: "code == %@", code))
                    try expectEqual(found.count, 1, "policy \(policy.rawValue):")
                    try expectEqual(try found.at(0).objectID, id, "the saved object has gone, policy \(policy.rawValue):")
                    let values = "\(try found.at(0).value(forKey: "colour") ?? "nil") \(try found.at(0).value(forKey: "points") ?? "nil")"
                    try expectEqual(values, wanted, "policy \(policy.rawValue):")
                }
            }
        },
        Behaviour(.contexts, "Nil is never a duplicate, and a unique value may move to another object within one save", requires: unique) {
            run in
            try run.inContext { context in
                let (a, b) = (run.add("Badge", ["code": "a"], in: context), run.add("Badge", ["code": "b"], in: context))
                run.add("Badge", in: context)
                run.add("Badge", in: context)
                try context.save()
                a.setValue("b", forKey: "code")
                b.setValue("a", forKey: "code")
                try context.save()
                context.delete(a)
                run.add("Badge", ["code": "b", "colour": "new"], in: context)
                try context.save()
            }
            try run.elsewhere { try expectEqual(try badges($0), ["- -", "- -", "a -", "b new"]) }
        },
    ]

    private static let unique: StoreUnderTest.Capabilities = [.anyModel, .enforcesUniqueness]

    private static func badges(_ run: ConformanceRun) throws -> [String] { try run.inContext { try badges($0) } }

    private static func badges(_ context: NSManagedObjectContext) throws -> [String] {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Badge"))
            .map { "\($0.value(forKey: "code") ?? "-") \($0.value(forKey: "colour") ?? "-")" }.sorted()
    }
}
