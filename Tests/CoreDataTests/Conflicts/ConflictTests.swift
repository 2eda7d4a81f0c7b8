import CoreData
import RandomPrograms
import TestSupport
import Testing

@Suite("Two contexts that change one object") struct ConflictTests {
    /// An album that both contexts have read, edited and saved by the first: "theirs", 1999.
    private func conflict(_ body: (_ context: NSManagedObjectContext, _ album: Album) throws -> Void) throws {
        try race(
            { album in
                album.title = "theirs"
                album.year = 1999
            }, body)
    }

    /// An album of 2001 that both contexts have read; the first does `theirs` and saves, the second goes on with `mine`.
    private func race(_ theirs: (Album) throws -> Void, _ mine: (NSManagedObjectContext, Album) throws -> Void) throws {
        try withTwoContexts { first, second in
            let id = try first.performAndWait {
                let album = Album(context: first)
                album.title = "old"
                try first.save()
                return album.objectID
            }
            let album = try second.performAndWait { () -> Album in
                let album = try #require(try second.existingObject(with: id) as? Album)
                expect(album.title, equals: "old")
                return album
            }
            try first.performAndWait {
                try theirs(try #require(try first.existingObject(with: id) as? Album))
                try first.save()
            }
            try second.performAndWait { try mine(second, album) }
        }
    }

    /// What a third context reads.
    private func stored(_ context: NSManagedObjectContext) throws -> [String] {
        let other = Music.context(context.persistentStoreCoordinator!)
        return try other.performAndWait { try other.all(Album.self).map { "\($0.title) \($0.year)" } }
    }

    @Test("The second save fails with code 133020 and both snapshots, and nothing is lost")
    func errorPolicy() throws {
        try conflict { context, album in
            album.title = "mine"
            let error = try #require(failure { try context.save() })
            expect(error.code, equals: NSManagedObjectMergeError)
            let conflicts = try #require(error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])
            expect(conflicts.count, equals: 1)
            #expect(conflicts[0].sourceObject === album)
            expect(conflicts[0].objectSnapshot?["title"] as? String, equals: "old")
            expect(conflicts[0].persistedSnapshot?["title"] as? String, equals: "theirs")
            expect(conflicts[0].persistedSnapshot?["year"] as? Int, equals: 1999)
            expect(conflicts[0].oldVersionNumber, equals: 1)
            expect(conflicts[0].newVersionNumber, equals: 2)
            expect(album.title, equals: "mine")
            expect(context.updatedObjects, equals: [album])
            try expect(stored(context), equals: ["theirs 1999"])
        }
    }

    @Test("After a refresh with merging the save succeeds")
    func refreshAndSaveAgain() throws {
        try conflict { context, album in
            album.title = "mine"
            #expect(failure { try context.save() } != nil)
            context.refresh(album, mergeChanges: true)
            try context.save()
            try expect(stored(context), equals: ["mine 1999"])
        }
    }

    @Test(
        "By property, the policy says who wins where both changed; the other changes of both stay",
        arguments: [
            (NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, "theirs"), (.mergeByPropertyObjectTrumpMergePolicyType, "mine"),
        ])
    func byProperty(_ type: NSMergePolicyType, _ winner: String) throws {
        try conflict { context, album in
            context.mergePolicy = NSMergePolicy(merge: type)
            album.title = "mine"
            album.rating = 5
            try context.save()
            expect(album.title, equals: winner)
            expect(album.year, equals: 1999)
            expect(album.rating, equals: 5)
            #expect(!context.hasChanges)
            try expect(stored(context), equals: ["\(winner) 1999"])
            context.refresh(album, mergeChanges: false)
            expect(album.rating, equals: 5)
        }
    }

    @Test("Overwrite puts this context's object over the store's")
    func overwrite() throws {
        try conflict { context, album in
            context.mergePolicy = NSMergePolicy.overwrite
            album.rating = 5
            try context.save()
            try expect(stored(context), equals: ["old 2001"])
            expect(album.title, equals: "old")
        }
    }

    @Test("Rollback drops this context's changes")
    func rollback() throws {
        try conflict { context, album in
            context.mergePolicy = NSMergePolicy.rollback
            album.title = "mine"
            album.rating = 5
            try context.save()
            #expect(!context.hasChanges)
            expect(album.title, equals: "theirs")
            #expect(album.rating == nil)
            try expect(stored(context), equals: ["theirs 1999"])
        }
    }

    @Test("A policy of one's own decides conflict by conflict")
    func customPolicy() throws {
        final class Louder: NSMergePolicy, @unchecked Sendable {
            override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
                try NSMergePolicy.mergeByPropertyObjectTrump.resolve(optimisticLockingConflicts: list)
                for conflict in list { conflict.sourceObject.setValue("settled", forKey: "title") }
            }
        }
        try conflict { context, album in
            context.mergePolicy = Louder(merge: .errorMergePolicyType)
            album.title = "mine"
            try context.save()
            try expect(stored(context), equals: ["settled 1999"])
        }
    }

    @Test("Edited there, deleted here: an error, or what the policy says")
    func deletedHere() throws {
        let answers: [NSMergePolicyType: [String]] = [
            .mergeByPropertyStoreTrumpMergePolicyType: ["theirs 1999"], .mergeByPropertyObjectTrumpMergePolicyType: [],
            .overwriteMergePolicyType: [], .rollbackMergePolicyType: ["theirs 1999"],
        ]
        for (type, expected) in answers {
            try conflict { context, album in
                context.delete(album)
                let error = try #require(failure { try context.save() })
                expect(error.code, equals: NSManagedObjectMergeError)
                #expect(album.isDeleted)
                context.mergePolicy = NSMergePolicy(merge: type)
                try context.save()
                #expect(!context.hasChanges)
                try expect(stored(context), equals: expected, "\(type)")
                try expect(context.all(Album.self).map { "\($0.title) \($0.year)" }, equals: expected, "\(type)")
            }
        }
    }

    @Test("Deleted there, edited here: an error, or what the policy says")
    func deletedThere() throws {
        let answers: [NSMergePolicyType: [String]] = [
            .mergeByPropertyStoreTrumpMergePolicyType: [], .mergeByPropertyObjectTrumpMergePolicyType: ["mine 2001"],
            .overwriteMergePolicyType: ["mine 2001"], .rollbackMergePolicyType: [],
        ]
        for (type, expected) in answers {
            try race({ $0.managedObjectContext?.delete($0) }) { context, album in
                album.title = "mine"
                let error = try #require(failure { try context.save() })
                expect(error.code, equals: NSManagedObjectMergeError)
                let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
                expect(conflicts?.map(\.newVersionNumber), equals: [0])
                #expect(conflicts?.first?.persistedSnapshot == nil)
                context.mergePolicy = NSMergePolicy(merge: type)
                try context.save()
                #expect(!context.hasChanges)
                try expect(stored(context), equals: expected, "\(type)")
                try expect(context.all(Album.self).map { "\($0.title) \($0.year)" }, equals: expected, "\(type)")
            }
        }
    }

    @Test("An object of an incremental store that was deleted there and is edited here is a conflict")
    func deletedThereInIncrementalStore() throws {
        let (store, coordinator) = try DictionaryStore.make()
        let id = store.put("Album", 1, ["title": "Double Negative", "year": 2018])
        let (there, here) = (Music.context(coordinator), Music.context(coordinator))
        try here.performAndWait {
            let album = try here.existingObject(with: id) as! Album
            try there.performAndWait {
                there.delete(try there.existingObject(with: id))
                try there.save()
            }
            album.title = "mine"
            let error = try #require(failure { try here.save() })
            expect(error.code, equals: NSManagedObjectMergeError)
            let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
            #expect(conflicts?.first?.sourceObject === album)
            #expect(conflicts?.first?.persistedSnapshot == nil)
            #expect(store.records.isEmpty)
            here.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
            try here.save()
            #expect(!here.hasChanges)
            #expect(store.records.isEmpty)
        }
    }

    @Test("Every policy but the error one resolves a deletion there and here")
    func deletedTwice() throws {
        for type: NSMergePolicyType in [
            .mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType,
            .rollbackMergePolicyType,
        ] {
            try race({ $0.managedObjectContext?.delete($0) }) { context, album in
                context.mergePolicy = NSMergePolicy(merge: type)
                context.delete(album)
                try context.save()
                #expect(!context.hasChanges)
                #expect(try stored(context).isEmpty)
            }
        }
    }

    @Test("A saved object that comes back after its deletion can be edited and saved again")
    func insertedAgain() throws {
        try race({ $0.managedObjectContext?.delete($0) }) { context, album in
            let id = album.objectID
            context.mergePolicy = NSMergePolicy.overwrite
            album.title = "mine"
            try context.save()
            expect(album.objectID, equals: id)
            album.title = "mine again"
            try context.save()
            try expect(stored(context), equals: ["mine again 2001"])
        }
    }

    @Test(
        "Both ends of a relationship agree in the store after every policy",
        arguments: [
            NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
            .rollbackMergePolicyType,
            .overwriteMergePolicyType,
        ])
    func relationshipsAgree(_ type: NSMergePolicyType) throws {
        try withTwoContexts { first, second in
            let names = ["none", "theirs", "mine"]
            try first.performAndWait {
                for name in names { try first.saveBand(name, albums: name == "none" ? ["moved"] : []) }
            }
            second.mergePolicy = NSMergePolicy(merge: type)
            func move(_ context: NSManagedObjectContext, to name: String) throws {
                let album = try #require(try context.all(Album.self, "title == 'moved'").first)
                album.band = try context.all(Band.self, "name == '\(name)'").first
                let extra = Album(context: context)
                extra.title = "extra of \(name)"
                extra.band = try context.all(Band.self, "name == 'none'").first
            }
            try second.performAndWait { try move(second, to: "mine") }
            try first.performAndWait {
                try move(first, to: "theirs")
                try first.save()
            }
            try second.performAndWait { try second.save() }
            let third = Music.context(try #require(first.persistentStoreCoordinator))
            try third.performAndWait {
                var found: [String: String?] = [:]
                for album in try third.all(Album.self) { found[album.title] = album.band?.name }
                for band in try third.all(Band.self) {
                    let titles = band.albums.map(\.title).sorted()
                    expect(titles, equals: found.filter { $0.value == band.name }.keys.sorted(), "\(band.name)")
                }
                expect(found["extra of theirs"], equals: "none")
            }
        }
    }
}

@Suite("Conflicts of several objects in one save") struct RelatedConflictTests {
    @Test(
        "The policy decides about the values of an object that a conflict of another object has brought up to date",
        arguments: [ProgramStore.inMemory, .sqlite, .incremental], [true, false])
    func broughtUpToDate(_ store: ProgramStore, overwrites: Bool) throws {
        for order in [[0, 1], [1, 0]] {
            let contexts = try TwoContexts(store) { context in for label in 0..<3 { _ = context.insert("Node", ["label": label]) } }
            contexts.second.mergePolicy = overwrites ? NSMergePolicy.overwrite : .mergeByPropertyStoreTrump
            try contexts.perform(contexts.second) { nodes in
                for label in order {
                    if label == 0 { nodes[0]!.setValue(nodes[2], forKey: "next") } else { nodes[1]!.setValue(7, forKey: "number") }
                }
            }
            try contexts.save { nodes in
                nodes[0]!.setValue(nodes[1], forKey: "next")
                nodes[1]!.setValue(5, forKey: "number")
                nodes[1]!.setValue("theirs", forKey: "name")
            }
            try contexts.perform(contexts.second) { _ in try contexts.second.save() }
            try contexts.perform(contexts.second) { nodes in
                expect(nodes[1]!.value(forKey: "number") as? Int, equals: (overwrites ? 7 : 5), "\(order)")
                expect(nodes[1]!.value(forKey: "name") as? String, equals: (overwrites ? nil : "theirs"), "\(order)")
            }
            try expect(contexts.stored(0, "next"), equals: [overwrites ? 2 : 1], "\(order)")
            try expect(contexts.stored(1, "previous"), equals: (overwrites ? [] : [0]), "\(order)")
            try expect(contexts.stored(2, "previous"), equals: (overwrites ? [0] : []), "\(order)")
        }
    }
}
