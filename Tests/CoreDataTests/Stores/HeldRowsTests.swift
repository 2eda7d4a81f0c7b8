import CoreData
import TestSupport
import Testing

@_spi(Stores) @testable import ObjectGraph

/// The list of rows with which a store in memory answers a fetch.
@Suite("Rows that a fetch in memory has found") struct HeldRowsTests {
    @Test("stay as they were while others change, delete and add rows")
    func laterSaves() throws {
        try withTwoContexts { reader, writer in
            let names = (0..<1500).map { "Band \($0)" }
            try writer.performAndWait {
                for name in names { _ = writer.newBand(name) }
                try writer.save()
            }
            let found = try reader.performAndWait { () -> RowList in
                let store = try #require(reader.persistentStoreCoordinator?.persistentStores.first)
                let entity = try #require(reader.model?.entitiesByName["Band"])
                let answer = try store.interface.answer(
                    StoreQuery(entity).with(predicate: NSPredicate(format: "name != 'x'")), for: reader.caller)
                guard case .rows(let rows) = answer else { throw CocoaError(.featureUnsupported) }
                return rows
            }
            try writer.performAndWait {
                for (index, band) in try writer.all(Band.self).enumerated() {
                    if index % 3 == 0 { writer.delete(band) } else { band.name = "changed" }
                }
                _ = writer.newBand("another")
                try writer.save()
            }
            expect(Set(found.map { $0.bandName }), equals: Set(names))
            expect(found.invariantViolations, equals: [])
        }
    }

    @Test("are followed to related rows of many pages, of which some are gone")
    func relatedRows() throws {
        try withTwoContexts { reader, writer in
            try writer.performAndWait {
                let bands = (0..<3).map { writer.newBand("Band \($0)") }
                for number in 0..<3000 {
                    let album = Album(context: writer)
                    album.title = "Album \(number)"
                    album.year = Int16(number)
                    album.band = bands[number % 3]
                }
                try writer.save()
                for album in try writer.all(Album.self, "year > 1000 AND year < 2500") { writer.delete(album) }
                try writer.save()
            }
            try reader.performAndWait {
                func names(_ format: String) throws -> [String] { try reader.all(Band.self, format, by: "name").map(\.name) }
                try expect(names("ANY albums.year == 2999"), equals: ["Band 2"])
                try expect(names("ANY albums.year == 1500"), equals: [])
                try expect(names("ALL albums.year != 999"), equals: ["Band 1", "Band 2"])
                try expect(
                    names("SUBQUERY(albums, $a, $a.year >= 2500 AND $a.title BEGINSWITH 'Album').@count == 167"),
                    equals: [
                        "Band 1", "Band 2",
                    ])
                try expect(reader.all(Album.self, "band.name == 'Band 1'").count, equals: 501)
                // Objects answer as rows do.
                let bands = try reader.all(Band.self, by: "name")
                for format in ["ANY albums.year == 2999", "ALL albums.year != 999", "SUBQUERY(albums, $a, $a.year >= 2500).@count == 167"] {
                    try expect(bands.filtered(matching: NSPredicate(format: format)).map(\.name), equals: names(format))
                }
            }
        }
    }
}

extension NSManagedObjectContext {
    fileprivate func newBand(_ name: String) -> Band {
        let band = Band(context: self)
        band.name = name
        return band
    }
}

extension Row {
    /// The name of a band's row.
    fileprivate var bandName: String {
        let slot = layout.slots[entity.frozenParts.byName["name"]?.slotIndex ?? 0]
        return any(at: slot, isFloat: false) as? String ?? ""
    }
}
