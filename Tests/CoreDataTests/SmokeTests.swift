import CoreData
import Testing

@Suite struct SmokeTests {
    @Test func saveAndFetch() throws {
        let coordinator = try Music.coordinator()
        let context = Music.context(coordinator)
        try context.performAndWait {
            let band = Band(context: context)
            band.name = "Low"
            for n in 0..<3 {
                let album = Album(context: context)
                album.title = "Album \(n)"
                album.year = Int16(2000 + n)
                album.band = band
            }
            #expect(band.albums.count == 3)
            #expect(context.insertedObjects.count == 4)
            try context.save()
            #expect(!context.hasChanges)
            let request = NSFetchRequest<Album>(entityName: "Album")
            request.predicate = NSPredicate(format: "year > %d AND band.name == %@", 2000, "Low")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
            let found = try context.fetch(request)
            #expect(found.map(\.title) == ["Album 2", "Album 1"])
        }
        let second = Music.context(coordinator)
        try second.performAndWait {
            let bands = try second.fetch(NSFetchRequest<Band>(entityName: "Band"))
            #expect(bands.count == 1)
            #expect(bands[0].isFault)
            #expect(bands[0].name == "Low")
            #expect(bands[0].albums.map(\.title).sorted() == ["Album 0", "Album 1", "Album 2"])
        }
    }
}
