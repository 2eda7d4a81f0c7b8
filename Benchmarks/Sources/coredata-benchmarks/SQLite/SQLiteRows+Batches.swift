import CoreData
import Foundation

/// The rows that write rows without objects, and rows of a history beside those of objects. Raw C and this store only.
extension SQLiteRows {
    var batches: [Benchmark] { [inserting(.raw), inserting(.store), saving(.raw), saving(.store)] }

    /// The number of rows of a batch insert.
    var batchCount: Int { count * 10 }
    private var batchFile: String { directory + "/batch.sqlite" }
    private func contents() throws -> Int { try RawSide.contents(of: batchFile) }

    // MARK: Batch insert

    private func inserting(_ side: Benchmark.Side) -> Benchmark {
        let group = "insert \(batchCount) rows by a batch request"
        let values = sample.values
        if side == .raw {
            return Benchmark(group, "raw C, a row a statement", side: side) {
                try SampleDatabase.makeEmpty(batchFile)
                return try RawConnection(batchFile)
            } body: { raw in
                try raw.transaction { try RawSide.insert(batchCount, values, into: raw) }
                return (0, nil)
            } verify: {
                try contents()
            }
        }
        return Benchmark(group, "this store, a handler that fills objects", side: side, target: 1.2) {
            SampleDatabase.remove(batchFile)
            return try StoreSide.open(batchFile, StoredModel.items)
        } body: { context in
            try StoreSide.insertBatch(batchCount, values, context)
            return (0, nil)
        } verify: {
            try contents()
        }
    }

    /// Inserts the rows of a batch into a new file, for the measurement of memory.
    func insertBatch(_ side: Benchmark.Side) throws {
        let benchmark = inserting(side)
        try benchmark.setUp()
        _ = try benchmark.body()
        try benchmark.tearDown()
    }

    // MARK: History

    /// Creates an empty store that tracks its history.
    private func tracked() throws -> NSManagedObjectContext {
        SampleDatabase.remove(batchFile)
        return try StoreSide.open(batchFile, StoredModel.items, options: [NSPersistentHistoryTrackingKey: true])
    }

    private func saving(_ side: Benchmark.Side) -> Benchmark {
        let group = "create \(count) objects, save with history"
        let values = sample.values
        func check() throws -> Int { try contents() &+ RawSide.historyContents(of: batchFile) }
        if side == .raw {
            return Benchmark(group, "raw C, which writes the same rows of the history", side: side) {
                // The tables are those of this store.
                let context = try tracked()
                try StoreSide.close(context)
                return try RawConnection(batchFile)
            } body: { raw in
                try raw.transaction {
                    try RawSide.insertOneByOne(values, into: raw)
                    try RawSide.insertHistory(values.count, into: raw)
                }
                return (0, nil)
            } verify: {
                try check()
            }
        }
        return Benchmark(group, "this store", side: side, target: 1.3, given: tracked) { context in
            try StoreSide.insert(values, context)
            return (0, nil)
        } verify: {
            try check()
        }
    }
}

extension RawSide {
    /// Writes the history of a save that has inserted items with the keys from 1: one transaction, and a change of each.
    static func insertHistory(_ count: Int, into connection: RawConnection) throws {
        let transaction = try connection.prepare("INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP) VALUES (1, 16002, ?)")
        transaction.bind(Int(Date().timeIntervalSinceReferenceDate), at: 1)
        try connection.run(transaction)
        let change = try connection.prepare(
            "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS) VALUES (?, 16001, 0, 1, ?, 1, NULL)"
        )
        for number in 1...count {
            change.bind(number, at: 1)
            change.bind(number, at: 2)
            try connection.run(change)
        }
    }

    /// Returns the number of changes in the history of a file, and the sum of their keys.
    static func historyContents(of path: String) throws -> Int {
        let connection = try RawConnection(path)
        let statement = try connection.prepare("SELECT COUNT(*), COALESCE(SUM(ZENTITYPK), 0) FROM ACHANGE")
        guard statement.next() else { throw connection.failure }
        return statement.number(0) &* 1_000_003 &+ statement.number(1)
    }

    /// Inserts many rows with repeating values.
    static func insert(_ count: Int, _ values: [Values], into connection: RawConnection) throws {
        let statement = try connection.prepare(insertion + tuple)
        for index in 0..<count {
            bind(values[index % values.count], key: index + 1, to: statement, from: 1)
            try connection.run(statement)
        }
    }
}

extension StoreSide {
    /// Inserts many rows with repeating values by a handler that fills one object after the other.
    static func insertBatch(_ count: Int, _ values: [Values], _ context: NSManagedObjectContext) throws {
        var index = 0
        let request = NSBatchInsertRequest(
            entityName: "Item",
            managedObjectHandler: { object in
                if index == count { return true }
                if let item = object as? Item { values[index % values.count].fill(item) }
                index += 1
                return false
            })
        request.resultType = .count
        guard let result = try context.execute(request) as? NSBatchInsertResult, result.result as? Int == count else {
            throw RawConnection.Failure(description: "The batch insert has not inserted \(count) rows.")
        }
    }

    /// Closes the store of a context.
    static func close(_ context: NSManagedObjectContext) throws {
        guard let coordinator = context.persistentStoreCoordinator else { return }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
}
