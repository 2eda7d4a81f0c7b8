import CoreData
import TestSupport
import Testing

/// Stores that answer wrongly: each mistake is an error that names the method and what was wrong with its answer.
@Suite("An incremental store that breaks its contract") struct IncrementalContractTests {
    private let nothing: Any = [NSManagedObjectID]?.none as Any

    /// Checks that an error tells of a broken contract.
    private func expect(
        _ error: NSError?, names method: String, _ cause: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(error?.domain == NSCocoaErrorDomain, sourceLocation: sourceLocation)
        #expect(error?.code == NSPersistentStoreOperationError, sourceLocation: sourceLocation)
        let text = error?.localizedDescription ?? ""
        #expect(text.contains("DictionaryStore.\(method)"), sourceLocation: sourceLocation)
        #expect(text.contains(cause), "\(text)", sourceLocation: sourceLocation)
    }

    // MARK: Fetches

    @Test("Nil for a fetch")
    func nilForFetch() throws {
        try DictionaryStore.run { store, context in
            store.fetchAnswer = { _, _ in nothing }
            expect(failure { _ = try context.all(Band.self) }, names: "execute", "nil")
            expect(failure { _ = try context.count(for: NSFetchRequest<Band>(entityName: "Band")) }, names: "execute", "nil")
        }
    }

    @Test("Something else for a fetch")
    func wrongForFetch() throws {
        try DictionaryStore.run { store, context in
            for answer: Any in ["text", 5, ["text"], [1], [NSNull()], NSNull()] {
                store.fetchAnswer = { _, _ in answer }
                expect(failure { _ = try context.all(Band.self) }, names: "execute", "fetch of “Band”")
            }
            store.fetchAnswer = { _, _ in "text" }
            expect(failure { _ = try context.count(for: NSFetchRequest<Band>(entityName: "Band")) }, names: "execute", "String")
        }
    }

    @Test("IDs or objects of another entity for a fetch")
    func wrongEntity() throws {
        try DictionaryStore.run { store, context in
            let tag = store.put("Tag", 1, [:])
            store.fetchAnswer = { _, _ in [tag] }
            expect(failure { _ = try context.all(Band.self) }, names: "execute", "is no “Band”")
            store.fetchAnswer = { _, context in [context.object(with: tag)] }
            expect(failure { _ = try context.all(Band.self) }, names: "execute", "is no “Band”")
        }
    }

    @Test("Objects of another context for a fetch")
    func otherContext() throws {
        let (store, coordinator) = try DictionaryStore.make()
        let band = store.put("Band", 1, ["name": "Low"])
        let other = Music.context(coordinator)
        let stranger = other.performAndWait { other.object(with: band) }
        let context = Music.context(coordinator)
        store.fetchAnswer = { _, _ in [stranger] }
        context.performAndWait { expect(failure { _ = try context.all(Band.self) }, names: "execute", "does not live in the context") }
    }

    @Test("Objects for a fetch of dictionaries")
    func objectsForDictionaries() throws {
        try DictionaryStore.run { store, context in
            let band = store.put("Band", 1, [:])
            store.fetchAnswer = { _, context in [context.object(with: band)] }
            let request = NSFetchRequest<NSDictionary>(entityName: "Band")
            request.resultType = .dictionaryResultType
            #expect(failure { _ = try context.fetch(request) }?.code == NSPersistentStoreOperationError)
        }
    }

    @Test("Right answers in any of their forms are taken")
    func rightAnswers() throws {
        try DictionaryStore.run { store, context in
            let band = store.put("Band", 1, ["name": "Low"])
            let request = NSFetchRequest<Band>(entityName: "Band")
            for answer: Any in [[band], [band] as NSArray, [context.object(with: band)], [band] as Any? as Any] {
                store.fetchAnswer = { _, _ in answer }
                let found = try context.fetch(request)
                #expect(found.map(\.objectID) == [band])
            }
            for answer: Any in [1, NSNumber(value: 1), [1], [NSNumber(value: 1)]] {
                store.fetchAnswer = { _, _ in answer }
                #expect(try context.count(for: request) == 1)
            }
            store.fetchAnswer = { _, _ in [Any]() }
            #expect(try context.fetch(request).isEmpty)
        }
    }

    @Test("The store's own errors reach the caller as they are")
    func ownErrors() throws {
        try DictionaryStore.run { store, context in
            let band = store.put("Band", 1, ["name": "Low"])
            store.fetchAnswer = { _, _ in throw NSError(domain: "net", code: 1) }
            store.nodeAnswer = { _ in throw NSError(domain: "net", code: 2) }
            store.relationshipAnswer = { _, _ in throw NSError(domain: "net", code: 3) }
            store.idsAnswer = { _ in throw NSError(domain: "net", code: 4) }
            #expect(failure { _ = try context.all(Band.self) }?.code == 1)
            #expect(failure { _ = try context.existingObject(with: band) }?.code == 2)
            store.nodeAnswer = nil
            context.refresh(context.object(with: band), mergeChanges: false)
            let object = try #require(try context.existingObject(with: band) as? Band)
            #expect(object.albums.isEmpty)
            #expect(failure { try context.throwPendingFaultError() }?.code == 3)
            _ = Tag(context: context)
            #expect(failure { try context.save() }?.code == 4)
            store.relationshipAnswer = nil
            context.refresh(object, mergeChanges: true)
            #expect(object.albums.isEmpty)
            #expect(context.pendingFaultError == nil)
        }
    }

    // MARK: Faults

    /// The error of a fault whose node has the given values.
    private func failureOfNode(_ values: [String: Any]) throws -> NSError? {
        let (store, coordinator) = try DictionaryStore.make()
        let id = store.put("Album", 1, values)
        store.nodeAnswer = { NSIncrementalStoreNode(objectID: $0, withValues: values, version: 1) }
        let context = Music.context(coordinator)
        return context.performAndWait { failure { _ = try context.existingObject(with: id) } }
    }

    @Test("A key in a node that is not a property")
    func unknownKey() throws {
        expect(try failureOfNode(["colour": 1]), names: "newValuesForObject", "“colour” is not a property of “Album”")
    }

    @Test("A value of the wrong type in a node")
    func wrongValue() throws {
        expect(try failureOfNode(["year": "2001"]), names: "newValuesForObject", "“Album.year”")
        expect(try failureOfNode(["year": 70_000]), names: "newValuesForObject", "“Album.year”")
        expect(try failureOfNode(["rating": Double.nan]), names: "newValuesForObject", "“Album.rating”")
        expect(try failureOfNode(["band": "Low"]), names: "newValuesForObject", "“Album.band”")
        expect(try failureOfNode(["tags": "slow"]), names: "newValuesForObject", "“Album.tags”")
    }

    @Test("An ID of the wrong entity in a node")
    func wrongTargetInNode() throws {
        try DictionaryStore.run { store, context in
            let tag = store.put("Tag", 2, [:])
            let album = store.put("Album", 1, [:])
            store.nodeAnswer = { NSIncrementalStoreNode(objectID: $0, withValues: ["band": tag], version: 1) }
            expect(failure { _ = try context.existingObject(with: album) }, names: "newValuesForObject", "“Album.band”")
        }
    }

    @Test("A node of another object")
    func otherNode() throws {
        try DictionaryStore.run { store, context in
            let first = store.put("Band", 1, ["name": "Low"])
            let second = store.put("Band", 2, ["name": "High"])
            store.nodeAnswer = { _ in NSIncrementalStoreNode(objectID: second, withValues: ["name": "High"], version: 1) }
            expect(failure { _ = try context.existingObject(with: first) }, names: "newValuesForObject", "it gave the node of")
        }
    }

    @Test("A read that met a wrong node gives nil, and the next fetch throws")
    func readOfWrongNode() throws {
        try DictionaryStore.run { store, context in
            let id = store.put("Band", 1, ["name": 5])
            let band = try #require(context.object(with: id) as? Band)
            #expect(band.name == "")
            #expect(band.isFault)
            expect(failure { try context.throwPendingFaultError() }, names: "newValuesForObject", "“Band.name”")
            store.put("Band", 1, ["name": "Low"])
            context.refresh(band, mergeChanges: true)
            #expect(band.name == "Low")
            #expect(context.pendingFaultError == nil)
        }
    }

    @Test("Nothing, or something else, for a relationship")
    func wrongRelationship() throws {
        try DictionaryStore.run { store, context in
            store.answersToOneInNodes = false
            let tag = store.put("Tag", 3, [:])
            let album = store.put("Album", 1, ["title": "Trust"])
            let object = try #require(try context.existingObject(with: album) as? Album)
            for (answer, cause) in [(nothing, "nil"), (tag, "NSManagedObjectID"), ("text", "String"), ([1], "Array")] as [(Any, String)] {
                store.relationshipAnswer = { _, _ in answer }
                context.refresh(object, mergeChanges: true)
                #expect(object.tags.isEmpty)
                expect(failure { try context.throwPendingFaultError() }, names: "newValue(forRelationship", "“Album.tags”")
                #expect(object.tags.isEmpty)
                expect(failure { try context.throwPendingFaultError() }, names: "newValue(forRelationship", cause)
            }
            let noID: Any = NSManagedObjectID?.none as Any
            for (answer, cause) in [(noID, "nil"), ([tag], "Array"), ("text", "String")] as [(Any, String)] {
                store.relationshipAnswer = { _, _ in answer }
                context.refresh(object, mergeChanges: true)
                #expect(object.band == nil)
                expect(failure { try context.throwPendingFaultError() }, names: "newValue(forRelationship", "to-one")
                #expect(object.band == nil)
                expect(failure { try context.throwPendingFaultError() }, names: "newValue(forRelationship", cause)
            }
        }
    }

    @Test("An object that the store names twice in a relationship is there once, and can be taken out")
    func namedTwice() throws {
        try DictionaryStore.run { store, context in
            store.answersToOneInNodes = false
            let tags = [store.put("Tag", 3, [:]), store.put("Tag", 4, [:])]
            let album = store.put("Album", 1, ["title": "Trust"])
            let object = try #require(try context.existingObject(with: album) as? Album)
            store.relationshipAnswer = { relationship, _ in
                relationship.isToMany ? [tags[1], tags[0], tags[1], tags[0]] as Any : NSNull()
            }
            let names = try #require(object.value(forKey: "tags") as? Set<NSManagedObject>)
            #expect(Set(names.map(\.objectID)) == Set(tags))
            #expect(object.tags.count == 2)
            #expect(try NSPredicate(format: "tags.@count == 2").matches(object))
            object.mutableSetValue(forKey: "tags").remove(context.object(with: tags[1]))
            #expect(object.tags.map(\.objectID) == [tags[0]])
            let first = context.object(with: tags[0])
            object.setPrimitiveValue([first, first], forKey: "tags")
            #expect(object.value(forKey: "tags") as? Set<NSManagedObject> == [first])
        }
    }

    @Test("IDs of the wrong entity for a relationship")
    func wrongDestination() throws {
        try DictionaryStore.run { store, context in
            store.answersToOneInNodes = false
            let tag = store.put("Tag", 3, [:])
            let album = store.put("Album", 1, ["title": "Trust"])
            let object = try #require(try context.existingObject(with: album) as? Album)
            store.relationshipAnswer = { relationship, _ in relationship.isToMany ? [album] as Any : tag }
            #expect(object.tags.isEmpty)
            expect(failure { try context.throwPendingFaultError() }, names: "newValue(forRelationship", "leads to “Tag”")
            #expect(object.band == nil)
            expect(failure { try context.throwPendingFaultError() }, names: "newValue(forRelationship", "leads to “Band”")
        }
    }

    // MARK: Saves

    @Test("Nil for a save, and the context stays dirty")
    func nilForSave() throws {
        try DictionaryStore.run { store, context in
            let tag = Tag(context: context)
            store.saveAnswer = { _ in nothing }
            expect(failure { try context.save() }, names: "execute", "nil")
            #expect(context.insertedObjects == [tag])
            #expect(tag.objectID.isTemporaryID)
        }
    }

    @Test("Too few, foreign, doubled, temporary or wrong permanent IDs")
    func permanentIDs() throws {
        let (other, otherCoordinator) = try DictionaryStore.make()
        let foreign = other.newObjectID(for: other.entity("Tag"), referenceObject: 1)
        try DictionaryStore.run { store, context in
            let tags = [Tag(context: context), Tag(context: context)]
            let temporary = tags.map(\.objectID)
            let entity = store.entity("Tag")
            func id(_ key: Int) -> NSManagedObjectID { store.newObjectID(for: entity, referenceObject: key) }
            let known = store.put("Tag", 9, [:])
            let wrong: [(String, [NSManagedObjectID])] = [
                ("1 IDs for 2 objects", [id(1)]), ("0 IDs", []), ("3 IDs", [id(1), id(2), id(3)]),
                ("not an ID of this store", [id(1), foreign]), ("one ID to two objects", [id(1), id(1)]),
                ("not an ID of this store", temporary),
                ("object of “Tag”", [id(1), store.newObjectID(for: store.entity("Band"), referenceObject: 2)]),
            ]
            for (cause, ids) in wrong {
                store.idsAnswer = { _ in ids }
                expect(failure { try context.save() }, names: "obtainPermanentIDs", cause)
                #expect(tags.map(\.objectID) == temporary)
                expect(failure { try context.obtainPermanentIDs(for: tags) }, names: "obtainPermanentIDs", cause)
                #expect(tags.map(\.objectID) == temporary)
            }
            #expect(store.records.count == 1)
            #expect(!store.calls.contains("save"))
            // An object that lives here has the ID already.
            let held = context.object(with: known)
            store.idsAnswer = { _ in [id(1), known] }
            expect(failure { try context.save() }, names: "obtainPermanentIDs", "another object")
            withExtendedLifetime(held) {}
        }
        withExtendedLifetime(otherCoordinator) {}
    }
}
