import CoreData
import Foundation
import RemoteStore
import Testing
import WebBackend
import WebTransport

@Suite("Objects in Kinto", .enabled(if: PythonServer.absence == nil, "Python or its packages are missing"))
struct KintoTests {
    @Test("What is saved is there for another store, with every value and relationship") func saved() throws {
        let music = try Music.kinto()
        let date = Date(timeIntervalSince1970: 1_772_359_200)
        try music.context.performAndWait {
            let band = music.insert("Band", ["name": "Björk"])
            let (jazz, pop) = (music.insert("Label", ["name": "Jazz"]), music.insert("Label", ["name": "Pop, \"und\" Rock"]))
            music.insert(
                "Album",
                [
                    "title": "Debut", "year": 1993, "rating": 4.5, "price": Decimal(string: "12.25")!, "isLive": false, "recordedAt": date,
                    "band": band, "labels": Set([jazz, pop]),
                ])
            music.insert("Album", ["title": "Post"])
            try music.context.save()
        }
        let other = try Music.kinto(at: music.address)
        try other.context.performAndWait {
            let albums = try other.context.fetch(request("Album", by: ["title"]))
            try #require(albums.count == 2)
            let (debut, post) = (albums[0], albums[1])
            #expect(debut.value(forKey: "title") as? String == "Debut")
            #expect(debut.value(forKey: "year") as? Int == 1993)
            #expect(debut.value(forKey: "rating") as? Double == 4.5)
            #expect(debut.value(forKey: "price") as? Decimal == Decimal(string: "12.25")!)
            #expect(debut.value(forKey: "isLive") as? Bool == false)
            #expect(debut.value(forKey: "recordedAt") as? Date == date)
            #expect((debut.value(forKey: "band") as? NSManagedObject)?.value(forKey: "name") as? String == "Björk")
            let labels = try #require(debut.value(forKey: "labels") as? Set<NSManagedObject>)
            #expect(labels.compactMap { $0.value(forKey: "name") as? String }.sorted() == ["Jazz", "Pop, \"und\" Rock"])
            for label in labels { #expect(label.value(forKey: "albums") as? Set<NSManagedObject> == [debut]) }
            #expect(["year", "rating", "price", "isLive", "recordedAt", "band"].allSatisfy { post.value(forKey: $0) == nil })
            #expect((post.value(forKey: "labels") as? Set<NSManagedObject>)?.isEmpty == true)
            try other.context.throwPendingFaultError()
        }
    }

    @Test("What is changed and deleted is so for another store, and values that are taken away are nil") func changed() throws {
        let music = try Music.kinto()
        try music.fill(bands: 1, albums: 3)
        try music.context.performAndWait {
            let albums = try music.context.fetch(request("Album", by: ["title"]))
            albums[0].setValue("Renamed", forKey: "title")
            albums[1].setValue(nil, forKey: "year")
            albums[1].setValue(nil, forKey: "band")
            music.context.delete(albums[2])
            try music.context.save()
            #expect(!music.context.hasChanges)
        }
        let other = try Music.kinto(at: music.address)
        try other.context.performAndWait {
            let albums = try other.context.fetch(request("Album", by: ["title"]))
            #expect(albums.map { $0.value(forKey: "title") as? String } == ["Album 1 of 1", "Renamed"])
            #expect(albums[0].value(forKey: "year") == nil && albums[0].value(forKey: "band") == nil)
            #expect((albums[1].value(forKey: "band") as? NSManagedObject)?.value(forKey: "name") as? String == "Band 1")
        }
    }

    @Test("Bands, their albums and back are two requests, however many there are", arguments: [1, 20])
    func walk(bands: Int) throws {
        let music = try Music.kinto()
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
        #expect(music.requests.count <= 2, "\(music.requests.all)")
    }

    @Test("Several changes of one kind are one request for up to 25 of them") func batch() throws {
        let music = try Music.kinto()
        try music.context.performAndWait {
            for number in 0..<60 { music.insert("Label", ["name": "Label \(number)"]) }
            try music.context.save()
            #expect(music.requests.count == 3, "\(music.requests.all)")
            for label in try music.context.fetch(request("Label")) { label.setValue("New", forKey: "name") }
            music.requests.clear()
            try music.context.save()
            #expect(music.requests.count == 3, "\(music.requests.all)")
            for label in try music.context.fetch(request("Label")) { music.context.delete(label) }
            music.requests.clear()
            try music.context.save()
            // The albums that have the labels are asked for, too.
            #expect(music.requests.all.filter { $0.method == .post }.count == 3, "\(music.requests.all)")
            #expect(try music.context.count(for: request("Label")) == 0)
        }
    }
}
