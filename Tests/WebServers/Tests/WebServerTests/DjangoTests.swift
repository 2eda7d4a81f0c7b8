import CoreData
import Foundation
import RemoteStore
import StoreConformance
import Testing
import WebBackend
import WebTransport

@Suite("Objects in Django", .enabled(if: PythonServer.absence == nil, "Python or its packages are missing"))
struct DjangoTests {
    @Test("What is saved, changed and deleted is so for another store", arguments: Django.allCases) func saved(_ django: Django) throws {
        let music = try django.music()
        let date = Date(timeIntervalSince1970: 1_772_359_200.25)
        try music.context.performAndWait {
            let band = music.insert("Band", ["name": "Björk"])
            let (jazz, pop) = (music.insert("Label", ["name": "Jazz"]), music.insert("Label", ["name": "Pop"]))
            let debut = music.insert(
                "Album",
                [
                    "title": "Debut", "year": 1993, "rating": 4.5, "price": Decimal(string: "12.25")!, "isLive": false, "recordedAt": date,
                    "band": band, "labels": Set([jazz, pop]),
                ])
            let post = music.insert("Album", ["title": "Post", "year": 1995, "band": band])
            music.insert("Album", ["title": "Gone"])
            try music.context.save()
            debut.setValue(1994, forKey: "year")
            debut.setValue(Set([pop]), forKey: "labels")
            post.setValue(nil, forKey: "year")
            post.setValue(nil, forKey: "band")
            for gone in try music.context.fetch(request("Album", "title == 'Gone'")) { music.context.delete(gone) }
            try music.context.save()
            #expect(!music.context.hasChanges)
        }
        let other = try django.music(at: music.address)
        try other.context.performAndWait {
            let albums = try other.context.fetch(request("Album", by: ["title"]))
            #expect(albums.map { $0.value(forKey: "title") as? String } == ["Debut", "Post"])
            let (debut, post) = (albums[0], albums[1])
            #expect(debut.value(forKey: "year") as? Int == 1994)
            #expect(debut.value(forKey: "rating") as? Double == 4.5)
            #expect(debut.value(forKey: "price") as? Decimal == Decimal(string: "12.25")!)
            #expect(debut.value(forKey: "isLive") as? Bool == false)
            #expect(debut.value(forKey: "recordedAt") as? Date == date)
            #expect((debut.value(forKey: "band") as? NSManagedObject)?.value(forKey: "name") as? String == "Björk")
            let labels = try #require(debut.value(forKey: "labels") as? Set<NSManagedObject>)
            #expect(labels.map { $0.value(forKey: "name") as? String } == ["Pop"])
            for label in labels { #expect(label.value(forKey: "albums") as? Set<NSManagedObject> == [debut]) }
            #expect(["year", "rating", "price", "isLive", "recordedAt", "band"].allSatisfy { post.value(forKey: $0) == nil })
            try other.context.throwPendingFaultError()
        }
    }

    @Test("Random fetches find what the store in memory finds", arguments: Django.allCases) func random(_ django: Django) throws {
        let music = try django.music()
        var random = RandomMusic(seconds: 2)
        // Blanks at the ends of strings are taken away by the service.
        random.texts.removeAll { $0 == " a" }
        try random.compare(music, "Django, \(django.testDescription)")
    }

    @Test("What the service finds wrong is an error of validation that names the property", arguments: Django.allCases)
    func validation(_ django: Django) throws {
        let music = try django.music()
        try music.context.performAndWait {
            let album = music.insert("Album", ["title": "Early", "year": 1700])
            let error = try #require(throws: NSError.self) { try music.context.save() }
            let found = Self.validation(error)
            #expect(found?.userInfo[NSValidationKeyErrorKey] as? String == "year", "\(error)")
            #expect("\(error)".contains("1800"), "\(error)")
            #expect(album.isInserted)
            album.setValue(1900, forKey: "year")
            try music.context.save()
            #expect(!music.context.hasChanges)
        }
    }

    /// The error of validation in an error.
    private static func validation(_ error: NSError) -> NSError? {
        if error.userInfo[NSValidationKeyErrorKey] != nil { return error }
        let inner =
            (error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []) + [error.userInfo[NSUnderlyingErrorKey] as? NSError].compactMap { $0 }
        return inner.lazy.compactMap(validation).first
    }

    @Test("A change of what others have changed is noticed by reading before", arguments: Django.allCases)
    func conflict(_ django: Django) throws {
        let mine = try django.music()
        try mine.fill(bands: 1, albums: 1)
        let theirs = try django.music(at: mine.address)
        let album = try mine.context.performAndWait {
            let album = try #require(try mine.context.fetch(request("Album")).first)
            _ = album.value(forKey: "title")
            return album
        }
        try theirs.context.performAndWait {
            let album = try #require(try theirs.context.fetch(request("Album")).first)
            album.setValue("Theirs", forKey: "title")
            try theirs.context.save()
        }
        try mine.context.performAndWait {
            album.setValue("Mine", forKey: "title")
            let error = #expect(throws: NSError.self) { try mine.context.save() }
            #expect(error?.code == NSManagedObjectMergeError)
            mine.context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
            try mine.context.save()
            #expect(album.value(forKey: "title") as? String == "Theirs")
        }
    }

    @Test("Bands, their albums and back are a handful of requests, however many there are", arguments: Django.allCases, [1, 20])
    func walk(_ django: Django, bands: Int) throws {
        let music = try django.music()
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
        #expect(music.requests.count <= 3, "\(music.requests.all)")
    }

    @Test("Several hundred objects come in pages, and are counted by one request", arguments: Django.allCases)
    func pages(_ django: Django) throws {
        let music = try django.music()
        try music.fill(bands: 1, albums: 230)
        try music.context.performAndWait {
            music.requests.clear()
            #expect(try music.context.count(for: request("Album")) == 230)
            #expect(music.requests.count == 1, "\(music.requests.all)")
            let years = try music.context.fetch(request("Album", "year > 1960", by: ["-year"])).map { $0.value(forKey: "year") as? Int }
            #expect(years == (1961...2188).reversed().map { $0 })
        }
    }

    @Test("Destinations that are prefetched come along with JSON:API") func includes() throws {
        let music = try Django.jsonapi.music()
        try music.fill(bands: 10, albums: 2)
        try music.context.performAndWait {
            let fetch = request("Album")
            fetch.relationshipKeyPathsForPrefetching = ["band"]
            music.requests.clear()
            let names = try music.context.fetch(fetch).compactMap { ($0.value(forKey: "band") as? NSManagedObject)?.value(forKey: "name") }
            #expect(names.count == 20)
            #expect(music.requests.count == 1, "\(music.requests.all)")
        }
    }
}

@Suite("Objects in Django behave as Core Data's do", .enabled(if: PythonServer.absence == nil, "Python or its packages are missing"))
struct DjangoConformanceTests {
    private static func store(_ django: Django) -> StoreUnderTest {
        StoreUnderTest(
            name: "Django, \(django.testDescription)", capabilities: [.durable, .detectsConflicts],
            roles: ConformanceRoles(
                group: "Band", groupName: "name", members: "albums", member: "Album", memberName: "title", memberNumber: "year",
                memberGroup: "band"),
            callCount: { Requests.of($0).count }
        ) { place in
            let space = "c" + place.identifier.replacingOccurrences(of: "-", with: "").lowercased()
            let address = "\(try PythonServer.django.get().address)/\(space)/\(django.rawValue)"
            return try django.music(at: address).coordinator
        }
    }

    @Test("Each behaviour, as it is", arguments: Behaviour.all.filter { $0.applies(to: store(.plain)) })
    func plain(_ behaviour: Behaviour) throws { try behaviour.run(on: Self.store(.plain)) }

    /// What the README says is not shown here.
    private static let leftOut = "Walking from many objects to one and from there to many"
    private static let appliedToAPI = Behaviour.all.filter { behaviour in
        behaviour.applies(to: store(.jsonapi)) && !behaviour.sentence.hasPrefix(leftOut)
    }

    @Test("Each behaviour, as JSON:API", arguments: appliedToAPI)
    func api(_ behaviour: Behaviour) throws { try behaviour.run(on: Self.store(.jsonapi)) }
}
