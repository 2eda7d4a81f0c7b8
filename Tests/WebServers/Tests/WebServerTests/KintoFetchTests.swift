import CoreData
import Foundation
import RemoteStore
import Testing
import WebBackend
import WebTransport

@Suite("Fetches from Kinto", .enabled(if: PythonServer.absence == nil, "Python or its packages are missing"))
struct KintoFetchTests {
    @Test("Random fetches find what the store in memory finds", arguments: [false, true])
    func random(isInOrder: Bool) throws {
        let music = try Music.kinto(isInOrder ? Kinto.styleOfMemory : .kinto)
        try RandomMusic(seconds: 2).compare(music, "Kinto\(isInOrder ? ", strings in order" : "")")
    }

    @Test("Numbers are compared and counted by Kinto, which sends no more than what is wanted") func pushed() throws {
        let music = try Music.kinto()
        try music.fill(bands: 2, albums: 60)
        try music.context.performAndWait {
            music.requests.clear()
            #expect(try music.context.count(for: request("Album")) == 120)
            #expect(music.requests.all.map(\.method) == [.head], "\(music.requests.all)")
            let ids = request("Band")
            let band = try #require(try music.context.fetch(ids).first)
            let own = request("Album")
            own.predicate = NSPredicate(format: "band == %@", band)
            music.requests.clear()
            #expect(try music.context.count(for: own) == 60)
            #expect(music.requests.all.map(\.method) == [.head], "\(music.requests.all)")
            let plan = try request("Album", "year == 1970").explain(in: music.context)
            #expect(plan.predicateInMemory == nil, "\(plan)")
            #expect(try music.context.count(for: request("Album", "year IN {1970, 1971, 2300}")) == 2)
        }
    }

    @Test("A fetch of some values finds them, though Kinto is asked for no others") func fields() throws {
        let music = try Music.kinto()
        for body in [#"{"data": {"title": "A", "year": 1970}}"#, #"{"data": {"title": "B", "year": 1980}}"#] {
            try Kinto.send(.post, "\(music.address)/albums/records", body)
        }
        try music.context.performAndWait {
            let titles = NSFetchRequest<NSDictionary>(entityName: "Album")
            titles.resultType = .dictionaryResultType
            titles.propertiesToFetch = ["title"]
            titles.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
            let sizes = try (1...2).map { round in
                music.requests.clear()
                if round == 2 {
                    _ = try music.context.fetch(request("Album"))
                } else {
                    #expect(try music.context.fetch(titles) == [["title": "B"], ["title": "A"]])
                }
                return music.requests.all.reduce(0) { $0 + $1.bytesReceived }
            }
            #expect(sizes[0] < sizes[1])
        }
    }

    @Test("Records without a field have nil there, without another request") func missing() throws {
        let music = try Music.kinto()
        for body in [#"{"data": {"title": "A"}}"#, #"{"data": {"title": "B", "year": null, "more": [1]}}"#, #"{"data": {"year": 7}}"#] {
            try Kinto.send(.post, "\(music.address)/albums/records", body)
        }
        try music.context.performAndWait {
            let albums = try music.context.fetch(request("Album", by: ["year", "title"]))
            #expect(albums.map { $0.value(forKey: "title") as? String } == ["A", "B", nil])
            #expect(albums.map { $0.value(forKey: "year") as? Int } == [nil, nil, 7])
            #expect(try music.context.fetch(request("Album", "year == nil")).count == 2)
            #expect(try music.context.fetch(request("Album", "year != nil")).count == 1)
            #expect(try music.context.fetch(request("Album", "year != 7")).count == 0)
            #expect(try music.context.fetch(request("Album", "year < 8 AND title == nil")).count == 1)
        }
    }

    @Test("What is there all the while is found once while others insert, change and delete between the pages") func moving() async throws {
        let music = try Music.kinto()
        try music.fill(bands: 1, albums: 350)
        let all = try await music.context.perform {
            Set(try music.context.fetch(request("Album")).compactMap { $0.value(forKey: "title") as? String })
        }
        #expect(all.count == 350)
        let address = music.address
        let (kept, gone) = (all.sorted().prefix(250), all.sorted().suffix(100))
        let others = try Music.kinto(at: address)
        let isDone = Done()
        let seed = CaseRandom.seed(for: "KintoFetchTests.moving")
        let meanwhile = Task.detached {
            var random = CaseRandom(seed: seed)
            var gone = Array(gone).shuffled(using: &random)
            while !isDone.value {
                try await others.context.perform {
                    others.insert("Album", ["title": "New"])
                    if let title = gone.popLast() {
                        for album in try others.context.fetch(request("Album", "title == '\(title)'")) { others.context.delete(album) }
                    }
                    // A change moves a record to the end of the order of changes.
                    if let title = kept.randomElement(using: &random) {
                        for album in try others.context.fetch(request("Album", "title == '\(title)'")) {
                            album.setValue(Double.random(in: 0...1, using: &random), forKey: "rating")
                        }
                    }
                    try others.context.save()
                }
            }
        }
        for keys in [[], ["title"], ["-year", "title"], []] {
            let store = try Music.kinto(Kinto.styleOfMemory, at: address)
            let found = try await store.context.perform {
                try store.context.fetch(request("Album", by: keys)).compactMap { $0.value(forKey: "title") as? String }
            }
            #expect(Set(kept).isSubset(of: found), "By \(keys) there is no \(Set(kept).subtracting(found).sorted().prefix(5))")
            let once = found.filter { $0 != "New" }
            #expect(once.count == Set(once).count)
        }
        isDone.set()
        try await meanwhile.value
    }

    @Test("A batch deletion is one request for each hundred, and leaves what does not match") func deletion() throws {
        let music = try Music.kinto()
        try music.fill(bands: 1, albums: 250)
        try music.context.performAndWait {
            let albums = try music.context.fetch(request("Album"))
            for (index, album) in albums.enumerated() { album.setValue(index < 230 ? 1 : 2, forKey: "year") }
            try music.context.save()
            music.requests.clear()
            let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Album"))
            delete.fetchRequest.predicate = NSPredicate(format: "year == 1")
            try music.context.execute(delete)
            #expect(music.requests.all.map(\.method) == [.delete, .delete, .delete], "\(music.requests.all)")
        }
        let other = try Music.kinto(at: music.address)
        try other.context.performAndWait {
            let count = try other.context.count(for: request("Album"))
            let years = try other.context.fetch(request("Album")).map { $0.value(forKey: "year") as? Int }
            #expect(count == 20 && years.count == 20 && Set(years) == [2])
        }
    }
}

/// Whether something has ended.
// Unchecked: `lock` guards it.
final class Done: @unchecked Sendable {
    private let lock = NSLock()
    private var isSet = false
    var value: Bool { lock.withLock { isSet } }
    func set() { lock.withLock { isSet = true } }
}
