import CoreData
import TestSupport
import Testing

@Suite("A delete rule") struct DeleteRuleTests {
    @Test("Cascade deletes the destination objects, nullify clears the relationship")
    func cascadeAndNullify() throws {
        try withTwoContexts { first, second in
            try first.performAndWait {
                let band = try first.saveBand("Low", albums: ["Trust", "Secret"])
                for album in band.albums {
                    album.tracks = NSOrderedSet(array: [first.insert("Track"), first.insert("Track")])
                    album.tags = [Tag(context: first)]
                }
                try first.save()
            }
            try second.performAndWait {
                let band = try #require(try second.all(Band.self).first)
                second.delete(band)
                #expect(try second.all(Album.self).isEmpty)
                #expect(try second.all("Track").isEmpty)
                let tags = try second.all(Tag.self)
                expect(tags.count, equals: 2)
                #expect(tags.allSatisfy { ($0.value(forKey: "albums") as? Set<NSManagedObject>) == [] })
                expect(second.deletedObjects.count, equals: 7)
                try second.save()
            }
            try first.performAndWait {
                first.reset()
                let left = try ["Band", "Album", "Track", "Tag"].map { try first.all($0).count }
                expect(left, equals: [0, 0, 0, 2])
                let tags = try first.all("Tag")
                #expect(tags.allSatisfy { ($0.value(forKey: "albums") as? Set<NSManagedObject>) == [] })
            }
        }
    }

    @Test("Deleting one of many takes it out of the others' relationships")
    func nullify() throws {
        try withMusic { context in
            let band = try context.saveBand("Low", albums: ["A", "B", "C"])
            let doomed = try #require(band.albums.first { $0.title == "B" })
            context.delete(doomed)
            context.processPendingChanges()
            expect(Set(band.albums.map(\.title)), equals: ["A", "C"])
            try context.save()
            context.refresh(band, mergeChanges: false)
            expect(Set(band.albums.map(\.title)), equals: ["A", "C"])
        }
    }

    @Test("Deny fails the save with code 1600 while anything is left, and lets it through after")
    func deny() throws {
        try withMusic { context in
            let track = context.insert("Track")
            let band = try context.saveBand("Low")
            track.setValue(Set([band]), forKey: "guests")
            try context.save()
            context.delete(track)
            let error = try #require(failure { try context.save() })
            expect(error.code, equals: NSValidationRelationshipDeniedDeleteError)
            expect(error.key, equals: "guests")
            #expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === track)
            #expect(track.isDeleted)
            expect((band.value(forKey: "guestOn") as? Set<NSManagedObject>), equals: [track])
            context.delete(band)
            try context.save()
            #expect(try context.all("Track").isEmpty)
            #expect(try context.all(Band.self).isEmpty)
        }
    }

    @Test("A denied delete can be rolled back")
    func denyRollback() throws {
        try withMusic { context in
            let track = context.insert("Track")
            let band = try context.saveBand("Low")
            track.setValue(Set([band]), forKey: "guests")
            try context.save()
            context.delete(track)
            #expect(failure { try context.save() } != nil)
            context.rollback()
            #expect(!track.isDeleted)
            expect((track.value(forKey: "guests") as? Set<NSManagedObject>), equals: [band])
            try context.save()
            try expect(context.all("Track"), equals: [track])
        }
    }

    private func chain(_ rule: NSDeleteRule, _ body: (NSManagedObjectContext) throws -> Void) throws {
        let node = NSEntityDescription(name: "Node")
        let next = NSRelationshipDescription(name: "next", destination: node, deleteRule: rule)
        let previous = NSRelationshipDescription(name: "previous", destination: node, deleteRule: .nullifyDeleteRule)
        next.inverse(to: previous)
        node.properties = [next, previous]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [node]))
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = Music.context(coordinator)
        try context.performAndWait { try body(context) }
    }

    @Test("Cascade goes round a cycle once, saved or not")
    func cycle() throws {
        for saved in [true, false] {
            try chain(.cascadeDeleteRule) { context in
                let nodes = (0..<5).map { _ in context.insert("Node") }
                for index in 0..<5 { nodes[index].setValue(nodes[(index + 1) % 5], forKey: "next") }
                if saved { try context.save() }
                context.delete(nodes[2])
                context.processPendingChanges()
                expect(context.deletedObjects.count, equals: (saved ? 5 : 0))
                try context.save()
                #expect(try context.all("Node").isEmpty)
                #expect(!context.hasChanges)
            }
        }
    }

    @Test("No action leaves the other end as it is")
    func noAction() throws {
        try chain(.noActionDeleteRule) { context in
            let nodes = [context.insert("Node"), context.insert("Node")]
            nodes[0].setValue(nodes[1], forKey: "next")
            try context.save()
            context.delete(nodes[0])
            context.processPendingChanges()
            #expect(context.updatedObjects.isEmpty)
            #expect(!nodes[1].isDeleted)
        }
    }

    @Test("Deny within a set that is deleted whole is not a hindrance")
    func denyOfDeleted() throws {
        try chain(.denyDeleteRule) { context in
            let nodes = [context.insert("Node"), context.insert("Node")]
            nodes[0].setValue(nodes[1], forKey: "next")
            try context.save()
            context.delete(nodes[0])
            context.delete(nodes[1])
            try context.save()
            #expect(try context.all("Node").isEmpty)
        }
    }

    @Test("What was added to a relationship before the delete is reached by it")
    func unsavedMembers() throws {
        try withTwoContexts { first, second in
            try first.performAndWait { _ = try first.saveBand("Low", albums: ["A"]) }
            try second.performAndWait {
                let band = try #require(try second.all(Band.self).first)
                let new = Album(context: second)
                new.band = band
                second.delete(band)
                second.processPendingChanges()
                #expect(new.managedObjectContext == nil)
                try second.save()
                #expect(try second.all(Album.self).isEmpty)
            }
        }
    }
}
