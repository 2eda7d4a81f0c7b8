import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// What is saved is there when the file is opened again.
@Suite struct SQLiteRoundTripTests {
    @Test func objectsAndRelationshipsAreThereAgainAfterReopening() throws {
        let pad = try Scratchpad()
        try {
            let context = try pad.context(Music.model())
            try context.performAndWait {
                let band = Band(context: context)
                band.name = "Can"
                band.founded = Date(timeIntervalSinceReferenceDate: -1_000_000_000.25)
                let album = Album(context: context)
                album.title = "Tago Mago"
                album.year = 1971
                album.band = band
                let tags = ["kraut", "rock"].map { label in
                    let tag = Tag(context: context)
                    tag.label = label
                    return tag
                }
                album.tags = Set(tags)
                let titles = ["Paperhouse", "Mushroom", "Oh Yeah"]
                album.tracks = NSOrderedSet(
                    array: titles.map { title in
                        let track = NSEntityDescription.insertNewObject(forEntityName: "Track", into: context)
                        track.setValue(title, forKey: "title")
                        return track
                    })
                try context.save()
            }
        }()
        let context = try pad.context(Music.model())
        try context.performAndWait {
            let albums = try context.fetch(NSFetchRequest<Album>(entityName: "Album"))
            expect(albums.count, equals: 1)
            let album = try #require(albums.first)
            expect(album.title, equals: "Tago Mago")
            expect(album.year, equals: 1971)
            #expect(album.rating == nil)
            expect(album.band?.name, equals: "Can")
            expect(album.band?.founded, equals: Date(timeIntervalSinceReferenceDate: -1_000_000_000.25))
            expect(album.band?.albums, equals: [album])
            expect(Set(album.tags.map(\.label)), equals: ["kraut", "rock"])
            let titles = album.tracks?.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "title") as? String }
            expect(titles, equals: ["Paperhouse", "Mushroom", "Oh Yeah"])
        }
    }

    @Test func changesAndDeletionsAreThereAgainAfterReopening() throws {
        let pad = try Scratchpad()
        try {
            let context = try pad.context(Music.model())
            try context.performAndWait {
                let bands = (0..<50).map { number in
                    let band = Band(context: context)
                    band.name = "Band \(number)"
                    return band
                }
                try context.save()
                for (number, band) in bands.enumerated() where number % 2 == 0 { band.name += "!" }
                for band in bands.suffix(10) { context.delete(band) }
                try context.save()
            }
        }()
        let context = try pad.context(Music.model())
        try context.performAndWait {
            let names = try context.fetch(NSFetchRequest<Band>(entityName: "Band")).map(\.name)
            expect(Set(names), equals: Set((0..<40).map { "Band \($0)" + ($0 % 2 == 0 ? "!" : "") }))
        }
        try expect(pad.texts("PRAGMA integrity_check"), equals: [["ok"]])
        try expect(pad.texts("SELECT count(*), max(Z_OPT), min(Z_OPT) FROM ZBAND"), equals: [["40", "2", "1"]])
        try expect(pad.texts("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Band'"), equals: [["50"]])
    }

    @Test func anOrderIsKeptWhenObjectsAreMovedPutBetweenAndTakenOut() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Music.model())
        try context.performAndWait {
            let album = Album(context: context)
            func track(_ title: String) -> NSManagedObject {
                let track = NSEntityDescription.insertNewObject(forEntityName: "Track", into: context)
                track.setValue(title, forKey: "title")
                return track
            }
            var tracks = ["a", "b", "c", "d"].map(track)
            album.tracks = NSOrderedSet(array: tracks)
            try context.save()
            try expect(
                pad.texts("SELECT ZTITLE, Z_FOK_ALBUM FROM ZTRACK ORDER BY ZTITLE"),
                equals: [["a", "2048"], ["b", "3072"], ["c", "4096"], ["d", "5120"]])
            tracks.swapAt(0, 3)
            tracks.insert(track("e"), at: 2)
            tracks.remove(at: 1)
            album.tracks = NSOrderedSet(array: tracks)
            try context.save()
            let expected = tracks.map { $0.value(forKey: "title") as? String }
            try expect(
                pad.texts("SELECT ZTITLE FROM ZTRACK WHERE ZALBUM IS NOT NULL ORDER BY Z_FOK_ALBUM").map { $0[0] }, equals: expected)
            context.reset()
            let again = try #require(try context.fetch(NSFetchRequest<Album>(entityName: "Album")).first)
            expect(again.tracks?.array.map { ($0 as? NSManagedObject)?.value(forKey: "title") as? String }, equals: expected)
        }
    }
}
