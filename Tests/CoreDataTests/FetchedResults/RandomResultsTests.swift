import CoreData
import RandomPrograms
import TestSupport
import Testing

/// Runs random programs against fetched results.
private struct ResultsProgram {
    var random: SeededGenerator
    let context: NSManagedObjectContext
    var albums: [Album] = []
    var nextTitle = 0

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        context = try Music.context()
    }

    mutating func title() -> String {
        nextTitle += 1
        // In no order, and none twice: the results have one order only.
        return "\(Int.random(in: 0..<1000, using: &random))-\(nextTitle)"
    }

    mutating func insert() {
        let album = Album(context: context)
        album.title = title()
        album.year = Int16.random(in: 2000..<2005, using: &random)
        album.rating = Bool.random(using: &random) ? nil : Double(Int.random(in: 0..<6, using: &random))
        albums.append(album)
    }

    mutating func change(saving: Bool) throws {
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            guard let album = albums.randomElement(using: &random) else {
                insert()
                continue
            }
            switch Int.random(in: 0..<12, using: &random) {
            case 0, 1, 2: insert()
            case 3, 4:
                context.delete(album)
                albums.removeAll { $0 === album }
            case 5, 6: album.year = Int16.random(in: 2000..<2005, using: &random)
            case 7: album.title = title()
            case 8: album.rating = Bool.random(using: &random) ? nil : Double(Int.random(in: 0..<6, using: &random))
            case 9: album.setValue(album.value(forKey: "rating"), forKey: "rating")
            case 10:
                let merges = Bool.random(using: &random)
                context.refresh(album, mergeChanges: merges)
                // A new one has the values that all are made with, and results with equal titles have no one order.
                if !merges, album.isInserted { album.title = title() }
            default:
                // A whole year moves.
                for other in albums where other.year == 2002 { other.year = Int16.random(in: 1998..<2008, using: &random) }
            }
        }
        if saving, Int.random(in: 0..<3, using: &random) == 0 { try context.save() }
        context.processPendingChanges()
    }

    func request() -> NSFetchRequest<Album> {
        let request = NSFetchRequest<Album>()
        request.predicate = NSPredicate(format: "rating == nil OR rating > 1")
        request.sortDescriptors = [NSSortDescriptor(key: "year", ascending: true), NSSortDescriptor(key: "title", ascending: false)]
        return request
    }
}

@Suite("Fetched results under random programs") struct RandomResultsTests {
    @Test(
        "After each batch of changes the delegate's calls turn the old sections into the new ones, which are those of a fresh fetch",
        arguments: [true, false])
    func singleChanges(isSectioned: Bool) throws {
        let base = TestSeed.current(for: "Fetched results, sections \(isSectioned)")
        for round in TestRounds(seconds: 5.5, atLeast: 30) {
            let seed = base &+ UInt64(round)
            var program = try ResultsProgram(seed: seed)
            try program.context.performAndWait {
                for _ in 0..<Int.random(in: 0..<12, using: &program.random) { program.insert() }
                try program.context.save()
                let request = program.request()
                let controller = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: program.context, sectionNameKeyPath: isSectioned ? "year" : nil,
                    cacheName: nil)
                let listener = ResultsListener()
                controller.delegate = listener
                try controller.performFetch()
                var mirror = ResultsMirror(controller.sections!)
                for _ in 0..<4 {
                    listener.clear()
                    let before = controller.fetchedObjects!
                    try program.change(saving: true)
                    for batch in listener.batches { mirror.apply(batch.sections, batch.objects) }
                    let fresh = try program.context.fetch(request)
                    try #require(controller.fetchedObjects! == fresh, "seed \(seed)")
                    try #require(mirror == ResultsMirror(controller.sections!), "seed \(seed)")
                    try #require(mirror.rows.flatMap { $0 } == fresh, "seed \(seed)")
                    if isSectioned { try #require(mirror.names == uniqued(fresh.map { "\($0.year)" }), "seed \(seed)") }
                    if !listener.calls.isEmpty {
                        try #require(listener.calls.first == "will" && listener.calls.last == "did", "seed \(seed)")
                        // One event may be told in several notifications, as a refresh is one of its own.
                        if listener.calls.filter({ $0 == "will" }).count == 1 { try #require(listener.before == before, "seed \(seed)") }
                    }
                    for change in listener.objects where change.type == .update && listener.calls.filter({ $0 == "will" }).count == 1 {
                        try #require(controller.object(at: change.new!) === change.object, "seed \(seed)")
                    }
                    for (index, object) in fresh.enumerated() {
                        let path = try #require(controller.indexPath(forObject: object), "seed \(seed)")
                        try #require(controller.object(at: path) === object, "seed \(seed)")
                        if !isSectioned { try #require(path == IndexPath(row: index, section: 0), "seed \(seed)") }
                    }
                }
            }
        }
    }

    @Test("Thousands of objects keep their places through hundreds of batches", arguments: [true, false])
    func many(isSectioned: Bool) throws {
        let seed = TestSeed.current(for: "Many fetched results, sections \(isSectioned)")
        var program = try ResultsProgram(seed: seed)
        try program.context.performAndWait {
            for _ in 0..<3000 { program.insert() }
            try program.context.save()
            let request = program.request()
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: program.context, sectionNameKeyPath: isSectioned ? "year" : nil, cacheName: nil
            )
            let listener = ResultsListener()
            controller.delegate = listener
            try controller.performFetch()
            var mirror = ResultsMirror(controller.sections!)
            for batch in 0..<300 {
                listener.clear()
                // First it shrinks, then it grows again.
                let deletes = batch < 200 ? 14 : 2
                for _ in 0..<deletes where !program.albums.isEmpty {
                    let album = program.albums.remove(at: Int.random(in: 0..<program.albums.count, using: &program.random))
                    program.context.delete(album)
                }
                if batch >= 200 { for _ in 0..<10 { program.insert() } }
                try program.change(saving: false)
                for batch in listener.batches { mirror.apply(batch.sections, batch.objects) }
            }
            let fresh = try program.context.fetch(request)
            expect(controller.fetchedObjects!, equals: fresh, "COREDATA_TEST_SEED=\(seed)")
            expect(mirror, equals: ResultsMirror(controller.sections!), "COREDATA_TEST_SEED=\(seed)")
            expect(mirror.rows.flatMap { $0 }, equals: fresh, "COREDATA_TEST_SEED=\(seed)")
            let paths = controller.fetchedObjects!.map { controller.indexPath(forObject: $0)! }
            expect(paths, equals: paths.sorted())
            expect(paths.map { controller.object(at: $0) }, equals: fresh)
        }
    }

    @Test("A limited fetch is followed too, by fetching again", arguments: [true, false])
    func limited(isSectioned: Bool) throws {
        let base = TestSeed.current(for: "Limited fetched results, sections \(isSectioned)")
        for round in TestRounds(seconds: 2.3, atLeast: 20) {
            let seed = base &+ UInt64(round)
            var program = try ResultsProgram(seed: seed)
            try program.context.performAndWait {
                for _ in 0..<12 { program.insert() }
                try program.context.save()
                let request = program.request()
                request.fetchLimit = 5
                request.fetchOffset = 1
                let controller = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: program.context, sectionNameKeyPath: isSectioned ? "year" : nil,
                    cacheName: nil)
                let listener = ResultsListener()
                controller.delegate = listener
                try controller.performFetch()
                var mirror = ResultsMirror(controller.sections!)
                for _ in 0..<4 {
                    try program.change(saving: false)
                    let fresh = try program.context.fetch(request)
                    try #require(controller.fetchedObjects! == fresh, "seed \(seed)")
                    for batch in listener.batches { mirror.apply(batch.sections, batch.objects) }
                    try #require(mirror == ResultsMirror(controller.sections!), "seed \(seed)")
                    listener.clear()
                }
            }
        }
    }

    @Test("Differences turn the old IDs into the new ones")
    func differences() throws {
        let base = TestSeed.current(for: "Differences of fetched results")
        for round in TestRounds(seconds: 1.6, atLeast: 20) {
            let seed = base &+ UInt64(round)
            var program = try ResultsProgram(seed: seed)
            try program.context.performAndWait {
                for _ in 0..<Int.random(in: 0..<12, using: &program.random) { program.insert() }
                try program.context.save()
                let request = program.request()
                let controller = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: program.context, sectionNameKeyPath: nil, cacheName: nil)
                let listener = DifferenceListener()
                controller.delegate = listener
                try controller.performFetch()
                var ids = controller.fetchedObjects!.map(\.objectID)
                var applied = 0
                for _ in 0..<4 {
                    try program.change(saving: false)
                    for difference in listener.differences[applied...] {
                        ids = try #require(ids.applying(difference), "seed \(seed)")
                    }
                    applied = listener.differences.count
                    let fresh = try program.context.fetch(request).map(\.objectID)
                    try #require(ids == fresh, "seed \(seed)")
                }
                expect(listener.otherCalls, equals: 0)
            }
        }
    }

    private func uniqued(_ names: [String]) -> [String] {
        names.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }
}
