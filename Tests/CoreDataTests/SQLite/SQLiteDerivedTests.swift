import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import Predicates
@testable import SQLQueries
@testable import SQLiteStore

/// Attributes whose values follow from others, kept by the store.
@Suite struct SQLiteDerivedTests {
    private static func derived(_ name: String, _ type: NSAttributeDescription.AttributeType, _ format: String) -> NSAttributeDescription {
        let attribute = NSDerivedAttributeDescription()
        attribute.name = name
        attribute.type = type
        attribute.derivationExpression = CoreData.NSExpression(format: format)
        return attribute
    }

    private static func model() -> NSManagedObjectModel {
        let model = Music.model()
        let entities = model.entitiesByName
        entities["Album"]?.properties += [
            derived("trackCount", .integer64, "tracks.@count"), derived("seconds", .integer64, "tracks.seconds.@sum"),
            derived("bandName", .string, "band.name"), derived("plainTitle", .string, "canonical:(title)"),
            derived("tagCount", .integer64, "tags.@count"),
        ]
        entities["Duo"]?.properties += [derived("changed", .date, "now()")]
        return model
    }

    private func check(_ pad: Scratchpad, _ expected: [[String?]]) throws {
        try expect(
            pad.texts(
                "SELECT ZTITLE, ZTRACKCOUNT, ZSECONDS, ZBANDNAME, ZPLAINTITLE, ZTAGCOUNT FROM ZALBUM ORDER BY ZTITLE"), equals: expected)
    }

    @Test func countsSumsAndValuesOfRelatedObjectsFollowEverySave() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Self.model())
        try context.performAndWait {
            let band = Band(context: context)
            band.name = "Faust"
            let albums = ["Änderung", "IV"].map { title in
                let album = Album(context: context)
                album.title = title
                album.band = band
                return album
            }
            let tracks = [100, 20, 3].map { context.insert("Track", ["title": "t", "seconds": $0]) }
            albums[0].tracks = NSOrderedSet(array: tracks)
            let tag = Tag(context: context)
            albums[1].tags = [tag]
            try context.save()
            try check(pad, [["IV", "0", "0", "Faust", "iv", "1"], ["Änderung", "3", "123", "Faust", "anderung", "0"]])
            tracks[0].setValue(albums[1], forKey: "album")
            tracks[1].setValue(21, forKey: "seconds")
            band.name = "Slapp Happy"
            albums[0].title = "Zwei"
            albums[0].tags = [tag]
            try context.save()
            try check(pad, [["IV", "1", "100", "Slapp Happy", "iv", "1"], ["Zwei", "2", "24", "Slapp Happy", "zwei", "1"]])
            context.delete(tracks[2])
            albums[1].band = nil
            albums[1].tags = []
            try context.save()
            try check(pad, [["IV", "1", "100", nil, "iv", "0"], ["Zwei", "1", "21", "Slapp Happy", "zwei", "1"]])
            context.refresh(albums[0], mergeChanges: false)
            expect(albums[0].value(forKey: "trackCount") as? Int, equals: 1)
            context.reset()
            let again = try context.all(Album.self, nil, by: "title")
            expect(again.map { $0.value(forKey: "seconds") as? Int }, equals: [100, 21])
        }
    }

    @Test func theTimeOfTheSaveIsThatOfTheSavedRowsOfTheEntityAlone() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Self.model())
        try context.performAndWait {
            let before = Date().timeIntervalSinceReferenceDate
            _ = context.insert("Duo", ["name": "Cluster"])
            _ = try context.saveBand("Can")
            let rows = try pad.texts("SELECT ZNAME, ZCHANGED FROM ZBAND ORDER BY ZNAME")
            expect(rows.map { $0[0] }, equals: ["Can", "Cluster"])
            #expect(rows[0][1] == nil)
            let time = try #require(rows[1][1].flatMap(Double.init))
            #expect(time >= before - 0.001 && time <= Date().timeIntervalSinceReferenceDate + 0.001)
        }
    }
}
