internal import CoreData

extension Behaviour {
    /// The behaviours of persistence: values, edits and relationships in any model, identities, metadata.
    static let keeping: [Behaviour] = [
        Behaviour(.changes, "Every insert of a save is kept", look: "insertedObjects of the save request") { run in
            try run.inContext { context in
                for name in ["a", "b", "c"] { run.addMember(name, 1, in: context) }
                try context.save()
            }
            try run.elsewhere { try expectEqual(run.names(try run.members($0)), ["a", "b", "c"]) }
        },
        Behaviour(.changes, "An edit is kept, and only that of the object that was edited", look: "updatedObjects of the save request") {
            run in
            try run.inContext { context in
                for (index, name) in ["a", "b", "c"].enumerated() { run.addMember(name, index, in: context) }
                try context.save()
            }
            try run.inContext { context in
                try run.member("b", context).setValue(20, forKey: run.roles.memberNumber)
                try context.save()
            }
            try run.elsewhere { try expectEqual(try run.members($0).map { run.number($0) }, [0, 20, 2]) }
        },
        Behaviour(.changes, "Each object reads its own values", look: "the values for an object ID") { run in
            try run.inContext { context in
                for index in 0..<10 { run.addMember("m\(index)", index, in: context) }
                try context.save()
            }
            try run.elsewhere { context in
                try expectEqual(run.names(try run.members(context)), (0..<10).map { "m\($0)" }, "the names")
                for object in try run.members(context).reversed() { try expectEqual(run.name(object), "m\(run.number(object) ?? -1)") }
            }
        },
        Behaviour(.changes, "Text of any length comes back as it was: spaces, case, emoji, line ends", look: "text values") { run in
            let texts = [
                " space before", "space after ", "MiXeD", "line\none", "tab\tquote\"'\\", "👩‍👩‍👧🏳️‍🌈", "e\u{301}", "0012",
                String(repeating: "long ", count: 2000),
            ]
            try run.inContext { context in
                for (index, text) in texts.enumerated() { run.addMember(text, index, in: context) }
                try context.save()
            }
            try run.elsewhere { context in
                for object in try run.all(run.roles.member, context) {
                    let wanted = texts[run.number(object) ?? 0]
                    let found = run.name(object) ?? "nil"
                    try expect(
                        found.unicodeScalars.elementsEqual(wanted.unicodeScalars),
                        "“\(wanted.prefix(40))” of \(wanted.count) characters came back as “\(found.prefix(40))” of \(found.count)")
                }
            }
        },
        Behaviour(.changes, "Large whole numbers come back digit for digit", look: "numbers that a Double cannot hold") { run in
            guard run.attribute(run.roles.memberNumber)?.attributeType == .integer64AttributeType else { return }
            let numbers = [Int.max, Int.min, 1 << 53 + 1, -(1 << 53) - 1, -1, 0]
            try run.inContext { context in
                for (index, number) in numbers.enumerated() { run.addMember("m\(index)", number, in: context) }
                try context.save()
            }
            try run.elsewhere { try expectEqual(try run.members($0).map { run.number($0) }, numbers) }
        },
        Behaviour(.changes, "Dates come back as they were, and nil as nil", look: "date values, time zones, and values that are not set") {
            run in
            guard let key = run.optionalDate else { return }
            let dates = [Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSinceReferenceDate: -978_307_200.5), nil]
            try run.inContext { context in
                for (index, date) in dates.enumerated() { run.addMember("m\(index)", index, in: context).setValue(date, forKey: key) }
                try context.save()
            }
            try run.elsewhere { try expectEqual(try run.members($0).map { $0.value(forKey: key) as? Date }, dates, key) }
        },
        Behaviour(.relationships, "Both sides of a relationship are kept, and all of its objects", look: "relationships to one and to many")
        { run in
            try run.inContext { context in
                run.addGroup("g", members: ["a", "b", "c"], in: context)
                run.addGroup("h", members: ["d"], in: context)
                run.addGroup("i", in: context)
                try context.save()
            }
            try run.elsewhere { context in
                try expectEqual(
                    try run.groups(context).map { run.memberNames(of: $0) }, [["a", "b", "c"], ["d"], []], "from groups to members")
                try expectEqual(try run.members(context).map { run.groupName(of: $0) }, ["g", "g", "g", "h"], "from members to groups")
            }
            try run.inContext { context in
                try run.member("a", context).setValue(try run.groups(context).at(2), forKey: run.roles.memberGroup)
                try run.member("b", context).setValue(nil, forKey: run.roles.memberGroup)
                try context.save()
            }
            try run.elsewhere { context in
                try expectEqual(
                    try run.groups(context).map { run.memberNames(of: $0) }, [["c"], ["d"], ["a"]], "moved, from groups to members")
                try expectEqual(
                    try run.members(context).map { run.groupName(of: $0) }, ["i", nil, "g", "h"], "moved, from members to groups")
            }
        },
        Behaviour(
            .relationships, "The delete rule of the model reaches the store",
            look: "objects that are changed or deleted together with others"
        ) { run in
            let relationship = run.coordinator.managedObjectModel.entitiesByName[run.roles.group]?.relationshipsByName[run.roles.members]
            guard let rule = relationship?.deleteRule, rule == .cascadeDeleteRule || rule == .nullifyDeleteRule else { return }
            try run.inContext { context in
                run.addGroup("g", members: ["a", "b"], in: context)
                run.addGroup("h", members: ["c"], in: context)
                try context.save()
            }
            try run.inContext { context in
                context.delete(try run.groups(context).at(0))
                try context.save()
            }
            try run.elsewhere { context in
                try expectEqual(try run.groups(context).count, 1, "groups")
                let wanted: [String?] = rule == .cascadeDeleteRule ? ["h"] : [nil, nil, "h"]
                try expectEqual(try run.members(context).map { run.groupName(of: $0) }, wanted, "the groups of the members")
                for member in try run.members(context) {
                    guard let group = member.value(forKey: run.roles.memberGroup) as? NSManagedObject else { continue }
                    try expectEqual(group.value(forKey: run.roles.groupName) as? String, "h", "a member's group")
                }
                let orphans = try run.all(run.roles.member, context, NSPredicate(format: "%K == nil", run.roles.memberGroup))
                try expectEqual(orphans.count, rule == .cascadeDeleteRule ? 0 : 2, "members without a group")
            }
        },
        Behaviour(.contexts, "Contexts that save in turn, each after reading, do not conflict", look: "the versions of rows") { run in
            let (first, second) = (run.context(), run.context())
            let object = try first.performAndWait {
                let object = run.addMember("a", 0, in: first)
                try first.save()
                return object
            }
            for round in 1...3 {
                try second.performAndWait {
                    let theirs = try run.member("a", second)
                    second.refresh(theirs, mergeChanges: false)
                    try expectEqual(run.number(theirs), (round - 1) * 2, "round \(round), there:")
                    theirs.setValue(round * 2 - 1, forKey: run.roles.memberNumber)
                    try second.save()
                }
                try first.performAndWait {
                    first.refresh(object, mergeChanges: false)
                    try expectEqual(run.number(object), round * 2 - 1, "round \(round), here:")
                    object.setValue(round * 2, forKey: run.roles.memberNumber)
                    try first.save()
                }
            }
            try run.elsewhere { try expectEqual(try run.members($0).map { run.number($0) }, [6]) }
        },
        Behaviour(
            .contexts, "An edit of what others have saved is not a silent success", requires: .detectsConflicts,
            look: "the version an object was read with"
        ) { run in
            try run.inContext { context in
                run.addMember("a", 1, in: context)
                try context.save()
            }
            let second = run.context()
            let object = try second.performAndWait {
                let object = try run.member("a", second)
                _ = run.number(object)
                return object
            }
            try run.inContext { context in
                try run.member("a", context).setValue(2, forKey: run.roles.memberNumber)
                try context.save()
            }
            try second.performAndWait {
                object.setValue(3, forKey: run.roles.memberNumber)
                _ = try expectError(code: NSManagedObjectMergeError, "the save of an edit over another's") { try second.save() }
            }
            try run.elsewhere { try expectEqual(try run.members($0).map { run.number($0) }, [2], "what is stored") }
        },
        Behaviour(
            .contexts, "What another coordinator has saved is not overwritten, and a refused save writes nothing",
            requires: [.durable, .detectsConflicts, .savesAtomically],
            look: "the version of a row when it is written, and the error of a conflict"
        ) { run in
            // A store that is read completely when it is opened does not know other objects.
            if run.coordinator.persistentStores.contains(where: { $0 is NSAtomicStore }) { return }
            try run.inContext { context in
                for name in ["a", "b", "c"] { run.addMember(name, 1, in: context) }
                try context.save()
            }
            let mine = run.context()
            let members = try mine.performAndWait {
                let members = try run.members(mine)
                for member in members { _ = run.number(member) }
                return members
            }
            let isShared = try run.withOtherCoordinator { other in
                let theirs = NSManagedObjectContext(.privateQueue)
                theirs.persistentStoreCoordinator = other
                try theirs.performAndWait {
                    try run.member("b", theirs).setValue(2, forKey: run.roles.memberNumber)
                    try theirs.save()
                }
            }
            guard isShared else { return }
            try mine.performAndWait {
                for member in members.prefix(2) { member.setValue(3, forKey: run.roles.memberNumber) }
                mine.delete(try members.at(2))
                run.addMember("d", in: mine)
                _ = try expectError("the save of an edit over another's") { try mine.save() }
                try expect(mine.hasChanges, "the changes are forgotten")
            }
            try run.reopen()
            try run.inContext { context in
                let stored = try run.members(context).map { "\(run.name($0) ?? "nil") \(run.number($0) ?? -1)" }
                try expectEqual(stored, ["a 1", "b 2", "c 1"], "what is stored")
            }
        },
        Behaviour(.contexts, "New objects have IDs of their own, which are not given again", look: "the IDs of new objects") { run in
            var known: Set<URL> = []
            for round in 0..<3 {
                try run.inContext { context in
                    let members = (0..<4).map { run.addMember("m\(round).\($0)", in: context) }
                    try context.save()
                    for member in members {
                        let uri = member.objectID.uriRepresentation()
                        try expect(!member.objectID.isTemporaryID, "\(uri) is still temporary")
                        try expect(known.insert(uri).inserted, "\(uri) was given twice")
                    }
                    context.delete(try members.at(0))
                    context.delete(try members.at(3))
                    try context.save()
                }
                try run.reopenIfDurable()
            }
            try run.inContext { try expectEqual(try run.members($0).count, 6) }
        },
        Behaviour(
            .contexts, "The UUID of a store is the same whenever it is opened", requires: .durable, look: "NSStoreUUIDKey in the metadata"
        ) { run in
            try run.inContext { context in
                run.addMember("a", in: context)
                try context.save()
            }
            let before = run.coordinator.persistentStores.map { $0.identifier }
            try run.reopen()
            try expectEqual(run.coordinator.persistentStores.map { $0.identifier }, before, "the UUIDs")
        },
        Behaviour(
            .contexts, "A URI leads to its object after the store was opened again", requires: .durable,
            look: "reference objects of IDs: they must be the same in every run"
        ) { run in
            let uris = try run.inContext { context in
                let members = (0..<3).map { run.addMember("m\($0)", $0, in: context) }
                try context.save()
                return members.map { $0.objectID.uriRepresentation() }
            }
            try run.reopen()
            try run.inContext { context in
                try expectEqual(try run.members(context).map { $0.objectID.uriRepresentation() }, uris, "the URIs of the same objects")
                for (index, uri) in uris.enumerated() {
                    guard let id = run.coordinator.managedObjectID(forURIRepresentation: uri) else {
                        throw ConformanceFailure(description: "\(uri) names no object after the store was opened again")
                    }
                    try expectEqual(run.name(try context.existingObject(with: id)), "m\(index)", "the object of \(uri)")
                }
            }
        },
        Behaviour(
            .contexts, "Metadata that a program has set are kept", requires: [.durable, .keepsMetadata],
            look: "the metadata, which a save writes too"
        ) { run in
            guard let store = run.coordinator.persistentStores.first else { return }
            var metadata = run.coordinator.metadata(for: store)
            metadata["conformance"] = "kept"
            run.coordinator.setMetadata(metadata, for: store)
            try run.inContext { context in
                run.addMember("a", in: context)
                try context.save()
            }
            try run.reopen()
            let after = run.coordinator.persistentStores.first.map { run.coordinator.metadata(for: $0) }
            try expectEqual(after?["conformance"] as? String, "kept", "the metadata")
        },
    ]
}

extension ConformanceRun {
    /// Returns an attribute of the members.
    fileprivate func attribute(_ name: String) -> NSAttributeDescription? {
        coordinator.managedObjectModel.entitiesByName[roles.member]?.attributesByName[name]
    }

    /// The name of an attribute of the members that may hold a date or nil; nil if they have none.
    fileprivate var optionalDate: String? {
        let attributes = coordinator.managedObjectModel.entitiesByName[roles.member]?.attributesByName.values.sorted { $0.name < $1.name }
        return attributes?.first { $0.attributeType == .dateAttributeType && $0.isOptional && !$0.isTransient && $0.defaultValue == nil }?
            .name
    }

    /// Reopens the store if it is durable.
    fileprivate func reopenIfDurable() throws { if isDurable { try reopen() } }
}
