import CoreData
import Foundation
import RedisBackend
import RemoteStore
import Testing

/// Bands and albums in a part of the database of their own.
private struct Music {
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext
    let log: CountedBackend.Log
    let prefix: String

    init(prefix: String = UUID().uuidString, port: Int? = nil) throws {
        self.prefix = prefix
        let band = NSEntityDescription(name: "Band")
        let album = NSEntityDescription(name: "Album")
        let albums = NSRelationshipDescription(name: "albums", destination: album, toMany: true)
        albums.inverse(to: NSRelationshipDescription(name: "band", destination: band))
        band.properties = [NSAttributeDescription(name: "name", type: .string), albums]
        album.properties = [
            NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "year", type: .integer16),
            albums.inverseRelationship!,
        ]
        let model = NSManagedObjectModel(entities: [band, album])
        let port = try port ?? RedisServer.shared.get().port
        let backend = CountedBackend(base: RedisBackend(model: model, port: port, prefix: prefix, indexes: ["Album": ["year"]], timeout: 2))
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addRemoteStore(backend)
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        log = backend.log
    }

    /// Saves bands with albums of the years 1960, 1961, …; the first album of each has no year.
    func fill(bands: Int, albums: Int) throws {
        try context.performAndWait {
            var year = 1960
            for number in 1...bands {
                let band = NSManagedObject(entity: coordinator.managedObjectModel.entitiesByName["Band"]!, insertInto: context)
                band.setValue("Band \(number)", forKey: "name")
                for index in 0..<albums {
                    let album = NSManagedObject(entity: coordinator.managedObjectModel.entitiesByName["Album"]!, insertInto: context)
                    album.setValue("Album \(index) of \(number)", forKey: "title")
                    album.setValue(index == 0 ? nil : year, forKey: "year")
                    album.setValue(band, forKey: "band")
                    if index > 0 { year += 1 }
                }
            }
            try context.save()
            context.reset()
        }
        log.clear()
    }
}

extension Music {
    /// Adds one to the year of the only album that has one, as often as it takes.
    fileprivate func addOne() async throws {
        let context = context
        try await context.perform {
            for _ in 0..<1000 {
                context.reset()
                let album = try #require(try context.fetch(request("Album", "year != nil")).first)
                album.setValue((album.value(forKey: "year") as? Int ?? 0) + 1, forKey: "year")
                do { return try context.save() } catch let error as NSError where error.code == NSManagedObjectMergeError { continue }
            }
            Issue.record("The album was changed by others a thousand times.")
        }
    }
}

private func request(_ entity: String, _ format: String? = nil) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = format.map { NSPredicate(format: $0) }
    return request
}

@Suite("Objects in Redis") struct RedisBackendTests {
    @Test("A second store finds what the first has saved, under the same identifiers") func reopened() throws {
        let first = try Music()
        try first.fill(bands: 2, albums: 3)
        let second = try Music(prefix: first.prefix)
        func uris(_ music: Music) throws -> [String] {
            try music.context.performAndWait {
                try music.context.fetch(request("Album")).map { "\($0.objectID.uriRepresentation()) \($0.value(forKey: "title") ?? "")" }
                    .sorted()
            }
        }
        #expect(try uris(first) == uris(second))
        #expect(try uris(second).count == 6)
    }

    @Test("Bands, their albums and back are two requests, however many there are", arguments: [1, 30])
    func walk(bands: Int) throws {
        let music = try Music()
        try music.fill(bands: bands, albums: 3)
        try music.context.performAndWait {
            let found = try music.context.fetch(request("Band"))
            #expect(found.count == bands)
            for band in found {
                let albums = try #require(band.value(forKey: "albums") as? Set<NSManagedObject>)
                #expect(albums.count == 3)
                #expect(albums.allSatisfy { ($0.value(forKey: "band") as? NSManagedObject) === band && $0.value(forKey: "title") != nil })
            }
            try music.context.throwPendingFaultError()
        }
        #expect(music.log.all.count <= 2, "\(music.log.all)")
    }

    @Test("A range, an order, an offset and a limit of an indexed attribute are Redis's work; nil is before everything") func sorted()
        throws
    {
        let music = try Music()
        try music.fill(bands: 3, albums: 4)
        try music.context.performAndWait {
            let ranged = request("Album", "year > 1960 AND year <= 1966")
            ranged.sortDescriptors = [NSSortDescriptor(key: "year", ascending: false)]
            ranged.fetchOffset = 1
            ranged.fetchLimit = 3
            let plan = try ranged.explain(in: music.context)
            #expect(plan.predicateInMemory == nil && plan.sortsInMemory.isEmpty && !plan.pagesInMemory, "\(plan)")
            #expect(try music.context.fetch(ranged).map { $0.value(forKey: "year") as? Int } == [1965, 1964, 1963])
            #expect(try music.context.count(for: request("Album", "year >= 1962")) == 7)
            #expect(try music.context.count(for: request("Album", "year == nil")) == 3)
            let all = request("Album")
            all.sortDescriptors = [NSSortDescriptor(key: "year", ascending: true)]
            let years = try music.context.fetch(all).map { $0.value(forKey: "year") as? Int }
            #expect(years == [nil, nil, nil] + (1960...1968).map { $0 })
        }
    }

    @Test("Several hundred objects are read in pages, and by their identifiers in one request for five hundred") func pages() throws {
        let music = try Music()
        try music.fill(bands: 1, albums: 700)
        try music.context.performAndWait {
            #expect(try music.context.fetch(request("Album", "title BEGINSWITH 'Album'")).count == 700)
            let descending = request("Album")
            descending.sortDescriptors = [NSSortDescriptor(key: "year", ascending: false)]
            let years = try music.context.fetch(descending).compactMap { $0.value(forKey: "year") as? Int }
            #expect(years == years.sorted(by: >) && years.count == 699)
        }
    }

    @Test("Of two contexts that change the same object the second learns of the first") func conflict() throws {
        let music = try Music()
        try music.fill(bands: 1, albums: 1)
        let other = try Music(prefix: music.prefix)
        let mine = try music.context.performAndWait { try #require(try music.context.fetch(request("Band")).first) }
        let theirs = try other.context.performAndWait { try #require(try other.context.fetch(request("Band")).first) }
        music.context.performAndWait { mine.setValue("Mine", forKey: "name") }
        try other.context.performAndWait {
            theirs.setValue("Theirs", forKey: "name")
            try other.context.save()
        }
        try music.context.performAndWait {
            let error = #expect(throws: NSError.self) { try music.context.save() }
            #expect(error?.code == NSManagedObjectMergeError)
            music.context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
            try music.context.save()
            #expect(mine.value(forKey: "name") as? String == "Theirs")
        }
    }

    @Test("A save whose answer was lost is sent again, and makes no second object") func lostAnswer() throws {
        let music = try Music()
        try music.context.performAndWait {
            let band = NSManagedObject(entity: music.coordinator.managedObjectModel.entitiesByName["Band"]!, insertInto: music.context)
            band.setValue("Once", forKey: "name")
            music.log.loseAnswer()
            #expect(throws: NSError.self) { try music.context.save() }
            #expect(band.isInserted)
            try music.context.save()
            #expect(!band.objectID.isTemporaryID && !music.context.hasChanges)
        }
        let other = try Music(prefix: music.prefix)
        let count = try other.context.performAndWait { try other.context.count(for: request("Band")) }
        #expect(count == 1)
    }

    @Test("Programs that add to the same number at the same time lose nothing: each conflict is tried again") func race() async throws {
        let first = try Music()
        try first.fill(bands: 1, albums: 2)
        let prefix = first.prefix
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    do {
                        let music = try Music(prefix: prefix)
                        for _ in 0..<10 { try await music.addOne() }
                    } catch { Issue.record(error) }
                }
            }
        }
        let last = try Music(prefix: prefix)
        try last.context.performAndWait {
            let album = try #require(try last.context.fetch(request("Album", "year != nil")).first)
            #expect(album.value(forKey: "year") as? Int == 1960 + 30)
        }
    }

    @Test("A deleted object leaves its sets, and those of what it referred to") func deletion() throws {
        let music = try Music()
        try music.fill(bands: 1, albums: 3)
        try music.context.performAndWait {
            let album = try #require(try music.context.fetch(request("Album", "year == 1960")).first)
            music.context.delete(album)
            try music.context.save()
            music.context.reset()
            let band = try #require(try music.context.fetch(request("Band")).first)
            #expect((band.value(forKey: "albums") as? Set<NSManagedObject>)?.count == 2)
            #expect(try music.context.count(for: request("Album")) == 2)
            #expect(try music.context.count(for: request("Album", "year >= 1960")) == 1)
        }
    }

    @Test("A server that cannot be reached is an error of whoever asks") func unreachable() async throws {
        let server = try RedisServer()
        server.stop()
        let music = try Music(port: server.port)
        let error = await #expect(throws: RedisError.self) { _ = try await music.context.fetchAsynchronously(request("Band")) }
        guard case .connection? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
