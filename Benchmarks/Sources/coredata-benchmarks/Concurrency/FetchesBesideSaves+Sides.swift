import BenchmarkSQLite
import CoreData
import Foundation

/// The fetching and saving sides, in raw C and with this store.
extension FetchesBesideSaves {
    /// One connection for reading and one for writing.
    static func rawSides(_ path: String) throws -> Sides {
        let reading = try RawConnection(path)
        let writing = try RawConnection(path)
        for connection in [reading, writing] { sqlite3_busy_timeout(connection.database, 10_000) }
        let statement = try reading.prepare(RawSide.selection + " WHERE ZT0 >= ? AND ZT0 < ?")
        let saved = Array(try RawSide.fetchAll(writing).prefix(savedCount))
        return Sides { question in
            statement.bind(question.prefix, at: 1)
            statement.bind(question.end, at: 2)
            var items: [RawItem] = []
            while statement.next() { items.append(RawItem(statement)) }
            guard sqlite3_errcode(reading.database) == SQLITE_DONE else { throw reading.failure }
            statement.reset()
            return items.reduce(0) { $0 &+ $1.sumOfAll &- $1.i2 }
        } save: {
            try writing.transaction { try RawSide.update(saved, writing) }
            return saved.count
        }
    }

    /// Two contexts over one coordinator.
    static func storeSides(_ path: String) throws -> Sides {
        let opener = try StoreSide.open(path)
        let reading = StoreSide.privateContext(opener.persistentStoreCoordinator)
        let writing = StoreSide.privateContext(opener.persistentStoreCoordinator)
        let saved = try writing.performAndWait {
            let request = NSFetchRequest<Item>(entityName: "Item")
            request.fetchLimit = savedCount
            request.returnsObjectsAsFaults = false
            return Transferred(try writing.fetch(request))
        }
        return Sides { question in
            try reading.performAndWait {
                let request = NSFetchRequest<Item>(entityName: "Item")
                request.predicate = NSPredicate(format: "t0 BEGINSWITH %@", question.prefix)
                request.returnsObjectsAsFaults = false
                return try reading.fetch(request).reduce(0) { $0 &+ $1.sumOfAll &- $1.i2 }
            }
        } save: {
            try writing.performAndWait {
                for item in saved.value { item.i2 &+= 1 }
                try writing.save()
                return saved.value.count
            }
        }
    }
}
