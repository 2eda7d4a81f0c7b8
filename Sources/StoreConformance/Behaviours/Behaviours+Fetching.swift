internal import CoreData

extension Behaviour {
    /// The behaviours of fetches: predicates, orders, pages, counts.
    static let fetching: [Behaviour] = [
        Behaviour(.fetching, "A sort descriptor orders the objects, ascending and descending", look: "sortDescriptors of the request") {
            run in
            try run.fetchingMembers { context in
                for ascending in [true, false] {
                    let numbers = try run.fetch(context, sortedBy: [(run.roles.memberNumber, ascending)]).compactMap { run.number($0) }
                    let wanted = numbers.sorted { ascending ? $0 < $1 : $0 > $1 }
                    try expectEqual(numbers, wanted, "by number, ascending \(ascending):")
                    let names = run.names(try run.fetch(context, sortedBy: [(run.roles.memberName, ascending)]))
                    try expectEqual(names, names.sorted { ascending ? $0 < $1 : $0 > $1 }, "by name, ascending \(ascending):")
                }
            }
        },
        Behaviour(
            .fetching, "A second sort descriptor orders what the first leaves equal",
            look: "all elements of sortDescriptors, in their order"
        ) { run in
            try run.inContext { context in
                for index in 0..<40 { run.addMember("m\(100 + index * 17 % 40)", index % 2, in: context) }
                try context.save()
            }
            try run.inContext { context in
                for ascending in [true, false] {
                    let order = [(run.roles.memberNumber, true), (run.roles.memberName, ascending)]
                    let found = try run.fetch(context, sortedBy: order).map { (run.number($0) ?? -1, run.name($0) ?? "") }
                    let wanted = found.sorted { $0.0 != $1.0 ? $0.0 < $1.0 : ascending ? $0.1 < $1.1 : $0.1 > $1.1 }
                    try expectEqual(found.map { "\($0.0) \($0.1)" }, wanted.map { "\($0.0) \($0.1)" })
                }
            }
        },
        Behaviour(.fetching, "A predicate selects exactly the objects that it matches", look: "predicate of the request") { run in
            try run.fetchingMembers { context in
                let (name, number) = (run.roles.memberName, run.roles.memberNumber)
                let cases: [(NSPredicate, [String])] = [
                    (NSPredicate(format: "%K == 2", number), ["Émile", "beta"]),
                    (NSPredicate(format: "%K != 2", number), ["Alpha", "alpha", "delta", "gamma"]),
                    (NSPredicate(format: "%K < 2", number), ["alpha", "delta"]),
                    (NSPredicate(format: "%K >= 3", number), ["Alpha", "gamma"]),
                    (NSPredicate(format: "%K BETWEEN {2, 3}", number), ["Alpha", "Émile", "beta"]),
                    (NSPredicate(format: "%K IN %@", number, [1, 40]), ["alpha", "delta", "gamma"]),
                    (NSPredicate(format: "%K == %@", name, "beta"), ["beta"]),
                    (NSPredicate(format: "%K BEGINSWITH %@", name, "al"), ["alpha"]),
                    (NSPredicate(format: "%K ENDSWITH %@", name, "ta"), ["beta", "delta"]),
                    (NSPredicate(format: "%K CONTAINS %@", name, "mm"), ["gamma"]),
                    (NSPredicate(format: "%K LIKE %@", name, "?e*"), ["beta", "delta"]),
                    (NSPredicate(format: "TRUEPREDICATE"), run.fetchedNames),
                    (NSPredicate(format: "FALSEPREDICATE"), []),
                ]
                for (predicate, wanted) in cases {
                    try expectEqual(run.names(try run.fetch(context, predicate)).sorted(), wanted.sorted(), "\(predicate.formatString):")
                }
            }
        },
        Behaviour(.fetching, "AND, OR and NOT combine predicates", look: "predicate of the request: its compounds") { run in
            try run.fetchingMembers { context in
                let (name, number) = (run.roles.memberName, run.roles.memberNumber)
                let cases: [(NSPredicate, [String])] = [
                    (NSPredicate(format: "%K == 1 AND %K == %@", number, name, "alpha"), ["alpha"]),
                    (NSPredicate(format: "%K == 1 OR %K == %@", number, name, "beta"), ["alpha", "beta", "delta"]),
                    (NSPredicate(format: "NOT %K == 1", number), ["Alpha", "Émile", "beta", "gamma"]),
                    (NSPredicate(format: "NOT (%K == 1 OR %K == 2) AND %K > 3", number, number, number), ["gamma"]),
                ]
                for (predicate, wanted) in cases {
                    try expectEqual(run.names(try run.fetch(context, predicate)).sorted(), wanted.sorted(), "\(predicate.formatString):")
                }
            }
        },
        Behaviour(.fetching, "[c] and [d] decide whether case and accents count", look: "the options of comparisons in the predicate") {
            run in
            try run.fetchingMembers { context in
                let name = run.roles.memberName
                let cases: [(NSPredicate, [String])] = [
                    (NSPredicate(format: "%K == %@", name, "ALPHA"), []),
                    (NSPredicate(format: "%K ==[c] %@", name, "ALPHA"), ["Alpha", "alpha"]),
                    (NSPredicate(format: "%K BEGINSWITH %@", name, "AL"), []),
                    (NSPredicate(format: "%K BEGINSWITH[c] %@", name, "AL"), ["Alpha", "alpha"]),
                    (NSPredicate(format: "%K CONTAINS[c] %@", name, "BET"), ["beta"]),
                    (NSPredicate(format: "%K ==[d] %@", name, "Emile"), ["Émile"]),
                    (NSPredicate(format: "%K ==[cd] %@", name, "EMILE"), ["Émile"]),
                    (NSPredicate(format: "%K ==[c] %@", name, "EMILE"), []),
                ]
                for (predicate, wanted) in cases {
                    try expectEqual(run.names(try run.fetch(context, predicate)).sorted(), wanted.sorted(), "\(predicate.formatString):")
                }
            }
        },
        Behaviour(.fetching, "A predicate follows a relationship to one", look: "key paths and objects in the predicate") { run in
            try run.inContext { context in
                let group = run.addGroup("g", members: ["a", "b"], in: context)
                run.addGroup("h", members: ["c"], in: context)
                run.addMember("d", in: context)
                try context.save()
                let key = run.roles.memberGroup
                let cases: [(NSPredicate, [String])] = [
                    (NSPredicate(format: "%K == %@", key, group), ["a", "b"]),
                    (NSPredicate(format: "%K == %@", "\(key).\(run.roles.groupName)", "h"), ["c"]),
                ]
                for (predicate, wanted) in cases {
                    try expectEqual(run.names(try run.fetch(context, predicate)).sorted(), wanted, "\(predicate.formatString):")
                }
            }
        },
        Behaviour(.fetching, "A predicate finds the objects that are related to nothing", look: "a relationship compared with nil") { run in
            try run.inContext { context in
                run.addGroup("g", members: ["a", "b"], in: context)
                run.addMember("d", in: context)
                try context.save()
                let (none, some) = (
                    NSPredicate(format: "%K == nil", run.roles.memberGroup), NSPredicate(format: "%K != nil", run.roles.memberGroup)
                )
                try expectEqual(run.names(try run.fetch(context, none)), ["d"], "== nil:")
                try expectEqual(run.names(try run.fetch(context, some)).sorted(), ["a", "b"], "!= nil:")
            }
        },
        Behaviour(.fetching, "A limit gives so many objects, and the first of them", look: "fetchLimit of the request") { run in
            try run.fetchingMembers { context in
                for limit in [1, 2, 5, 6, 100] {
                    let found = try run.fetch(context, sortedBy: [(run.roles.memberName, true)], limit: limit)
                    try expectEqual(run.names(found), Array(run.fetchedNames.prefix(limit)), "limit \(limit):")
                }
            }
        },
        Behaviour(.fetching, "Offsets give pages that are disjoint and in order", look: "fetchOffset of the request, also without a limit")
        { run in
            try run.fetchingMembers { context in
                let order = [(run.roles.memberName, true)]
                for offset in 0...7 {
                    let rest = run.names(try run.fetch(context, sortedBy: order, offset: offset))
                    try expectEqual(rest, Array(run.fetchedNames.dropFirst(offset)), "offset \(offset):")
                    let page = run.names(try run.fetch(context, sortedBy: order, limit: 2, offset: offset))
                    try expectEqual(page, Array(run.fetchedNames.dropFirst(offset).prefix(2)), "offset \(offset), limit 2:")
                }
            }
        },
        Behaviour(.fetching, "A count agrees with the fetch", look: "the result type countResultType, with predicate, limit and offset") {
            run in
            try run.fetchingMembers { context in
                let predicates = [nil, NSPredicate(format: "%K == 1", run.roles.memberNumber), NSPredicate(format: "FALSEPREDICATE")]
                for predicate in predicates {
                    for (limit, offset) in [(0, 0), (2, 0), (3, 5), (0, 1)] {
                        let request = run.request(predicate, sortedBy: [(run.roles.memberName, true)], limit: limit, offset: offset)
                        let found = try context.fetch(request).count
                        let counted = try context.count(for: run.request(predicate, limit: limit, offset: offset))
                        try expectEqual(counted, found, "\(predicate?.formatString ?? "all"), limit \(limit), offset \(offset): the count")
                    }
                }
            }
        },
        Behaviour(
            .fetching, "Objects and IDs of a fetch are the same, in the same order", look: "the result type managedObjectIDResultType"
        ) { run in
            try run.fetchingMembers { context in
                let order = [(run.roles.memberName, true)]
                let objects = try run.fetch(context, sortedBy: order)
                let request = NSFetchRequest<NSManagedObjectID>(entityName: run.roles.member)
                request.resultType = .managedObjectIDResultType
                request.sortDescriptors = [NSSortDescriptor(key: run.roles.memberName, ascending: true)]
                let ids = try context.fetch(request)
                try expectEqual(ids, objects.map(\.objectID), "the IDs")
            }
        },
        Behaviour(.fetching, "A fetch finds each object once, and none is missing", look: "the answer to a fetch without a predicate") {
            run in
            try run.fetchingMembers { context in
                let found = try run.fetch(context)
                try expectEqual(Set(found.map(\.objectID)).count, found.count, "different objects among \(found.count):")
                try expectEqual(run.names(found).sorted(), run.fetchedNames, "the objects")
            }
        },
        Behaviour(.fetching, "A fetch finds objects of its entity only", look: "entity of the request") { run in
            try run.inContext { context in
                run.addGroup("g", members: ["a", "b"], in: context)
                try context.save()
                try expectEqual(try run.groups(context).map { $0.entity.name }, [run.roles.group], "groups")
                try expectEqual(try run.members(context).map { $0.entity.name }, [run.roles.member, run.roles.member], "members")
            }
            try run.elsewhere {
                try expectEqual(try run.groups($0).map { $0.value(forKey: run.roles.groupName) as? String }, ["g"], "groups")
            }
        },
        Behaviour(.fetching, "The same row is the same instance, and a fetch leaves unsaved edits alone") { run in
            try run.fetchingMembers { context in
                let object = try run.member("beta", context)
                object.setValue(7, forKey: run.roles.memberNumber)
                let again = try run.fetch(context, NSPredicate(format: "%K == %@", run.roles.memberName, "beta"))
                try expect(again.count == 1 && again[0] === object, "another instance")
                try expectEqual(run.number(object), 7, "the edit")
                try expect(context.hasChanges, "the context has forgotten the edit")
            }
        },
        Behaviour(.fetching, "A fetch shows pending inserts, edits and deletes, unless it says otherwise") { run in
            try run.fetchingMembers { context in
                let (one, request) = (NSPredicate(format: "%K == 1", run.roles.memberNumber), run.request())
                run.addMember("new", 1, in: context)
                try run.member("beta", context).setValue(1, forKey: run.roles.memberNumber)
                context.delete(try run.member("alpha", context))
                try expectEqual(run.names(try run.fetch(context, one)).sorted(), ["beta", "delta", "new"], "with pending changes")
                request.includesPendingChanges = false
                request.predicate = one
                try expectEqual(try context.fetch(request).count, 2, "without pending changes")
            }
        },
        Behaviour(
            .fetching, "Subentities are included unless told otherwise, as instances of their own class", requires: .anyModel,
            look: "includesSubentities of the request, and the entity of each ID"
        ) { run in
            try run.inContext { context in
                run.addMember("a", in: context)
                run.add("Leader", ["name": "b", "title": "t"], in: context)
                try context.save()
            }
            try run.elsewhere { context in
                try expectEqual(try run.members(context).map { $0.entity.name }, ["Member", "Leader"], "with subentities")
                let request = run.request(sortedBy: [(run.roles.memberName, true)])
                request.includesSubentities = false
                try expectEqual(run.names(try context.fetch(request)), ["a"], "without subentities")
                try expectEqual(try context.count(for: request), 1, "the count without subentities")
                try expectEqual(try run.all("Leader", context).map { $0.value(forKey: "title") as? String }, ["t"], "leaders")
            }
        },
        Behaviour(
            .fetching, "Objects that are not to be faults, and prefetched ones, are read without asking the store again",
            look: "returnsObjectsAsFaults, relationshipKeyPathsForPrefetching"
        ) { run in
            try run.inContext { context in
                for number in 0..<20 { run.addGroup("\(number)", members: ["\(number)"], in: context) }
                try context.save()
            }
            try run.inContext { context in
                let request = run.request()
                request.returnsObjectsAsFaults = false
                let members = try context.fetch(request)
                let reads = try run.calls { for member in members { _ = run.name(member) } }
                try expectEqual(Set(run.names(members)), Set((0..<20).map(String.init)))
                if let reads { try expectEqual(reads, 0, "calls for objects that are no faults:") }
            }
            try run.inContext { context in
                let request = NSFetchRequest<NSManagedObject>(entityName: run.roles.group)
                request.relationshipKeyPathsForPrefetching = [run.roles.members]
                let groups = try context.fetch(request)
                let walks = try run.calls { for group in groups { try expectEqual(run.related(group, run.roles.members).count, 1) } }
                if let walks { try expectEqual(walks, 0, "calls for prefetched relationships:") }
            }
        },
    ]
}

extension ConformanceRun {
    /// The names of the fetched members, in their order.
    fileprivate var fetchedNames: [String] { ["Alpha", "alpha", "beta", "delta", "gamma", "Émile"] }

    /// Saves six members, and runs `body` in a context that knows none of them; if the store is durable, again after reopening.
    fileprivate func fetchingMembers(_ body: (NSManagedObjectContext) throws -> Void) throws {
        try inContext { context in
            for (name, number) in [("beta", 2), ("alpha", 1), ("gamma", 40), ("Alpha", 3), ("Émile", 2), ("delta", 1)] {
                addMember(name, number, in: context)
            }
            try context.save()
        }
        try inContext(body)
    }

    fileprivate func request(
        _ predicate: NSPredicate? = nil, sortedBy keys: [(String, Bool)] = [], limit: Int = 0, offset: Int = 0
    ) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: roles.member)
        request.predicate = predicate
        request.sortDescriptors = keys.isEmpty ? nil : keys.map { NSSortDescriptor(key: $0.0, ascending: $0.1) }
        request.fetchLimit = limit
        request.fetchOffset = offset
        return request
    }

    fileprivate func fetch(
        _ context: NSManagedObjectContext, _ predicate: NSPredicate? = nil, sortedBy keys: [(String, Bool)] = [], limit: Int = 0,
        offset: Int = 0
    ) throws -> [NSManagedObject] { try context.fetch(request(predicate, sortedBy: keys, limit: limit, offset: offset)) }
}
