import GRDB

/// The peer: GRDB as documented, with synthesized or handwritten records.
enum ToolkitSide {
    static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    // MARK: Reading

    static func fetchAll<Record: ToolkitItem>(_: Record.Type, _ queue: DatabaseQueue) throws -> [Record] {
        try queue.read { try Record.fetchAll($0) }
    }

    static func fetch<Record: ToolkitItem>(_: Record.Type, _ keys: [Int64], _ queue: DatabaseQueue) throws -> Int {
        try queue.read { database in
            var sum = 0
            for key in keys { sum &+= try Record.find(database, key: key).sumOfAll }
            return sum
        }
    }

    /// Works like `fetch`, with a statement that the application caches.
    static func fetchByStatement<Record: ToolkitItem>(_: Record.Type, _ keys: [Int64], _ queue: DatabaseQueue) throws -> Int {
        try queue.read { database in
            let statement = try database.cachedStatement(sql: RawSide.selection + " WHERE Z_PK = ?")
            var sum = 0
            for key in keys { sum &+= try Record.fetchOne(statement, arguments: [key])?.sumOfAll ?? 0 }
            return sum
        }
    }

    private static func request<Record: ToolkitItem>(_ question: Sample.Question) -> QueryInterfaceRequest<Record> {
        Record.filter(Column("ZI1") > question.number && Column("ZT0") >= question.prefix && Column("ZT0") < question.end)
    }

    static func answer<Record: ToolkitItem>(
        _: Record.Type, _ questions: [Sample.Question], _ queue: DatabaseQueue
    ) throws -> Benchmark.Outcome {
        var answers: [[Record]] = []
        var sum = 0
        try queue.read { database in
            for question in questions {
                let items = try (request(question) as QueryInterfaceRequest<Record>).order(Column("ZT1")).limit(100).fetchAll(database)
                sum &+= items.orderSum
                answers.append(items)
            }
        }
        return (sum, answers)
    }

    static func count<Record: ToolkitItem>(_: Record.Type, _ questions: [Sample.Question], _ queue: DatabaseQueue) throws -> Int {
        try queue.read { database in
            var sum = 0
            for question in questions { sum &+= try (request(question) as QueryInterfaceRequest<Record>).fetchCount(database) }
            return sum
        }
    }

    /// One request for each folder.
    static func walkCodable(_ queue: DatabaseQueue) throws -> Benchmark.Outcome {
        var families: [(CodableFolder, [CodableDocument])] = []
        try queue.read { database in
            for folder in try CodableFolder.fetchAll(database) {
                families.append((folder, try folder.request(for: CodableFolder.documents).fetchAll(database)))
            }
        }
        var sum = 0
        for (_, documents) in families { for document in documents { sum &+= document.size &+ document.name.utf8.count } }
        return (sum, families)
    }

    static func walkCodableAtOnce(_ queue: DatabaseQueue) throws -> Benchmark.Outcome {
        let families = try queue.read {
            try CodableFolder.including(all: CodableFolder.documents).asRequest(of: CodableFamily.self).fetchAll($0)
        }
        var sum = 0
        for family in families { for document in family.documents { sum &+= document.size &+ document.name.utf8.count } }
        return (sum, families)
    }

    static func walkByHand(_ queue: DatabaseQueue) throws -> Benchmark.Outcome {
        var families: [(HandWrittenFolder, [HandWrittenDocument])] = []
        try queue.read { database in
            let statement = try database.cachedStatement(sql: "SELECT Z_PK, ZFOLDER, ZSIZE, ZNAME FROM ZDOCUMENT WHERE ZFOLDER = ?")
            for folder in try HandWrittenFolder.fetchAll(database) {
                families.append((folder, try HandWrittenDocument.fetchAll(statement, arguments: [folder.key])))
            }
        }
        var sum = 0
        for (_, documents) in families { for document in documents { sum &+= document.size &+ document.name.utf8.count } }
        return (sum, families)
    }

    // MARK: Writing

    static func insert<Record: ToolkitItem>(_: Record.Type, _ values: [Values], _ queue: DatabaseQueue) throws {
        try queue.write { database in
            for (index, value) in values.enumerated() { try Record(value, key: Int64(index + 1)).insert(database) }
        }
    }

    static func update<Record: ToolkitItem>(_ items: [Record], _ queue: DatabaseQueue) throws {
        try queue.write { database in
            for var item in items {
                try item.updateChanges(database) {
                    $0.i2 &+= 1
                    $0.version += 1
                }
            }
        }
    }

    /// Uses a custom statement that checks the version.
    static func updateByStatement<Record: ToolkitItem>(_ items: [Record], _ queue: DatabaseQueue) throws {
        try queue.write { database in
            let statement = try database.cachedStatement(sql: "UPDATE ZITEM SET ZI2 = ?, Z_OPT = ? WHERE Z_PK = ? AND Z_OPT = ?")
            for item in items {
                try statement.execute(arguments: [item.i2 &+ 1, item.version + 1, item.key, item.version])
                guard database.changesCount == 1 else { throw RawConnection.Failure(description: "Someone else has saved.") }
            }
        }
    }

    static func delete<Record: ToolkitItem>(_ items: [Record], _ queue: DatabaseQueue) throws {
        try queue.write { database in for item in items { try item.delete(database) } }
    }
}
