import CoreData
import TestSupport
import Testing

/// `stalenessInterval`: how old values of an earlier read may be that a fault takes, over a file that another coordinator writes to, as
/// another process would.
@Suite("The staleness interval") struct StalenessTests {
    private let pad: Scratchpad
    private let reading: NSPersistentStoreCoordinator
    private let writer: NSManagedObjectContext
    private let bandID: NSManagedObjectID
    /// A context that has read everything, so that the rows and relationships are cached.
    private let keeper: NSManagedObjectContext

    init() throws {
        pad = try Scratchpad()
        writer = try pad.context(Music.model())
        reading = try pad.coordinator(Music.model())
        keeper = Music.context(reading)
        keeper.retainsRegisteredObjects = true
        try writer.performAndWait { [writer] in _ = try writer.saveBand("Low", albums: ["Trust"]) }
        bandID = try keeper.performAndWait { [keeper] in
            let band = try #require(try keeper.all(Band.self).first)
            #expect(band.name == "Low" && band.albums.map(\.title) == ["Trust"])
            return band.objectID
        }
        try writer.performAndWait { [writer] in
            let band = try #require(try writer.all(Band.self).first)
            band.name = "Lower"
            let album = Album(context: writer)
            album.title = "Hey What"
            album.band = band
            try writer.save()
        }
    }

    /// What a new context with an interval reads of the band.
    private func read(_ interval: TimeInterval?) throws -> (name: String?, albums: Int) {
        let context = Music.context(reading)
        if let interval { context.stalenessInterval = interval }
        return try context.performAndWait {
            let band = try #require(context.object(with: bandID) as? Band)
            return (band.name, band.albums.count)
        }
    }

    @Test("Faults take what was read before, however old, unless the interval is zero or over", arguments: [nil, -1, 3600, 0, 1e-9])
    func faults(_ interval: TimeInterval?) throws {
        let isFresh = interval == 0 || interval == 1e-9
        #expect(NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType).stalenessInterval < 0)
        let seen = try read(interval)
        expect(seen.name, equals: (isFresh ? "Lower" : "Low"))
        // A relationship may be read anew at any time.
        if isFresh { expect(seen.albums, equals: 2) }
    }

    @Test("Where nothing may be older, each of many faults reads what another coordinator has written just before it")
    func faultsInARow() throws {
        for number in 1...20 {
            try writer.performAndWait {
                let band = try #require(try writer.all(Band.self).first)
                band.name = "\(number)"
                try writer.save()
            }
            for _ in 1...10 {
                let context = Music.context(reading)
                context.stalenessInterval = 0
                let name = try context.performAndWait { try #require(context.object(with: bandID) as? Band).name }
                expect(name, equals: "\(number)")
            }
        }
    }

    @Test("What a fault has read anew serves the contexts that accept older values, too")
    func freshValuesAreShared() throws {
        _ = try read(1e-9)
        let seen = try read(nil)
        expect(seen.name, equals: "Lower")
    }

    @Test("Objects that are no faults keep their values, and a fetch reads the store whatever the interval is")
    func fetches() throws {
        try keeper.performAndWait {
            keeper.stalenessInterval = 0
            let band = try #require(keeper.object(with: bandID) as? Band)
            expect(band.name, equals: "Low")
            keeper.stalenessInterval = 3600
            let request = NSFetchRequest<Band>(entityName: "Band")
            request.predicate = NSPredicate(format: "name == 'Lower'")
            let found = try keeper.fetch(request)
            #expect(found == [band] && band.name == "Low")
            keeper.refresh(band, mergeChanges: false)
            expect(band.name, equals: "Lower")
        }
    }
}
