internal import CoreData

extension Behaviour {
    /// The behaviours of inverses, faults and every kind of relationship.
    static let relationships: [Behaviour] = [
        Behaviour(.relationships, "The inverse follows, both ways, before the save") { run in
            try run.inContext { context in
                let (first, second) = (run.addGroup("1", in: context), run.addGroup("2", in: context))
                let a = run.addMember("a", to: first, in: context)
                try expectEqual(run.memberNames(of: first), ["a"])
                second.setValue(Set([a]), forKey: run.roles.members)
                try expectEqual(run.groupName(of: a), "2")
                try expectEqual(run.memberNames(of: first), [])
            }
        },
        Behaviour(.relationships, "A one-to-many relationship is saved from either end, and moved") { run in
            try run.inContext { context in
                let (first, second) = (run.addGroup("1", members: ["a", "b"], in: context), run.addGroup("2", in: context))
                second.setValue(Set([run.addMember("c", in: context)]), forKey: run.roles.members)
                try context.save()
                try run.member("a", context).setValue(second, forKey: run.roles.memberGroup)
                try context.save()
                try expectEqual(run.memberNames(of: first), ["b"], "here")
            }
            try run.elsewhere { context in
                try expectEqual(try run.groups(context).map { run.memberNames(of: $0) }, [["b"], ["a", "c"]], "elsewhere")
                try expectEqual(try run.members(context).map { run.groupName(of: $0) }, ["2", "1", "2"])
            }
        },
        Behaviour(.relationships, "A to-one relationship can be set to nil") { run in
            try run.inContext { context in
                run.addGroup("g", members: ["a"], in: context)
                try context.save()
                try run.member("a", context).setValue(nil, forKey: run.roles.memberGroup)
                try context.save()
            }
            try run.elsewhere { context in
                try expectEqual(run.groupName(of: try run.member("a", context)), nil)
                try expectEqual(run.memberNames(of: try run.groups(context).at(0)), [])
            }
        },
        Behaviour(.relationships, "Touching an attribute loads one object and no relationship") { run in
            try run.inContext { context in
                run.addGroup("g", members: ["a", "b"], in: context)
                try context.save()
            }
            try run.elsewhere { context in
                let group = try run.groups(context).at(0)
                _ = group.value(forKey: run.roles.groupName)
                try expect(!group.isFault, "the object is a fault still")
                try expect(group.hasFault(forRelationshipNamed: run.roles.members), "the relationship was loaded with it")
                let members = run.related(group, run.roles.members)
                try expectEqual(members.count, 2)
                try expect(members.allSatisfy(\.isFault), "the members were loaded with the relationship")
            }
        },
        Behaviour(.relationships, "A predicate reaches over relationships") { run in
            try run.inContext { context in
                run.addGroup("1", members: ["a", "b"], in: context)
                run.addGroup("2", members: ["c"], in: context)
                try context.save()
            }
            try run.elsewhere { context in
                let byGroup = NSPredicate(format: "%K.%K == '2'", run.roles.memberGroup, run.roles.groupName)
                try expectEqual(run.names(try run.members(context, byGroup)), ["c"])
                let group = try run.groups(context).at(0)
                let byObject = NSPredicate(format: "%K == %@", run.roles.memberGroup, group)
                try expectEqual(run.names(try run.members(context, byObject)), ["a", "b"])
            }
        },
        Behaviour(.relationships, "One-to-one: a new destination replaces the old one, at both ends", requires: .anyModel) { run in
            try run.inContext { context in
                let (first, second) = (run.addGroup("1", in: context), run.addGroup("2", in: context))
                let (a, b) = (run.addMember("a", in: context), run.addMember("b", in: context))
                first.setValue(a, forKey: "head")
                second.setValue(b, forKey: "head")
                try context.save()
                first.setValue(b, forKey: "head")
                try expect(second.value(forKey: "head") == nil, "the other group keeps the head that was taken from it")
                try expect(a.value(forKey: "headOf") == nil, "the old head keeps its group")
                try context.save()
            }
            try run.elsewhere { context in
                try expectEqual(
                    try run.groups(context).map { ($0.value(forKey: "head") as? NSManagedObject).flatMap(run.name) }, ["b", nil])
                try expectEqual(
                    try run.members(context).map { ($0.value(forKey: "headOf") as? NSManagedObject)?.value(forKey: "name") as? String },
                    [nil, "1"])
            }
        },
        Behaviour(.relationships, "Many-to-many, from both ends", requires: .anyModel) { run in
            try run.inContext { context in
                let tags = ["x", "y"].map { label in
                    let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
                    tag.setValue(label, forKey: "label")
                    return tag
                }
                let (a, b) = (run.addMember("a", in: context), run.addMember("b", in: context))
                a.setValue(Set(tags), forKey: "tags")
                try tags.at(0).setValue(Set([a, b]), forKey: "tagged")
                try context.save()
                a.setValue(Set([try tags.at(1)]), forKey: "tags")
                try context.save()
            }
            try run.elsewhere { context in
                func labels(_ member: NSManagedObject) -> [String] {
                    run.related(member, "tags").compactMap { $0.value(forKey: "label") as? String }
                }
                try expectEqual(try run.members(context).map(labels), [["y"], ["x"]])
                try expectEqual(
                    try run.all("Tag", context, by: "label").map { run.related($0, "tagged").compactMap(run.name) }, [["b"], ["a"]])
            }
        },
        Behaviour(.relationships, "Many-to-many of an entity with itself", requires: .anyModel) { run in
            try run.inContext { context in
                let (a, b, c) = (run.addMember("a", in: context), run.addMember("b", in: context), run.addMember("c", in: context))
                a.setValue(Set([b, c]), forKey: "friends")
                try expectEqual(run.related(b, "friends").compactMap(run.name), ["a"])
                try context.save()
            }
            try run.elsewhere { context in
                try expectEqual(
                    try run.members(context).map { run.related($0, "friends").compactMap(run.name).sorted() }, [["b", "c"], ["a"], ["a"]])
            }
        },
        Behaviour(.relationships, "An ordered relationship keeps its order", requires: .anyModel) { run in
            let orders = [["c", "a", "b"], ["b", "c"], ["b", "d", "c", "a"]]
            for order in orders {
                try run.inContext { context in
                    let group = try run.groups(context).first ?? run.addGroup("g", in: context)
                    let members = try order.map { name in
                        try run.members(context, NSPredicate(format: "name == %@", name)).first ?? run.addMember(name, in: context)
                    }
                    group.setValue(NSOrderedSet(array: members), forKey: "ranked")
                    try context.save()
                }
                try run.elsewhere { context in
                    try expectEqual(run.names(run.related(try run.groups(context).at(0), "ranked")), order)
                }
            }
        },
        Behaviour(.relationships, "Several relationships between the same entities do not mix", requires: .anyModel) { run in
            try run.inContext { context in
                let group = run.addGroup("g", members: ["a", "b"], in: context)
                let (c, d) = (run.addMember("c", in: context), run.addMember("d", in: context))
                group.setValue(NSOrderedSet(array: [d, c]), forKey: "ranked")
                group.setValue(try run.member("a", context), forKey: "head")
                try context.save()
                group.setValue(c, forKey: "head")
                try context.save()
            }
            try run.elsewhere { context in
                let group = try run.groups(context).at(0)
                try expectEqual(run.memberNames(of: group), ["a", "b"], "members")
                try expectEqual(run.names(run.related(group, "ranked")), ["d", "c"], "ranked")
                try expectEqual((group.value(forKey: "head") as? NSManagedObject).flatMap(run.name), "c", "head")
                try expectEqual(try run.members(context).map { run.related($0, "rankedIn").count }, [0, 0, 1, 1], "rankedIn")
            }
        },
        Behaviour(.relationships, "A relationship without an inverse is kept", requires: .anyModel) { run in
            try run.inContext { context in
                let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
                tag.setValue("x", forKey: "label")
                run.addMember("a", in: context).setValue(tag, forKey: "favourite")
                try context.save()
            }
            try run.elsewhere { context in
                let tag = try run.member("a", context).value(forKey: "favourite") as? NSManagedObject
                try expectEqual(tag?.value(forKey: "label") as? String, "x")
            }
        },
        Behaviour(.relationships, "A destination of a subentity is an object of that subentity", requires: .anyModel) { run in
            try run.inContext { context in
                let leader = NSEntityDescription.insertNewObject(forEntityName: "Leader", into: context)
                leader.setValuesForKeys(["name": "l", "title": "Dr"])
                leader.setValue(run.addGroup("g", in: context), forKey: "group")
                try context.save()
            }
            try run.elsewhere { context in
                let member = run.related(try run.groups(context).at(0), "members").first
                try expectEqual(member?.entity.name, "Leader")
                try expectEqual(member?.value(forKey: "title") as? String, "Dr")
                try expectEqual(try run.members(context).count, 1, "the superentity's fetch")
                try expectEqual(try run.all("Leader", context).count, 1, "the subentity's fetch")
            }
        },
    ]

    /// The behaviours of delete rules.
    static let deleteRules: [Behaviour] = [
        Behaviour(.relationships, "Nullify: the other end forgets the deleted object") { run in
            try run.inContext { context in
                run.addGroup("g", members: ["a", "b"], in: context)
                try context.save()
                context.delete(try run.member("a", context))
                try context.save()
            }
            try run.elsewhere { try expectEqual(run.memberNames(of: try run.groups($0).at(0)), ["b"]) }
        },
        Behaviour(.relationships, "Cascade: the destination objects are deleted with the object", requires: .anyModel) { run in
            try run.inContext { context in
                run.addGroup("g", members: ["a", "b"], in: context)
                run.addMember("c", in: context)
                try context.save()
            }
            try run.inContext { context in
                context.delete(try run.groups(context).at(0))
                try context.save()
            }
            try run.elsewhere { try expectEqual(run.names(try run.members($0)), ["c"]) }
        },
        Behaviour(.relationships, "Cascade around a circle ends", requires: .anyModel) { run in
            try run.inContext { context in
                let nodes = (0..<5).map { number in
                    let node = NSEntityDescription.insertNewObject(forEntityName: "Node", into: context)
                    node.setValue("\(number)", forKey: "name")
                    return node
                }
                for (index, node) in nodes.enumerated() { node.setValue(nodes[(index + 1) % 5], forKey: "next") }
                try context.save()
                context.delete(try nodes.at(2))
                try context.save()
            }
            try run.elsewhere { try expectEqual(try run.all("Node", $0).count, 0) }
        },
        Behaviour(.relationships, "No action: the other end is neither deleted nor written", requires: .anyModel) { run in
            try run.inContext { context in
                let tag = run.add("Tag", ["label": "x"], in: context)
                run.add("Node", ["name": "n", "pinnedBy": tag], in: context)
                try context.save()
            }
            try run.inContext { context in
                context.delete(try run.all("Tag", context).at(0))
                context.processPendingChanges()
                try expect(context.updatedObjects.isEmpty, "the other end is to be written")
                try expectEqual(context.deletedObjects.count, 1, "deleted objects")
                try context.save()
            }
            try run.elsewhere { context in
                try expectEqual(try run.all("Node", context).map { $0.value(forKey: "name") as? String }, ["n"])
                try expectEqual(try run.all("Tag", context).count, 0)
            }
        },
        Behaviour(.relationships, "Deny: the save fails, names the object, and nothing is lost", requires: .anyModel) { run in
            try run.inContext { context in
                let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
                let node = NSEntityDescription.insertNewObject(forEntityName: "Node", into: context)
                node.setValue(tag, forKey: "guardedBy")
                try context.save()
                context.delete(tag)
                let error = try expectError(code: NSValidationRelationshipDeniedDeleteError, "deleting what is guarded") {
                    try context.save()
                }
                try expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === tag, "the error names another object")
                context.delete(node)
                try context.save()
            }
            try run.elsewhere { try expectEqual(try run.all("Tag", $0).count + run.all("Node", $0).count, 0) }
        },
    ]
}
