import CoreData
import TestSupport
import Testing

/// Transient relationships: a context has them, and no store is asked about them.
@Suite("Transient relationships") struct TransientRelationshipTests {
    /// Two entities whose relationships to each other are transient where it is said, and an attribute `name` in both.
    private static func model(
        toMany: Bool = true, isTransient: Bool = true, inverseIsTransient: Bool = true, inverseToMany: Bool = true, isOrdered: Bool = false
    ) -> NSManagedObjectModel {
        let message = NSEntityDescription(name: "Message", properties: [NSAttributeDescription(name: "name", type: .string)])
        let person = NSEntityDescription(name: "Person", properties: [NSAttributeDescription(name: "name", type: .string)])
        let people = NSRelationshipDescription(name: "people", destination: person, toMany: toMany, isOrdered: isOrdered)
        let messages = NSRelationshipDescription(name: "messages", destination: message, toMany: inverseToMany)
        people.isTransient = isTransient
        messages.isTransient = inverseIsTransient
        people.inverse(to: messages)
        message.properties += [people]
        person.properties += [messages]
        return NSManagedObjectModel(entities: [message, person])
    }

    private static let types = [NSSQLiteStoreType, NSInMemoryStoreType]

    private func run(_ type: String, _ model: NSManagedObjectModel, _ body: (NSManagedObjectContext) throws -> Void) throws {
        let pad = try Scratchpad()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: type == NSInMemoryStoreType ? nil : pad.store)
        let context = Music.context(coordinator)
        try context.performAndWait { try body(context) }
    }

    private func names(_ object: NSManagedObject, _ key: String) -> Set<String> {
        switch object.value(forKey: key) {
        case let set as Set<NSManagedObject>: Set(set.compactMap { $0.value(forKey: "name") as? String })
        case let order as NSOrderedSet: Set(order.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String })
        case let one as NSManagedObject: [one.value(forKey: "name") as? String ?? ""]
        default: []
        }
    }

    @Test("keep what is set over a save, and are empty in objects that are fetched", arguments: types, [true, false])
    func savingAndFetching(type: String, toMany: Bool) throws {
        try run(type, Self.model(toMany: toMany)) { context in
            let message = context.insert("Message", ["name": "m"])
            let person = context.insert("Person", ["name": "p"])
            if toMany { message.mutableSetValue(forKey: "people").add(person) } else { message.setValue(person, forKey: "people") }
            try context.save()
            #expect(!context.hasChanges)
            expect(names(message, "people"), equals: ["p"])
            expect(names(person, "messages"), equals: ["m"])
            context.reset()
            for entity in ["Message", "Person"] {
                let object = try #require(try context.all(entity).first)
                let key = entity == "Message" ? "people" : "messages"
                #expect(names(object, key).isEmpty)
                #expect(!object.hasFault(forRelationshipNamed: key))
                #expect(object.objectIDs(forRelationshipNamed: key).isEmpty)
                // A read that failed would make the next fetch fail.
                try expect(context.all(entity).count, equals: 1)
            }
        }
    }

    @Test("do not stand in the way of changes and deletions", arguments: types, [true, false])
    func changingAndDeleting(type: String, toMany: Bool) throws {
        try run(type, Self.model(toMany: toMany)) { context in
            for name in ["1", "2"] {
                _ = context.insert("Message", ["name": name])
                _ = context.insert("Person", ["name": name])
            }
            try context.save()
            context.reset()
            let message = try #require(try context.all("Message").first)
            let person = try #require(try context.all("Person").first)
            _ = message.value(forKey: "people")
            message.setValue("changed", forKey: "name")
            try context.save()
            // Related objects know of the deletion.
            if toMany { message.mutableSetValue(forKey: "people").add(person) } else { message.setValue(person, forKey: "people") }
            #expect(!message.hasPersistentChangedValues)
            context.delete(message)
            try context.save()
            #expect(names(person, "messages").isEmpty)
            context.delete(person)
            try context.save()
            try expect(context.all("Message").count, equals: 1)
            try expect(context.all("Person").count, equals: 1)
        }
    }

    @Test("are prefetched as nothing, and no predicate of a SQLite store can be about them") func requests() throws {
        try run(NSSQLiteStoreType, Self.model()) { context in
            for name in ["1", "2", "3"] { _ = context.insert("Message", ["name": name]) }
            try context.save()
            context.reset()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Message")
            request.relationshipKeyPathsForPrefetching = ["people"]
            #expect(try context.fetch(request).allSatisfy { names($0, "people").isEmpty })
            request.predicate = NSPredicate(format: "people.@count > 0")
            let error = try #require(failure { _ = try context.fetch(request) })
            expect(error.code, equals: NSPersistentStoreUnsupportedRequestTypeError)
            #expect(error.localizedDescription.contains("people"))
        }
    }

    @Test(
        "stay with an object that is refreshed with its changes or merges what others save, and leave both ends otherwise", arguments: types
    )
    func refreshing(type: String) throws {
        try run(type, Self.model()) { context in
            let message = context.insert("Message", ["name": "m"])
            let person = context.insert("Person", ["name": "p"])
            try context.save()
            message.mutableSetValue(forKey: "people").add(person)
            context.refresh(message, mergeChanges: true)
            expect(names(message, "people"), equals: ["p"])
            try context.save()
            context.refresh(message, mergeChanges: true)
            expect(names(message, "people"), equals: ["p"])

            let other = Music.context(try #require(context.persistentStoreCoordinator))
            let id = message.objectID
            try other.performAndWait {
                other.object(with: id).setValue("theirs", forKey: "name")
                try other.save()
            }
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectsKey: [id.uriRepresentation()]], into: [context])
            expect(message.value(forKey: "name") as? String, equals: "theirs")
            expect(names(message, "people"), equals: ["p"])
            expect(names(person, "messages"), equals: ["theirs"])

            context.refresh(message, mergeChanges: false)
            #expect(names(message, "people").isEmpty)
            #expect(names(person, "messages").isEmpty)
        }
    }

    @Test("are rolled back to what was saved") func rollback() throws {
        try run(NSSQLiteStoreType, Self.model()) { context in
            let message = context.insert("Message", ["name": "m"])
            let people = ["p", "q"].map { context.insert("Person", ["name": $0]) }
            message.mutableSetValue(forKey: "people").add(people[0])
            try context.save()
            message.mutableSetValue(forKey: "people").remove(people[0])
            message.mutableSetValue(forKey: "people").add(people[1])
            context.rollback()
            expect(names(message, "people"), equals: ["p"])
            expect(people.map { names($0, "messages") }, equals: [["m"], []])
        }
    }

    @Test("of a child go to its parent with a save; a child reads none of the parent's") func children() throws {
        try run(NSSQLiteStoreType, Self.model()) { parent in
            let message = parent.insert("Message", ["name": "m"])
            let person = parent.insert("Person", ["name": "p"])
            try parent.save()
            let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            child.parent = parent
            let (id, other) = (message.objectID, person.objectID)
            try child.performAndWait {
                let message = child.object(with: id)
                #expect(names(message, "people").isEmpty)
                message.mutableSetValue(forKey: "people").add(child.object(with: other))
                try child.save()
            }
            expect(names(message, "people"), equals: ["p"])
            try parent.save()
            child.performAndWait {
                child.reset()
                #expect(names(child.object(with: id), "people").isEmpty)
            }
        }
    }

    @Test("whose inverse is stored leave that inverse stored", arguments: [true, false], [true, false])
    func storedInverse(inverseToMany: Bool, isOrdered: Bool) throws {
        for mirrored in [false, true] {
            let model = Self.model(
                isTransient: mirrored, inverseIsTransient: !mirrored, inverseToMany: inverseToMany, isOrdered: isOrdered && inverseToMany)
            try run(NSSQLiteStoreType, model) { context in
                let message = context.insert("Message", ["name": "m"])
                // What is stored at one end only has one owner for each object.
                let people = (mirrored ? ["p"] : ["p", "q"]).map { context.insert("Person", ["name": $0]) }
                message.setValue(isOrdered && inverseToMany ? NSOrderedSet(array: people) : Set(people), forKey: "people")
                try context.save()
                context.reset()
                let read = try #require(try context.all("Message").first)
                expect(names(read, "people"), equals: (mirrored ? [] : ["p", "q"]))
                for person in try context.all("Person") { expect(names(person, "messages"), equals: (mirrored ? ["m"] : [])) }
                context.delete(read)
                try context.save()
                try expect(context.all("Person").count, equals: people.count)
            }
        }
    }
}
