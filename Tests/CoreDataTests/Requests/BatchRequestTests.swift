import CoreData
import TestSupport
import Testing

/// Batch requests to the in-memory store.
@Suite struct BatchRequestTests {
    private func titles(_ context: NSManagedObjectContext) throws -> [String] {
        let fresh = Music.context(context.persistentStoreCoordinator!)
        return try fresh.performAndWait { try fresh.all(Album.self, by: "title").map(\.title) }
    }

    private func insert(_ context: NSManagedObjectContext, _ objects: [[String: Any]]) throws -> [NSManagedObjectID] {
        let request = NSBatchInsertRequest(entityName: "Album", objects: objects)
        request.resultType = .objectIDs
        return try #require((context.execute(request) as? NSBatchInsertResult)?.result as? [NSManagedObjectID])
    }

    // MARK: Inserting

    @Test func dictionariesBecomeRowsWithDefaultsForWhatTheyLeaveOut() throws {
        try withMusic { context in
            let ids = try insert(context, [["title": "One", "rating": 1.5], ["year": 1999, "rating": NSNull()]])
            expect(ids.count, equals: 2)
            #expect(context.registeredObjects.isEmpty)
            let first = try #require(try context.existingObject(with: ids[0]) as? Album)
            #expect(first.title == "One" && first.year == 2001 && first.rating == 1.5)
            #expect(first.tags.isEmpty && first.band == nil && first.tracks?.count == 0)
            let second = try #require(try context.existingObject(with: ids[1]) as? Album)
            #expect(second.title == "Untitled" && second.year == 1999 && second.rating == nil)
            second.title = "Changed"
            second.tags = [Tag(context: context)]
            try context.save()
            try expect(titles(context), equals: ["Changed", "One"])
        }
    }

    @Test func handlersFillInRowsUntilTheySayThereAreNoMore() throws {
        try withMusic { context in
            var number = 0
            let request = NSBatchInsertRequest(entityName: "Album") { (dictionary: NSMutableDictionary) in
                if number == 3 { return true }
                number += 1
                dictionary["title"] = "D\(number)"
                return false
            }
            request.resultType = .count
            try expect((context.execute(request) as? NSBatchInsertResult)?.result as? Int, equals: 3)
            let entity = try #require(context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Album"])
            let other = NSBatchInsertRequest(entity: entity) { (object: NSManagedObject) in
                if number == 5 { return true }
                number += 1
                (object as? Album)?.title = "O\(number)"
                return false
            }
            try expect((context.execute(other) as? NSBatchInsertResult)?.result as? Bool, equals: true)
            try expect(titles(context), equals: ["D1", "D2", "D3", "O4", "O5"])
            #expect(context.registeredObjects.isEmpty && !context.hasChanges)
        }
    }

    @Test("A batch insert with a mistake inserts nothing and says where it is", arguments: ["nope", "year", "rating", "band"])
    func mistakes(key: String) throws {
        try withMusic { context in
            let error = try #require(failure { _ = try insert(context, [["title": "Good"], [key: "wrong"]]) })
            #expect(error.localizedDescription.contains(key))
            try #expect(titles(context).isEmpty)
        }
    }

    @Test func validationDoesNotRun() throws {
        try withMusic { context in
            let ids = try insert(context, [["title": NSNull()]])
            try #expect(context.existingObject(with: ids[0]).value(forKey: "title") as? String == nil)
        }
    }

    @Test func aRequestWithoutAKnownEntityIsAnError() throws {
        try withMusic { context in
            let unknown = failure { try context.execute(NSBatchInsertRequest(entityName: "Nope", objects: [])) }
            expect(unknown?.localizedDescription.contains("Nope"), equals: true)
            #expect(failure { try context.execute(NSBatchUpdateRequest()) } != nil)
            #expect(failure { try context.execute(NSBatchDeleteRequest()) } != nil)
            #expect(failure { try context.execute(NSBatchUpdateRequest(entityName: "Album")) } != nil)
        }
    }

    // MARK: Updating

    @Test func allRowsThatMatchAreUpdatedByConstantsAndByWhatTheyHeld() throws {
        try withMusic { context in
            let ids = try insert(context, [["title": "a", "year": 1990], ["title": "b", "year": 2000], ["title": "c", "year": 2010]])
            let request = NSBatchUpdateRequest(entityName: "Album")
            request.predicate = NSPredicate(format: "year >= 2000")
            request.resultType = .updatedObjectIDsResultType
            let year = try #require(ids[0].entity.attributesByName["year"])
            request.propertiesToUpdate = [
                year: NSExpression(format: "year + 1"), "rating": NSExpression(forConstantValue: 3),
                "title": NSExpression(format: "uppercase(title)"),
            ]
            let result = try #require(try context.execute(request) as? NSBatchUpdateResult)
            expect(Set(result.result as? [NSManagedObjectID] ?? []), equals: Set(ids[1...]))
            let albums = try context.all(Album.self, by: "year")
            expect(albums.map(\.year), equals: [1990, 2001, 2011])
            expect(albums.map(\.title), equals: ["a", "B", "C"])
            expect(albums.map(\.rating), equals: [nil, 3, 3])
            request.propertiesToUpdate = ["rating": NSNull()]
            request.resultType = .updatedObjectsCountResultType
            try expect((context.execute(request) as? NSBatchUpdateResult)?.result as? Int, equals: 2)
        }
    }

    @Test func rowsOfInheritingEntitiesAreUpdatedUnlessTheRequestLeavesThemOut() throws {
        try withMusic { context in
            _ = try context.execute(NSBatchInsertRequest(entityName: "Band", objects: [["name": "x"]]))
            _ = try context.execute(NSBatchInsertRequest(entityName: "Duo", objects: [["name": "y"]]))
            let request = NSBatchUpdateRequest(entityName: "Band")
            request.propertiesToUpdate = ["name": "z"]
            request.resultType = .updatedObjectsCountResultType
            try expect((context.execute(request) as? NSBatchUpdateResult)?.result as? Int, equals: 2)
            request.includesSubentities = false
            try expect((context.execute(request) as? NSBatchUpdateResult)?.result as? Int, equals: 1)
        }
    }

    @Test func aBatchUpdateWithAMistakeUpdatesNothing() throws {
        try withMusic { context in
            _ = try insert(context, [["title": "a", "year": 1], ["title": "b", "year": 32_767]])
            let request = NSBatchUpdateRequest(entityName: "Album")
            for (key, value) in [
                ("year", NSExpression(format: "year + 1")), ("nope", 1), ("band", NSNull()), ("year", "x"),
                ("title", NSExpression(format: "nope")),
            ] as [(String, Any)] {
                request.propertiesToUpdate = [key: value]
                #expect(failure { try context.execute(request) } != nil, "\(key)")
            }
            try expect(context.all(Album.self, by: "year").map(\.year), equals: [1, 32_767])
        }
    }

    @Test func contextsKeepWhatTheyReadAndMeetAConflictWhenTheySave() throws {
        try withMusic { context in
            let ids = try insert(context, [["title": "a"]])
            let album = try #require(try context.existingObject(with: ids[0]) as? Album)
            let request = NSBatchUpdateRequest(entityName: "Album")
            request.propertiesToUpdate = ["title": "b"]
            _ = try context.execute(request)
            #expect(album.title == "a" && !album.hasChanges)
            album.year = 1970
            expect(failure { try context.save() }?.code, equals: NSManagedObjectMergeError)
            context.rollback()
            context.refresh(album, mergeChanges: false)
            expect(album.title, equals: "b")
        }
    }

    // MARK: Deleting

    @Test func whatAFetchFindsIsDeletedWithinItsLimit() throws {
        try withMusic { context in
            _ = try insert(context, [["title": "a"], ["title": "b"], ["title": "c"], ["title": "d"]])
            let fetch = NSFetchRequest<Album>(entityName: "Album")
            fetch.predicate = NSPredicate(format: "title != 'a'")
            fetch.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
            fetch.fetchLimit = 2
            let request = NSBatchDeleteRequest(fetchRequest: fetch)
            request.resultType = .resultTypeCount
            try expect((context.execute(request) as? NSBatchDeleteResult)?.result as? Int, equals: 2)
            try expect(titles(context), equals: ["a", "b"])
        }
    }

    @Test func relationshipsBackAreEmptiedAndNothingCascades() throws {
        try withMusic { context in
            let band = try context.saveBand("X", albums: ["a", "b"])
            let album = try #require(try context.all(Album.self, "title == 'a'").first)
            let (tag, track) = (Tag(context: context), context.insert("Track"))
            album.tags = [tag]
            track.setValue(album, forKey: "album")
            try context.save()
            let request = NSBatchDeleteRequest(objectIDs: [band.objectID, band.objectID])
            request.resultType = .resultTypeObjectIDs
            try expect((context.execute(request) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID], equals: [band.objectID])
            _ = try context.execute(NSBatchDeleteRequest(objectIDs: [album.objectID]))
            let fresh = Music.context(context.persistentStoreCoordinator!)
            try fresh.performAndWait {
                try #expect(fresh.all("Band").isEmpty)
                try expect(fresh.all(Album.self).map(\.title), equals: ["b"])
                try #expect(fresh.all(Album.self).first?.band == nil)
                try expect(fresh.all(Tag.self).first?.value(forKey: "albums") as? Set<NSManagedObject>, equals: [])
                try #expect(fresh.all("Track").first?.value(forKey: "album") == nil)
                try #expect(fresh.all(Tag.self, "albums.@count > 0").isEmpty)
            }
            // The context that holds the deleted objects is not changed.
            #expect(!album.isDeleted && band.albums.count == 2)
        }
    }

    @Test func aRelationshipThatMayNotBeEmptyForbidsTheDelete() throws {
        let owner = NSEntityDescription(name: "Owner")
        let pet = NSEntityDescription(name: "Pet")
        let pets = NSRelationshipDescription(name: "pets", destination: pet, toMany: true)
        let back = NSRelationshipDescription(name: "owner", destination: owner, isOptional: false)
        pets.inverse(to: back)
        owner.properties = [pets]
        pet.properties = [back]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [owner, pet]))
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = Music.context(coordinator)
        try context.performAndWait {
            context.insert("Pet").setValue(context.insert("Owner"), forKey: "owner")
            try context.save()
            let request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Owner"))
            let error = failure { try context.execute(request) }
            expect(error?.localizedDescription.contains("Pet.owner"), equals: true)
            try expect(context.all("Owner").count, equals: 1)
            // Together they may go.
            _ = try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Pet")))
            _ = try context.execute(request)
            try expect(
                Music.context(coordinator).performAndWait {
                    try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Owner"))
                }, equals: 0)
        }
    }

    @Test func idsThatNoStoreHasAreErrors() throws {
        try withMusic { context in
            let album = Album(context: context)
            #expect(failure { try context.execute(NSBatchDeleteRequest(objectIDs: [album.objectID])) } != nil)
            try context.save()
            let tag = Tag(context: context)
            try context.save()
            #expect(failure { try context.execute(NSBatchDeleteRequest(objectIDs: [album.objectID, tag.objectID])) } != nil)
            let nothing = NSBatchDeleteRequest(objectIDs: [])
            nothing.resultType = .resultTypeCount
            try expect((context.execute(nothing) as? NSBatchDeleteResult)?.result as? Int, equals: 0)
        }
    }

    @Test func aChildContextsRequestGoesToTheStore() throws {
        try withMusic { context in
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = context
            try child.performAndWait {
                _ = try child.execute(NSBatchInsertRequest(entityName: "Album", objects: [["title": "a"]]))
                try expect(child.all(Album.self).map(\.title), equals: ["a"])
            }
        }
    }
}
