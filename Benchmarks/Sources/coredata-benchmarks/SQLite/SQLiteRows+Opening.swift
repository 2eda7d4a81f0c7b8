import CoreData
import GRDB

/// The row that opens a database, reads one item and closes it.
extension SQLiteRows {
    private static let openings = 100

    /// Repeats the operation.
    private func again(_ read: @escaping () throws -> Int) -> () throws -> Benchmark.Outcome {
        {
            var sum = 0
            for _ in 0..<Self.openings { sum &+= try read() }
            return (sum, nil)
        }
    }

    private func variant(_ name: String, _ side: Benchmark.Side, target: Double? = nil, _ read: @escaping () throws -> Int) -> Benchmark {
        var benchmark = Benchmark("open a store and read one object, a hundred times", name, target: target, body: again(read))
        benchmark.side = side
        return benchmark
    }

    var opening: [Benchmark] {
        [
            variant("raw C", .raw) { try RawSide.first(try RawConnection(rawFile)).sumOfAll },
            variant("GRDB, Codable records", .toolkitCodable) { try ToolkitSide.first(CodableItem.self, try ToolkitSide.open(rawFile)) },
            variant("GRDB, records by hand", .toolkitByHand) { try ToolkitSide.first(HandWrittenItem.self, try ToolkitSide.open(rawFile)) },
            variant("this store, the model made before", .store, target: 1.5) {
                let context = try StoreSide.open(storeFile)
                let sum = try StoreSide.first(context)
                try StoreSide.close(context)
                return sum
            },
        ]
    }
}

extension RawSide {
    /// Returns the item with the smallest key.
    static func first(_ connection: RawConnection) throws -> RawItem {
        let statement = try connection.prepare(selection + " ORDER BY Z_PK LIMIT 1")
        guard statement.next() else { throw connection.failure }
        return RawItem(statement)
    }
}

extension ToolkitSide {
    /// Returns the sum of the item with the smallest key.
    static func first<Record: ToolkitItem>(_: Record.Type, _ queue: DatabaseQueue) throws -> Int {
        defer { try? queue.close() }
        return try queue.read { try Record.order(Column("Z_PK")).fetchOne($0) }?.sumOfAll ?? 0
    }
}

extension StoreSide {
    /// Returns the sum of the item with the smallest key.
    static func first(_ context: NSManagedObjectContext) throws -> Int {
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.fetchLimit = 1
        request.returnsObjectsAsFaults = false
        return try context.fetch(request).first?.sumOfAll ?? 0
    }
}
