#if PostgreSQL
import CoreData
import StoreConformance
import TestSupport
import Testing

@_spi(Stores) @testable import ObjectGraph
@testable import PostgreSQLStore

@Suite("The history of a PostgreSQL store") struct ServerHistoryTests {
    /// Options of a store of its own that tracks its history.
    static func tracking() -> PostgreSQLStoreOptions {
        var options = freshOptions()
        options.tracksHistory = true
        return options
    }

    /// The conformance kit's model, with attributes that deleted objects leave behind.
    private static func model() -> NSManagedObjectModel {
        let model = ConformanceModel.make()
        for name in ["name", "number", "exact", "date", "data", "uuid", "url", "flag", "real", "words"] {
            model.entitiesByName["Member"]?.attributesByName[name]?.preservesValueInHistoryOnDeletion = true
        }
        return model
    }

    static func history(
        _ context: NSManagedObjectContext, after token: NSPersistentHistoryToken?
    ) throws -> [NSPersistentHistoryTransaction] {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
        return try #require((context.execute(request) as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction])
    }

    private static func code(_ body: () throws -> Void) -> Int? {
        do { try body() } catch { return (error as NSError).code }
        return nil
    }

    @discardableResult
    static func insertTag(_ label: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
        tag.setValue(label, forKey: "label")
        try context.save()
        return tag
    }

    @Test("Saves and batch requests are recorded with who, when and what") func recording() async throws {
        let coordinator = try await coordinator(Self.tracking(), Self.model())
        let context = context(coordinator, author: "editor")
        context.name = "main"
        let date = Date(timeIntervalSinceReferenceDate: 1000.5)
        try await context.perform {
            let start = coordinator.currentPersistentHistoryToken(fromStores: nil)
            #expect(start != nil)
            let member = NSEntityDescription.insertNewObject(forEntityName: "Member", into: context)
            let group = NSEntityDescription.insertNewObject(forEntityName: "Group", into: context)
            let values: [String: Any] = [
                "name": "nul\u{0}", "number": 5, "exact": Decimal(string: "0.1")!, "date": date, "data": Data([0, 1]),
                "flag": true, "real": 2.5, "words": ["a", "b"],
            ]
            for (key, value) in values { member.setValue(value, forKey: key) }
            try context.save()
            member.setValue(6, forKey: "number")
            member.setValue(group, forKey: "group")
            try context.save()
            let (memberID, groupID) = (member.objectID, group.objectID)
            context.delete(member)
            try context.save()
            let insert = NSBatchInsertRequest(entityName: "Leader", objects: [["name": "x"], ["name": "y"]])
            insert.resultType = .objectIDs
            let leaders = try #require((context.execute(insert) as? NSBatchInsertResult)?.result as? [NSManagedObjectID])
            let update = NSBatchUpdateRequest(entityName: "Member")
            update.predicate = NSPredicate(format: "name == 'x'")
            update.propertiesToUpdate = ["note": "changed"]
            _ = try context.execute(update)
            _ = try context.execute(NSBatchDeleteRequest(objectIDs: [leaders[1]]))

            let history = try Self.history(context, after: start)
            expect(history.count, equals: 6)
            guard history.count == 6 else { return }
            for transaction in history {
                #expect(transaction.author == "editor" && transaction.contextName == "main")
                expect(transaction.storeID, equals: coordinator.persistentStores[0].identifier)
                #expect(!transaction.processID.isEmpty && abs(transaction.timestamp.timeIntervalSinceNow) < 3600)
            }
            #expect(zip(history, history.dropFirst()).allSatisfy { $0.transactionNumber < $1.transactionNumber })
            func shown(_ index: Int) -> [String] {
                (history[index].changes ?? []).map { change in
                    let properties = change.updatedProperties?.map(\.name).sorted().joined(separator: ",") ?? ""
                    return "\(change.changeType) \(change.changedObjectID.entity.name ?? "") \(properties)"
                }.sorted()
            }
            expect(shown(0), equals: ["insert Group ", "insert Member "])
            expect(shown(1), equals: ["update Group members", "update Member group,number"])
            expect(Set(history[1].changes?.map(\.changedObjectID) ?? []), equals: [memberID, groupID])
            #expect(shown(2).contains("delete Member "))
            let tombstone = history[2].changes?.first { $0.changeType == .delete }?.tombstone
            #expect(tombstone?["name"] as? String == "nul\u{0}" && tombstone?["number"] as? Int == 6)
            #expect(tombstone?["exact"] as? Decimal == Decimal(string: "0.1") && tombstone?["date"] as? Date == date)
            #expect(tombstone?["data"] as? Data == Data([0, 1]) && tombstone?["words"] as? [String] == ["a", "b"])
            #expect(tombstone?["real"] as? Double == 2.5 && tombstone?["flag"] as? Bool == true && tombstone?["uuid"] == nil)
            expect(shown(3), equals: ["insert Leader ", "insert Leader "])
            expect(shown(4), equals: ["update Leader note"])
            expect(shown(5), equals: ["delete Leader "])
            expect(history[5].changes?.first?.tombstone?["name"] as? String, equals: "y")

            // Each token is the position right after its transaction.
            for (index, transaction) in history.enumerated() {
                try expect(
                    Self.history(context, after: transaction.token).map(\.transactionNumber),
                    equals: history.dropFirst(index + 1).map(\.transactionNumber))
                let data = try NSKeyedArchiver.archivedData(withRootObject: transaction.token, requiringSecureCoding: true)
                let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data)
                expect(read, equals: transaction.token)
            }
            #expect(history[0].token != history[1].token)
            let byDate = NSPersistentHistoryChangeRequest.fetchHistory(after: history[2].timestamp)
            let later = (try context.execute(byDate) as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction]
            expect(later?.map(\.transactionNumber), equals: history.dropFirst(3).map(\.transactionNumber))
            // From there on, the token is one like any other.
            try expect(Self.history(context, after: later?.first?.token).count, equals: 2)
            let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
            fetch.predicate = NSPredicate(format: "author == 'other'")
            let others = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
            try expect(((context.execute(others) as? NSPersistentHistoryResult)?.result as? [Any])?.isEmpty, equals: true)
        }
    }

    @Test("Many rows of one save are recorded, and metadata alone are not") func manyRows() async throws {
        let coordinator = try await coordinator(Self.tracking())
        let context = context(coordinator)
        try await context.perform {
            for number in 0..<1500 {
                NSEntityDescription.insertNewObject(forEntityName: "Node", into: context).setValue("\(number)", forKey: "name")
            }
            try context.save()
            coordinator.setMetadata(
                coordinator.metadata(for: coordinator.persistentStores[0]).merging(["own": "x"]) { $1 },
                for: coordinator.persistentStores[0])
            try context.save()
            let history = try Self.history(context, after: nil)
            expect(history.map { $0.changes?.count }, equals: [1500])
            expect(Set(history.first?.changes?.map(\.changedObjectID) ?? []).count, equals: 1500)
        }
    }

    @Test("A history that begins while others have the store open misses none of their saves") func beginning() async throws {
        var options = freshOptions()
        let early = context(try await coordinator(options), author: "early")
        try await early.perform { _ = try Self.insertTag("before", early) }
        options.tracksHistory = true
        let late = context(try await coordinator(options), author: "late")
        try await early.perform {
            let tag = try Self.insertTag("after", early)
            early.delete(tag)
            try early.save()
        }
        try await late.perform {
            let history = try Self.history(late, after: nil)
            expect(history.map(\.author), equals: ["early", "early"])
        }
        // And keeps it, whether they ask for it or not.
        options.tracksHistory = false
        let last = context(try await coordinator(options), author: "last")
        try await last.perform {
            try Self.insertTag("last", last)
            try expect(Self.history(last, after: nil).map(\.author), equals: ["early", "early", "last"])
        }
    }

    @Test("A did-save notification does not ask the server for the end of the history") func didSaveNotification() async throws {
        let context = context(try await coordinator(Self.tracking()))
        // Posted on the queue of the context.
        nonisolated(unsafe) var infos: [[AnyHashable: Any]] = []
        let observer = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didSaveObjectsNotification, object: context, queue: nil
        ) { infos.append($0.userInfo ?? [:]) }
        defer { NotificationCenter.default.removeObserver(observer) }
        try await context.perform { _ = try Self.insertTag("a", context) }
        expect(infos.map { $0["newChangeToken"] == nil }, equals: [true])
    }

    // MARK: Transactions that run side by side

    @Test("While a transaction is held open, others commit 1,000: each follower sees each once") func heldOpen() async throws {
        let options = Self.tracking()
        let first = try await coordinator(options)
        let writer = context(first, author: "held")
        let tag = try await writer.perform { try Self.insertTag("held", writer).objectID }
        let raw = try rawPool(options)
        defer { raw.close() }
        let holder = try await HeldTransaction(raw, "SELECT FROM tag FOR UPDATE")
        // It has its number in the server, and waits for the row.
        let held = Task {
            try await writer.perform {
                writer.object(with: tag).setValue("changed", forKey: "label")
                try writer.save()
            }
        }
        try await raw.wait(
            for: "SELECT 1 FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_namespace n ON n.oid = c.relnamespace "
                + "JOIN pg_locks w ON w.pid = l.pid AND NOT w.granted WHERE c.relname = 'tag' AND n.nspname = $1", [.text(options.schema)])

        struct Follower {
            let context: NSManagedObjectContext
            /// The transactions it takes at once; nil for all.
            let step: Int?
            var token: NSPersistentHistoryToken?
            var seen: [Int64] = []

            mutating func read() async throws {
                let (context, token, step) = (context, token, step)
                let found = try await context.perform {
                    try ServerHistoryTests.history(context, after: token).prefix(step ?? .max).map {
                        ($0.transactionNumber, Transfer($0.token))
                    }
                }
                seen += found.map(\.0)
                if let last = found.last { self.token = last.1.value }
            }
        }
        var followers: [Follower] = []
        for step in [nil, 1, 37] { followers.append(Follower(context: context(try await coordinator(options)), step: step)) }
        for round in 0..<10 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<4 {
                    let context = context(first, author: "writer \(writer)")
                    group.addTask {
                        for number in 0..<25 {
                            try await context.perform { _ = try Self.insertTag("\(round) \(writer) \(number)", context) }
                        }
                    }
                }
                try await group.waitForAll()
            }
            for index in followers.indices { try await followers[index].read() }
        }
        expect(followers[0].seen.count, equals: 1001)
        try await holder.release()
        try await held.value
        let all = try await writer.perform { try Self.history(writer, after: nil).map(\.transactionNumber) }
        expect(all.count, equals: 1002)
        for var follower in followers {
            var count = -1
            while count != follower.seen.count {
                count = follower.seen.count
                try await follower.read()
            }
            expect(follower.seen.sorted(), equals: all, "\(follower.step ?? 0)")
        }
    }

    @Test("Deleting history beside an open transaction leaves that to be read; a token from before expires") func purge() async throws {
        // On a server of its own: a transaction of another test that ran when the token was taken, and is committed since, may have been one of
        // this store that was deleted, as far as a token can tell.
        let options = Self.tracking()
        let url = try TestServer().url
        let coordinator = try await coordinator(options, url: url)
        let (writer, reader) = (context(coordinator, author: "held"), context(coordinator, author: "other"))
        let tag = try await writer.perform { try Self.insertTag("held", writer).objectID }
        let early = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
        let raw = try rawPool(options, url: url)
        defer { raw.close() }
        // A transaction of another program, which has its numbers already.
        let holder = try await HeldTransaction(
            raw,
            """
            INSERT INTO coredata_transactions (id, system, xid, at, author) SELECT gen_random_uuid(), system_identifier,
            pg_current_xact_id()::text::bigint, now() - interval '1 hour', 'open' FROM pg_control_system()
            """)
        try await reader.perform { for number in 0..<3 { try Self.insertTag("\(number)", reader) } }
        let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
        try await reader.perform {
            let request = NSPersistentHistoryChangeRequest.deleteHistory(before: token)
            request.resultType = .count
            try expect((reader.execute(request) as? NSPersistentHistoryResult)?.result as? Int, equals: 3)
        }
        try await holder.release()
        try await reader.perform {
            try expect(Self.history(reader, after: token).map(\.author), equals: ["open"])
            // Deleting once more before the same token does not delete what it has not seen.
            _ = try reader.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: token))
            let rest = try #require(try Self.history(reader, after: token).first)
            expect(rest.author, equals: "open")
            expect(Self.code { _ = try Self.history(reader, after: early) }, equals: NSPersistentHistoryTokenExpiredError)
            // By date, it is deleted; and who has not seen it is told.
            _ = try reader.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date(timeIntervalSinceNow: -1800)))
            expect(Self.code { _ = try Self.history(reader, after: token) }, equals: NSPersistentHistoryTokenExpiredError)
            try #expect(Self.history(reader, after: rest.token).isEmpty)
        }
        _ = tag
    }

    // MARK: Other states of the database

    @Test("A token of a state that the database is not in any more expires") func restored() async throws {
        let options = Self.tracking()
        let coordinator = try await coordinator(options)
        let context = context(coordinator)
        let raw = try rawPool(options)
        defer { raw.close() }
        try await context.perform {
            try Self.insertTag("a", context)
            try Self.insertTag("b", context)
        }
        let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
        let (id, position) = try #require(token.positions.first)
        // As on a standby that took over and lacked the last transaction, whose numbers another gets then.
        let last = try await raw.with {
            try await $0.query(
                "DELETE FROM coredata_transactions WHERE number = (SELECT max(number) FROM coredata_transactions) RETURNING number")
        }
        expect(last.rowCount, equals: 1)
        try await context.perform {
            expect(Self.code { _ = try Self.history(context, after: token) }, equals: NSPersistentHistoryTokenExpiredError)
            // As after a restoration into another server.
            var seen = try #require(SeenTransactions(position.detail ?? ""))
            seen.system += 1
            seen.witness = nil
            let other = NSPersistentHistoryToken([id: HistoryPosition(number: position.number, detail: seen.text)])
            expect(Self.code { _ = try Self.history(context, after: other) }, equals: NSPersistentHistoryTokenExpiredError)
            seen.system -= 1
            seen.end += 1_000_000
            let future = NSPersistentHistoryToken([id: HistoryPosition(number: position.number, detail: seen.text)])
            expect(Self.code { _ = try Self.history(context, after: future) }, equals: NSPersistentHistoryTokenExpiredError)
            let unknown = NSPersistentHistoryToken([id: HistoryPosition(number: position.number, detail: "9:")])
            expect(Self.code { _ = try Self.history(context, after: unknown) }, equals: NSPersistentHistoryTokenExpiredError)
        }
    }

    @Test("Transactions of another server come before those of this one, each once") func otherSystem() async throws {
        let options = Self.tracking()
        let coordinator = try await coordinator(options)
        let context = context(coordinator)
        let raw = try rawPool(options)
        defer { raw.close() }
        try await context.perform { for number in 0..<3 { try Self.insertTag("\(number)", context) } }
        // As in a restored copy: numbers of another server, which are greater than those that this one gives.
        _ = try await raw.with { try await $0.query("UPDATE coredata_transactions SET system = system + 1, xid = xid + 1000000") }
        try await context.perform {
            for number in 3..<6 { try Self.insertTag("\(number)", context) }
            let all = try Self.history(context, after: nil).map(\.transactionNumber)
            expect(all.count, equals: 6)
            var seen: [Int64] = []
            var token: NSPersistentHistoryToken?
            while let next = try Self.history(context, after: token).first {
                seen.append(next.transactionNumber)
                token = next.token
            }
            expect(seen, equals: all)
        }
    }
}
#endif
