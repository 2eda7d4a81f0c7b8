import CoreData
import RandomPrograms
import TestSupport
import Testing

@Suite("Sorts of many objects") struct LongSortTests {
    @Test(
        "The order is that of comparing value by value, nil first, and what compares as equal keeps its order",
        arguments: [
            [("title", true)], [("title", false)], [("year", true)], [("year", false), ("title", true)], [("rating", true)],
            [("rating", false), ("year", true)], [("rating", true), ("title", false)],
        ])
    func order(_ keys: [(String, Bool)]) throws {
        let seed = TestSeed.current(for: "LongSortTests.order")
        var random = SeededGenerator(seed: seed)
        try withMusic { context in
            for _ in 0..<1500 {
                let album = Album(context: context)
                // Long common beginnings, few different values, negative numbers, and none at all.
                album.title =
                    "The Beginning " + ["", "a", "ab", "é", "z"].randomElement(using: &random)! + ["", "x", "y"].randomElement(
                        using: &random)!
                album.year = Int16.random(in: -3...3, using: &random)
                album.rating = Bool.random(using: &random) ? nil : Double(Int.random(in: -4...4, using: &random)) / 2
            }
            try context.save()
            let unsorted = try context.all(Album.self)
            func precedes(_ left: Album, _ right: Album) -> Bool {
                for (key, ascending) in keys {
                    let isLess: Bool
                    switch key {
                    case "title":
                        if left.title == right.title { continue }
                        isLess = left.title < right.title
                    case "year":
                        if left.year == right.year { continue }
                        isLess = left.year < right.year
                    default:
                        if left.rating == right.rating { continue }
                        isLess = left.rating.map { mine in right.rating.map { mine < $0 } ?? false } ?? true
                    }
                    return isLess == ascending
                }
                return false
            }
            let wanted = unsorted.enumerated().sorted {
                precedes($0.element, $1.element) || (!precedes($1.element, $0.element) && $0.offset < $1.offset)
            }.map(\.element)
            let descriptors = keys.map { NSSortDescriptor(key: $0.0, ascending: $0.1) }
            let request = NSFetchRequest<Album>(entityName: "Album")
            request.sortDescriptors = descriptors
            let fetched = try context.fetch(request)
            expect(fetched, equals: wanted, "seed \(seed)")
            try expect(unsorted.sorted(using: descriptors), equals: wanted, "seed \(seed)")
        }
    }
}
