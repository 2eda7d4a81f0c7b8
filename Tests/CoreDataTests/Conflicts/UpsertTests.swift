import CoreData
import RandomPrograms
import TestSupport
import Testing

/// A new object that meets a saved one with its unique value, and gives it what the program has set.
@Suite("An upsert") struct UpsertTests {
    private static let names = ["title", "note", "count", "weight", "isOpen", "since"]

    /// Parcels whose codes are unique, with default values that differ from what is stored.
    private static func model() -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeDescription.AttributeType, _ value: Any? = nil) -> NSAttributeDescription {
            let attribute = NSAttributeDescription(name: name, type: type)
            attribute.defaultValue = value
            return attribute
        }
        let parcel = NSEntityDescription(
            name: "Parcel",
            properties: [
                attribute("code", .string), attribute("title", .string), attribute("note", .string, "none"),
                attribute("count", .integer32, 7),
                attribute("weight", .double, 0.5), attribute("isOpen", .boolean, true), attribute("since", .date),
            ])
        let depot = NSEntityDescription(name: "Depot", properties: [attribute("name", .string)])
        let (place, parcels) = (
            NSRelationshipDescription(name: "depot", destination: depot),
            NSRelationshipDescription(name: "parcels", destination: parcel, toMany: true)
        )
        place.inverse(to: parcels)
        parcel.properties += [place]
        depot.properties += [parcels]
        parcel.uniquenessConstraints = [["code"]]
        return NSManagedObjectModel(entities: [parcel, depot])
    }

    /// Values of two kinds, none of which is a default value.
    private static func values(isNew: Bool) -> [String: Any] {
        [
            "title": isNew ? "new" : "old", "note": isNew ? "fragile" : "kept", "count": isNew ? 2 : 1, "weight": isNew ? 2.5 : 1.5,
            "isOpen": false, "since": Date(timeIntervalSinceReferenceDate: isNew ? 2 : 1),
        ]
    }

    private func context(_ parent: NSManagedObjectContext?, _ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        if let parent { context.parent = parent } else { context.persistentStoreCoordinator = coordinator }
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        return context
    }

    private func contexts(_ depth: Int, _ coordinator: NSPersistentStoreCoordinator) -> [NSManagedObjectContext] {
        var contexts = [context(nil, coordinator)]
        for _ in 0..<depth { contexts.append(context(contexts.last, coordinator)) }
        return contexts
    }

    /// Stores a parcel with values of its own.
    private func store(in coordinator: NSPersistentStoreCoordinator) throws {
        let context = context(nil, coordinator)
        try context.performAndWait {
            let old = context.insert("Parcel", Self.values(isNew: false))
            old.setValue("a", forKey: "code")
            old.setValue(context.insert("Depot", ["name": "old"]), forKey: "depot")
            try context.save()
        }
    }

    private func stored(in coordinator: NSPersistentStoreCoordinator) throws -> [NSDictionary] {
        let context = context(nil, coordinator)
        return try context.performAndWait {
            try context.all("Parcel").map { parcel in
                var values = parcel.dictionaryWithValues(forKeys: ["code"] + Self.names)
                values["depot"] = (parcel.value(forKey: "depot") as? NSManagedObject)?.value(forKey: "name")
                return values as NSDictionary
            }
        }
    }

    /// How a new parcel gets into its context.
    enum Making: CaseIterable { case inserted, insertedLater }

    private func make(_ making: Making, _ names: [String], in context: NSManagedObjectContext) {
        let parcel: NSManagedObject
        switch making {
        case .inserted: parcel = context.insert("Parcel")
        case .insertedLater:
            parcel = NSManagedObject(entity: NSEntityDescription.entity(forEntityName: "Parcel", in: context)!, insertInto: nil)
        }
        parcel.setValue("a", forKey: "code")
        for name in names { parcel.setValue(Self.values(isNew: true)[name], forKey: name) }
        if making == .insertedLater { context.insert(parcel) }
    }

    private func expected(_ set: [String], _ others: [String: Any] = [:]) -> NSDictionary {
        var values = Self.values(isNew: false).merging(others) { $1 }
        for name in set { values[name] = Self.values(isNew: true)[name] }
        values["code"] = "a"
        values["depot"] = "old"
        return values as NSDictionary
    }

    private static let stores = [ProgramStore.inMemory, .atomic, .sqlite]

    @Test("sets what the program has set and nothing else, at any depth of child contexts", arguments: stores, 0...3)
    func depths(_ store: ProgramStore, _ depth: Int) throws {
        for making in Making.allCases {
            for names in [[], ["title"], ["note", "count"], Self.names] {
                let coordinator = try store.coordinators(Self.model())[0]
                defer { store.discard([coordinator]) }
                try self.store(in: coordinator)
                let contexts = contexts(depth, coordinator)
                for (index, context) in contexts.enumerated().reversed() {
                    try context.performAndWait {
                        if index == depth { make(making, names, in: context) }
                        try context.save()
                    }
                }
                try expect(stored(in: coordinator), equals: [expected(names)])
            }
        }
    }

    @Test("sets nothing else in asynchronous saves", arguments: stores, 0...2)
    func asynchronously(_ store: ProgramStore, _ depth: Int) async throws {
        let coordinator = try store.coordinators(Self.model())[0]
        defer { store.discard([coordinator]) }
        try self.store(in: coordinator)
        let contexts = contexts(depth, coordinator)
        contexts[depth].performAndWait { make(.inserted, ["title"], in: contexts[depth]) }
        for context in contexts.reversed() { try await context.saveAsynchronously() }
        try expect(stored(in: coordinator), equals: [expected(["title"])])
    }

    @Test("of several children, and of edits on the way up, sets what each of them has set", arguments: stores)
    func severalChildren(_ store: ProgramStore) throws {
        let coordinator = try store.coordinators(Self.model())[0]
        defer { store.discard([coordinator]) }
        try self.store(in: coordinator)
        let root = context(nil, coordinator)
        for names in [["title"], ["count"]] {
            let child = context(root, coordinator)
            try child.performAndWait {
                make(.inserted, names, in: child)
                try child.save()
            }
        }
        try root.performAndWait {
            root.insertedObjects.first?.setValue("fragile", forKey: "note")
            // A value that was set to the default one was set.
            root.insertedObjects.first?.setValue(true, forKey: "isOpen")
            try root.save()
        }
        try expect(stored(in: coordinator), equals: [expected(["title", "count", "note"], ["isOpen": true])])
    }

    @Test("of a child shows in its parent only what was set as changed")
    func changedValues() throws {
        let coordinator = try ProgramStore.inMemory.coordinators(Self.model())[0]
        let contexts = contexts(1, coordinator)
        try contexts[1].performAndWait {
            make(.inserted, ["title"], in: contexts[1])
            try contexts[1].save()
        }
        contexts[0].performAndWait {
            let parcel = contexts[0].insertedObjects.first
            expect(parcel.map { Set($0.changedValues().keys) }, equals: ["code", "title"])
            expect(parcel?.value(forKey: "note") as? String, equals: "none")
        }
    }

    @Test("of values that were set without a notification saves them with a new object", arguments: stores)
    func primitiveValues(_ store: ProgramStore) throws {
        let coordinator = try store.coordinators(Self.model())[0]
        defer { store.discard([coordinator]) }
        let contexts = contexts(2, coordinator)
        for (index, context) in contexts.enumerated().reversed() {
            try context.performAndWait {
                if index == 2 {
                    let parcel = context.insert("Parcel", ["code": "p"])
                    parcel.setPrimitiveValue("quiet", forKey: "note")
                }
                try context.save()
            }
        }
        try expect(stored(in: coordinator).map { $0["note"] as? String }, equals: ["quiet"])
    }

    // MARK: Random programs

    @Test("of random values at random depths leaves what nobody has set", arguments: stores)
    func random(_ store: ProgramStore) throws {
        let seed = TestSeed.current(for: "UpsertTests, \(store.name)")
        for round in TestRounds(seconds: 0.7, atLeast: 10) {
            let own = seed &+ UInt64(round) &* 7919
            var random = SeededGenerator(seed: own)
            let coordinator = try store.coordinators(Self.model())[0]
            defer { store.discard([coordinator]) }
            try self.store(in: coordinator)
            let contexts = contexts(Int.random(in: 0...3, using: &random), coordinator)
            var set: Set<String> = []
            for (index, context) in contexts.enumerated().reversed() {
                try context.performAndWait {
                    for _ in 0..<Int.random(in: index == contexts.count - 1 ? 1...2 : 0...1, using: &random) {
                        let names = Self.names.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
                        make(Making.allCases.randomElement(using: &random)!, names, in: context)
                        set.formUnion(names)
                    }
                    try context.save()
                }
            }
            let found = try stored(in: coordinator)
            if found != [expected(Array(set))] {
                Issue.record("\(store.name), COREDATA_TEST_SEED=\(own): \(found), with \(set.sorted()) set at depth \(contexts.count - 1)")
                return
            }
        }
    }
}
