import CoreData
import Foundation
import GRDB

/// The rows that write, each side to its own file, which is created for each round.
extension SQLiteRows {
    var writing: [Benchmark] { creating + updating + deleting }

    private var workFile: String { directory + "/work.sqlite" }
    private func contents() throws -> Int { try RawSide.contents(of: workFile) }

    // MARK: Fixtures

    private func emptyRaw() throws -> RawConnection {
        try SampleDatabase.makeEmpty(workFile)
        return try RawConnection(workFile)
    }

    private func emptyToolkit() throws -> DatabaseQueue {
        try SampleDatabase.makeEmpty(workFile)
        return try ToolkitSide.open(workFile)
    }

    private func emptyStore() throws -> NSManagedObjectContext {
        SampleDatabase.remove(workFile)
        return try StoreSide.open(workFile, StoredModel.items)
    }

    private func loadedRaw() throws -> (RawConnection, [RawItem]) {
        try SampleDatabase.copy(rawFile, to: workFile)
        let connection = try RawConnection(workFile)
        return (connection, try RawSide.fetchAll(connection))
    }

    private func loadedToolkit<Record: ToolkitItem>(_: Record.Type) -> () throws -> (DatabaseQueue, [Record]) {
        {
            try SampleDatabase.copy(rawFile, to: workFile)
            let queue = try ToolkitSide.open(workFile)
            return (queue, try ToolkitSide.fetchAll(Record.self, queue))
        }
    }

    private func loadedStore() throws -> (NSManagedObjectContext, [Item]) {
        try SampleDatabase.copy(storeFile, to: workFile)
        let context = try StoreSide.open(workFile)
        return (context, try StoreSide.fetchAll(context))
    }

    // MARK: Rows

    /// Returns a variant that is checked by the resulting file.
    private func writer<State>(
        _ group: String, _ name: String, _ side: Benchmark.Side?, target: Double? = nil, _ setUp: @escaping () throws -> State,
        _ body: @escaping (State) throws -> Void
    ) -> Benchmark {
        Benchmark(group, name, side: side, target: target, given: setUp) {
            try body($0)
            return (0, nil)
        } verify: {
            try contents()
        }
    }

    private var creating: [Benchmark] {
        let group = "create \(count) objects, set ten properties, save"
        let values = sample.values
        return [
            writer(group, "raw C, a row a statement", .raw, emptyRaw) { raw in
                try raw.transaction { try RawSide.insertOneByOne(values, into: raw) }
            },
            writer(group, "raw C, twenty rows a statement", nil, emptyRaw) { raw in
                try raw.transaction { try RawSide.insertByTwenties(values, into: raw) }
            },
            writer(group, "GRDB, Codable records", .toolkitCodable, emptyToolkit) { try ToolkitSide.insert(CodableItem.self, values, $0) },
            writer(group, "GRDB, records by hand", .toolkitByHand, emptyToolkit) {
                try ToolkitSide.insert(HandWrittenItem.self, values, $0)
            },
            writer(group, "this store", .store, target: 1.2, emptyStore) { try StoreSide.insert(values, $0) },
        ]
    }

    private var updating: [Benchmark] {
        let group = "change one property of each of \(count), save with version check"
        return [
            writer(group, "raw C", .raw, loadedRaw) { raw, items in try raw.transaction { try RawSide.update(items, raw) } },
            writer(group, "raw C, without a version check", nil, loadedRaw) { raw, items in
                try raw.transaction { try RawSide.updateUnchecked(items, raw) }
            },
            writer(group, "GRDB, Codable records, updateChanges", .toolkitCodable, loadedToolkit(CodableItem.self)) { queue, items in
                try ToolkitSide.update(items, queue)
            },
            writer(group, "GRDB, records by hand, updateChanges", .toolkitByHand, loadedToolkit(HandWrittenItem.self)) { queue, items in
                try ToolkitSide.update(items, queue)
            },
            writer(group, "GRDB, a statement kept by hand that checks versions", nil, loadedToolkit(HandWrittenItem.self)) {
                try ToolkitSide.updateByStatement($1, $0)
            },
            writer(group, "this store", .store, target: 1.5, loadedStore) { context, items in try StoreSide.update(items, context) },
        ]
    }

    private var deleting: [Benchmark] {
        let group = "delete \(count) objects, save"
        return [
            writer(group, "raw C, a row a statement", .raw, loadedRaw) { raw, items in
                try raw.transaction { try RawSide.delete(items, raw) }
            },
            writer(group, "raw C, 500 rows a statement", nil, loadedRaw) { raw, items in
                try raw.transaction { try RawSide.deleteInChunks(items, raw) }
            },
            writer(group, "GRDB, Codable records", .toolkitCodable, loadedToolkit(CodableItem.self)) { queue, items in
                try ToolkitSide.delete(items, queue)
            },
            writer(group, "GRDB, records by hand", .toolkitByHand, loadedToolkit(HandWrittenItem.self)) { queue, items in
                try ToolkitSide.delete(items, queue)
            },
            writer(group, "this store", .store, target: 0.9, loadedStore) { context, items in try StoreSide.delete(items, context) },
        ]
    }
}
