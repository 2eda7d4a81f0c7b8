import BenchmarkSQLite

/// An item for raw SQLite: a final class with stored properties.
final class RawItem: ReadableItem {
    let key: Int64
    var version: Int
    var i0, i1, i2, i3, i4: Int
    var t0, t1, t2, t3, t4: String

    @inline(__always) init(_ row: RawStatement) {
        key = row.key(0)
        version = row.number(1)
        i0 = row.number(2)
        i1 = row.number(3)
        i2 = row.number(4)
        i3 = row.number(5)
        i4 = row.number(6)
        t0 = row.text(7)
        t1 = row.text(8)
        t2 = row.text(9)
        t3 = row.text(10)
        t4 = row.text(11)
    }
}

final class RawFolder {
    let key: Int64
    let name: String
    var documents: [RawDocument] = []

    init(_ row: RawStatement) {
        key = row.key(0)
        name = row.text(1)
    }
}

final class RawDocument {
    let key: Int64
    let folderKey: Int64
    let size: Int
    let name: String

    init(_ row: RawStatement) {
        key = row.key(0)
        folderKey = row.key(1)
        size = row.number(2)
        name = row.text(3)
    }
}

/// The limit: handwritten code on SQLite's C API, with prepared statements and one Swift object for each row.
enum RawSide {
    static let selection = "SELECT Z_PK, Z_OPT, \(SampleDatabase.itemColumns.joined(separator: ", ")) FROM ZITEM"
    static let insertion = "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, \(SampleDatabase.itemColumns.joined(separator: ", "))) VALUES "
    static let tuple = "(?, 3, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

    // MARK: Reading

    static func fetchAll(_ connection: RawConnection) throws -> [RawItem] {
        let statement = try connection.prepare(selection)
        var items: [RawItem] = []
        while statement.next() { items.append(RawItem(statement)) }
        return items
    }

    /// Reads two columns only, without objects.
    static func sumOfTwo(_ connection: RawConnection) throws -> Int {
        let statement = try connection.prepare("SELECT ZI1, ZT1 FROM ZITEM")
        var sum = 0
        while statement.next() { sum &+= statement.number(0) &+ statement.text(1).utf8.count }
        return sum
    }

    static func fetch(_ keys: [Int64], _ connection: RawConnection) throws -> Int {
        let statement = try connection.prepare(selection + " WHERE Z_PK = ?")
        var sum = 0
        for key in keys {
            statement.bind(key: key, at: 1)
            guard statement.next() else { throw connection.failure }
            sum &+= RawItem(statement).sumOfAll
            statement.reset()
        }
        return sum
    }

    static func answer(_ questions: [Sample.Question], _ connection: RawConnection) throws -> Benchmark.Outcome {
        let statement = try connection.prepare(selection + " WHERE ZI1 > ? AND ZT0 >= ? AND ZT0 < ? ORDER BY ZT1 LIMIT 100")
        var answers: [[RawItem]] = []
        var sum = 0
        for question in questions {
            bind(question, to: statement)
            var items: [RawItem] = []
            while statement.next() { items.append(RawItem(statement)) }
            statement.reset()
            sum &+= items.orderSum
            answers.append(items)
        }
        return (sum, answers)
    }

    static func count(_ questions: [Sample.Question], _ connection: RawConnection) throws -> Int {
        let statement = try connection.prepare("SELECT COUNT(*) FROM ZITEM WHERE ZI1 > ? AND ZT0 >= ? AND ZT0 < ?")
        var sum = 0
        for question in questions {
            bind(question, to: statement)
            guard statement.next() else { throw connection.failure }
            sum &+= statement.number(0)
            statement.reset()
        }
        return sum
    }

    private static func bind(_ question: Sample.Question, to statement: RawStatement) {
        statement.bind(question.number, at: 1)
        statement.bind(question.prefix, at: 2)
        statement.bind(question.end, at: 3)
    }

    static func fetchFolders(_ connection: RawConnection) throws -> [RawFolder] {
        let statement = try connection.prepare("SELECT Z_PK, ZNAME FROM ZFOLDER")
        var folders: [RawFolder] = []
        while statement.next() { folders.append(RawFolder(statement)) }
        return folders
    }

    /// One query for each folder.
    static func walk(_ connection: RawConnection) throws -> Benchmark.Outcome {
        let folders = try fetchFolders(connection)
        let statement = try connection.prepare("SELECT Z_PK, ZFOLDER, ZSIZE, ZNAME FROM ZDOCUMENT WHERE ZFOLDER = ?")
        for folder in folders {
            statement.bind(key: folder.key, at: 1)
            while statement.next() { folder.documents.append(RawDocument(statement)) }
            statement.reset()
        }
        return (sum(folders), folders)
    }

    /// One query for all folders.
    static func walkAtOnce(_ connection: RawConnection) throws -> Benchmark.Outcome {
        let folders = try fetchFolders(connection)
        var byKey: [Int64: RawFolder] = [:]
        byKey.reserveCapacity(folders.count)
        for folder in folders { byKey[folder.key] = folder }
        let statement = try connection.prepare("SELECT Z_PK, ZFOLDER, ZSIZE, ZNAME FROM ZDOCUMENT")
        while statement.next() {
            let document = RawDocument(statement)
            byKey[document.folderKey]?.documents.append(document)
        }
        return (sum(folders), folders)
    }

    private static func sum(_ folders: [RawFolder]) -> Int {
        var sum = 0
        for folder in folders { for document in folder.documents { sum &+= document.size &+ document.name.utf8.count } }
        return sum
    }

    // MARK: Writing

    static func insertOneByOne(_ values: [Values], into connection: RawConnection) throws {
        let statement = try connection.prepare(insertion + tuple)
        for (index, value) in values.enumerated() {
            bind(value, key: index + 1, to: statement, from: 1)
            try connection.run(statement)
        }
    }

    /// Inserts 20 rows by one statement.
    static func insertByTwenties(_ values: [Values], into connection: RawConnection) throws {
        let statement = try connection.prepare(insertion + Array(repeating: tuple, count: 20).joined(separator: ", "))
        let whole = values.count / 20 * 20
        for first in stride(from: 0, to: whole, by: 20) {
            for offset in 0..<20 { bind(values[first + offset], key: first + offset + 1, to: statement, from: Int32(offset * 11 + 1)) }
            try connection.run(statement)
        }
        let single = try connection.prepare(insertion + tuple)
        for index in whole..<values.count {
            bind(values[index], key: index + 1, to: single, from: 1)
            try connection.run(single)
        }
    }

    @inline(__always) static func bind(_ value: Values, key: Int, to statement: RawStatement, from place: Int32) {
        statement.bind(key, at: place)
        statement.bind(value.i0, at: place + 1)
        statement.bind(value.i1, at: place + 2)
        statement.bind(value.i2, at: place + 3)
        statement.bind(value.i3, at: place + 4)
        statement.bind(value.i4, at: place + 5)
        statement.bind(value.t0, at: place + 6)
        statement.bind(value.t1, at: place + 7)
        statement.bind(value.t2, at: place + 8)
        statement.bind(value.t3, at: place + 9)
        statement.bind(value.t4, at: place + 10)
    }

    static func update(_ items: [RawItem], _ connection: RawConnection) throws {
        let statement = try connection.prepare("UPDATE ZITEM SET ZI2 = ?, Z_OPT = ? WHERE Z_PK = ? AND Z_OPT = ?")
        for item in items {
            item.i2 &+= 1
            statement.bind(item.i2, at: 1)
            statement.bind(item.version + 1, at: 2)
            statement.bind(key: item.key, at: 3)
            statement.bind(item.version, at: 4)
            try connection.run(statement)
            guard sqlite3_changes(connection.database) == 1 else { throw RawConnection.Failure(description: "Someone else has saved.") }
            item.version += 1
        }
    }

    /// Works like `update`, without checking for changes by others.
    static func updateUnchecked(_ items: [RawItem], _ connection: RawConnection) throws {
        let statement = try connection.prepare("UPDATE ZITEM SET ZI2 = ? WHERE Z_PK = ?")
        for item in items {
            item.i2 &+= 1
            statement.bind(item.i2, at: 1)
            statement.bind(key: item.key, at: 2)
            try connection.run(statement)
        }
    }

    static func delete(_ items: [RawItem], _ connection: RawConnection) throws {
        let statement = try connection.prepare("DELETE FROM ZITEM WHERE Z_PK = ?")
        for item in items {
            statement.bind(key: item.key, at: 1)
            try connection.run(statement)
        }
    }

    /// Deletes 500 rows by one statement.
    static func deleteInChunks(_ items: [RawItem], _ connection: RawConnection) throws {
        func statement(_ count: Int) throws -> RawStatement {
            try connection.prepare("DELETE FROM ZITEM WHERE Z_PK IN (\(Array(repeating: "?", count: count).joined(separator: ", ")))")
        }
        let whole = try statement(500)
        for first in stride(from: 0, to: items.count, by: 500) {
            let chunk = items[first..<min(first + 500, items.count)]
            let deletion = chunk.count == 500 ? whole : try statement(chunk.count)
            for (place, item) in chunk.enumerated() { deletion.bind(key: item.key, at: Int32(place + 1)) }
            try connection.run(deletion)
        }
    }

    /// Returns the content of a file: the number of items and the sum of the property that `update` changes. Other connections may have
    /// it open.
    static func contents(of path: String) throws -> Int {
        let connection = try RawConnection(path)
        let statement = try connection.prepare("SELECT COUNT(*), COALESCE(SUM(ZI2), 0) FROM ZITEM")
        guard statement.next() else { throw connection.failure }
        return statement.number(0) &* 1_000_003 &+ statement.number(1)
    }
}
