import CoreData
import Foundation
import GRDB

/// Compares raw SQLite, a toolkit and this package's store, on tables with the same columns.
struct SQLiteRows {
    let sample: Sample
    /// The directory of the databases.
    let directory: String
    let rawFile: String
    let storeFile: String

    /// Creates the rows.
    ///
    /// - Parameters:
    ///   - count: The number of items.
    ///   - directory: An existing directory for the databases.
    init(count: Int, directory: String) {
        sample = Sample(count: count)
        self.directory = directory
        (rawFile, storeFile) = Self.files(count: count, directory: directory)
    }

    /// Returns the paths of the databases in a directory.
    static func files(count: Int, directory: String) -> (raw: String, store: String) {
        (directory + "/raw-\(count).sqlite", directory + "/store-\(count).sqlite")
    }

    /// Creates the databases that the sides read, and copy to write to.
    func makeFiles(for sides: Set<Benchmark.Side>) throws {
        if sides != [.store] { try SampleDatabase.makeFull(rawFile, sample) }
        if sides.contains(.store) { try StoreSide.makeFull(storeFile, sample) }
    }

    var benchmarks: [Benchmark] { reading + asking + writing + batches + opening }
    var count: Int { sample.values.count }

    // MARK: Reading

    private var reading: [Benchmark] { fetchingAll + fetchingSome + fetchingAgain + readingByKey + walking }

    private var openRaw: () throws -> RawConnection { { try RawConnection(rawFile) } }
    private var openToolkit: () throws -> DatabaseQueue { { try ToolkitSide.open(rawFile) } }
    private var openStore: () throws -> NSManagedObjectContext { { try StoreSide.open(storeFile) } }

    private var fetchingAll: [Benchmark] {
        let group = "fetch \(count) objects, read every property"
        return [
            Benchmark(group, "raw C, one final class a row", side: .raw, given: openRaw) {
                let items = try RawSide.fetchAll($0)
                return (items.sumOfAll, items)
            },
            Benchmark(group, "GRDB, Codable records", side: .toolkitCodable, given: openToolkit) {
                let items = try ToolkitSide.fetchAll(CodableItem.self, $0)
                return (items.sumOfAll, items)
            },
            Benchmark(group, "GRDB, records by hand", side: .toolkitByHand, given: openToolkit) {
                let items = try ToolkitSide.fetchAll(HandWrittenItem.self, $0)
                return (items.sumOfAll, items)
            },
            Benchmark(group, "this store", side: .store, target: 1.15, given: openStore) {
                let items = try StoreSide.fetchAll($0)
                return (items.sumOfAll, (items, $0))
            },
            Benchmark(group, "this store, fetched as faults", given: openStore) {
                let items = try StoreSide.fetchAll($0, asFaults: true)
                return (items.sumOfAll, (items, $0))
            },
        ]
    }

    private var fetchingSome: [Benchmark] {
        let group = "fetch \(count) objects, read two of ten properties"
        return [
            Benchmark(group, "raw C, all columns into one final class a row", side: .raw, given: openRaw) {
                let items = try RawSide.fetchAll($0)
                return (items.sumOfTwo, items)
            },
            Benchmark(group, "raw C, two columns into no objects", given: openRaw) { (try RawSide.sumOfTwo($0), nil) },
            Benchmark(group, "GRDB, Codable records", side: .toolkitCodable, given: openToolkit) {
                let items = try ToolkitSide.fetchAll(CodableItem.self, $0)
                return (items.sumOfTwo, items)
            },
            Benchmark(group, "GRDB, records by hand", side: .toolkitByHand, given: openToolkit) {
                let items = try ToolkitSide.fetchAll(HandWrittenItem.self, $0)
                return (items.sumOfTwo, items)
            },
            Benchmark(group, "this store", side: .store, target: 1.1, given: openStore) {
                let items = try StoreSide.fetchAll($0)
                return (items.sumOfTwo, (items, $0))
            },
        ]
    }

    private var fetchingAgain: [Benchmark] {
        let group = "fetch \(count) objects again, all registered already"
        return [
            Benchmark(group, "raw C, which makes them anew", side: .raw, given: openRaw) {
                let items = try RawSide.fetchAll($0)
                return (items.sumOfTwo, items)
            },
            Benchmark(group, "this store", side: .store, target: 0.65) {
                let context = try StoreSide.open(storeFile)
                return (context, try StoreSide.fetchAll(context))
            } body: { context, _ in
                let items = try StoreSide.fetchAll(context)
                return (items.sumOfTwo, items)
            },
        ]
    }

    private var readingByKey: [Benchmark] {
        let group = "read \(sample.keys.count) of \(count) objects by key, one at a time"
        let keys = sample.keys
        return [
            Benchmark(group, "raw C", side: .raw, given: openRaw) { (try RawSide.fetch(keys, $0), nil) },
            Benchmark(group, "raw C, in one transaction", given: openRaw) { raw in
                var sum = 0
                try raw.transaction { sum = try RawSide.fetch(keys, raw) }
                return (sum, nil)
            },
            Benchmark(group, "GRDB, Codable records", side: .toolkitCodable, given: openToolkit) {
                (try ToolkitSide.fetch(CodableItem.self, keys, $0), nil)
            },
            Benchmark(group, "GRDB, records by hand", side: .toolkitByHand, given: openToolkit) {
                (try ToolkitSide.fetch(HandWrittenItem.self, keys, $0), nil)
            },
            Benchmark(group, "GRDB, records by hand, a statement kept by hand", given: openToolkit) {
                (try ToolkitSide.fetchByStatement(HandWrittenItem.self, keys, $0), nil)
            },
            Benchmark(group, "this store, faults", side: .store, target: 1.15) {
                let context = try StoreSide.open(storeFile)
                let ids = try StoreSide.ids(context)
                return (context, keys.map { ids[Int($0) - 1] })
            } body: { context, ids in
                (try StoreSide.read(ids, context), context)
            },
        ]
    }

    private var walking: [Benchmark] {
        let group = "walk \(sample.folderCount) folders to \(Sample.documentsPerFolder) documents each"
        return [
            Benchmark(group, "raw C, a question for each folder", side: .raw, given: openRaw) { try RawSide.walk($0) },
            Benchmark(group, "raw C, one question for all", given: openRaw) { try RawSide.walkAtOnce($0) },
            Benchmark(group, "GRDB, Codable records, a question for each folder", side: .toolkitCodable, given: openToolkit) {
                try ToolkitSide.walkCodable($0)
            },
            Benchmark(group, "GRDB, Codable records, including(all:)", given: openToolkit) { try ToolkitSide.walkCodableAtOnce($0) },
            Benchmark(group, "GRDB, records by hand, a statement kept by hand", side: .toolkitByHand, given: openToolkit) {
                try ToolkitSide.walkByHand($0)
            },
            Benchmark(group, "this store", side: .store, target: 1.1, given: openStore) { try StoreSide.walk($0) },
            Benchmark(group, "this store, prefetched by the request", given: openStore) { try StoreSide.walkPrefetched($0) },
        ]
    }

    // MARK: Queries

    private var asking: [Benchmark] {
        let questions = sample.questions
        let search = "filter, sort, limit 100 of \(count), a thousand times"
        let counting = "count with a predicate over \(count), a thousand times"
        return [
            Benchmark(search, "raw C", side: .raw, given: openRaw) { try RawSide.answer(questions, $0) },
            Benchmark(search, "GRDB, Codable records", side: .toolkitCodable, given: openToolkit) {
                try ToolkitSide.answer(CodableItem.self, questions, $0)
            },
            Benchmark(search, "GRDB, records by hand", side: .toolkitByHand, given: openToolkit) {
                try ToolkitSide.answer(HandWrittenItem.self, questions, $0)
            },
            Benchmark(search, "this store", side: .store, target: 1.05, given: openStore) { try StoreSide.answer(questions, $0) },
            Benchmark(counting, "raw C", side: .raw, given: openRaw) { (try RawSide.count(questions, $0), nil) },
            Benchmark(counting, "GRDB, Codable records", side: .toolkitCodable, given: openToolkit) {
                (try ToolkitSide.count(CodableItem.self, questions, $0), nil)
            },
            Benchmark(counting, "GRDB, records by hand", side: .toolkitByHand, given: openToolkit) {
                (try ToolkitSide.count(HandWrittenItem.self, questions, $0), nil)
            },
            Benchmark(counting, "this store", side: .store, target: 1.05, given: openStore) { (try StoreSide.count(questions, $0), $0) },
        ]
    }
}
