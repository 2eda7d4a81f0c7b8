import CoreData
import Foundation
@_spi(Stores) import ObjectGraph
import RemoteStore
import RemoteStoreTesting

/// What the simulation has found to be wrong.
struct Wrong: Error, CustomStringConvertible {
    let description: String
    init(_ text: String) { description = text }
}

/// How a run differs from others.
struct SimulationOptions {
    var rule = ConflictResolution.setAside
    var ruleName = "setAside"
    var steps = 50
    /// Whether the server gives identifiers of deleted objects to new ones. A client with a pending change of the deleted one cannot tell that from an
    /// edit of everything, so the checks of what is shown do not hold for the new object: by default none is.
    var reusesIdentifiers = ProcessInfo.processInfo.environment["COREDATA_SIMULATION_ALL"] != nil
    var isIdempotent = true
    /// A bug of the clients; nil for none.
    var bug: PlantedBug.Kind?
    /// Whether a client that dies has forgotten its last save.
    var forgetsAtCrash = false

    static let rules: [(String, ConflictResolution)] = [
        ("setAside", .setAside), ("preferMine", .preferMine), ("preferTheirs", .preferTheirs), ("overwrite", .overwrite),
        ("rollback", .rollback),
    ]
}

/// A server and three clients, which do at random what clients, networks and users do; a seed decides all of it.
final class SimulatedWorld {
    private let options: SimulationOptions
    private var random: SeededGenerator
    private let clock = ManualClock()
    private let network = SimulatedNetwork(isStepped: true)
    private let executor: SeededExecutor
    private let server: SimulatedServer
    private let directory: URL
    private var clients: [SimulatedClient] = []
    private var lastNumber = 0
    private(set) var events: [String] = []

    /// What the server has had: by the mark of a note and the property, the values with their revisions.
    private var history: [String: [String: [(revision: Int64, value: String?)]]] = [:]
    private var authors: [String: Set<String>] = [:]
    private var marks: [ResourceID: String] = [:]
    private var folders: [ResourceID: String] = [:]
    private var gone: Set<String> = []
    /// Who has made the notes that the server has.
    private var makers: [ResourceID: String] = [:]
    /// The notes that two clients have made anew, each because of a change of its own to one that was deleted: they are two.
    private var twins: Set<String> = []
    private var heard = 0

    init(seed: UInt64, _ options: SimulationOptions = SimulationOptions()) throws {
        self.options = options
        random = SeededGenerator(seed: seed)
        executor = SeededExecutor(seed: seed)
        let shared = URL(fileURLWithPath: "/dev/shm")
        let base = FileManager.default.isWritableFile(atPath: shared.path) ? shared : FileManager.default.temporaryDirectory
        directory = base.appendingPathComponent("simulation-\(UUID().uuidString)")
        let model = Notebook.model()
        let saving = Resource.Saving(
            maximumChanges: random.chance(0.5) ? 4 : 1, isIdempotent: options.isIdempotent)
        server = SimulatedServer(
            model, Notebook.resources(saving, pageSize: random.chance(0.3) ? 3 : nil), network: network, clock: clock, seed: seed)
        server.options.versions = random.chance(0.6) ? .numbers : .tags
        if random.chance(0.5) { server.options.replicaLag = .seconds(5) }
        server.options.staleReads = 0.4
        server.options.reusesIdentifiers = options.reusesIdentifiers && random.chance(0.5)
        server.options.missingOutcomes = random.chance(0.3) || options.bug == .missingOutcomeIsSuccess ? 0.5 : 0
        clients = try ["A", "B", "C"].map { name in
            try SimulatedClient(name, in: directory, network) { [unowned self] address, place, end in
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
                var settings = CachedStoreOptions(defaultPolicy: .cachedThenFresh, clock: clock, random: { 0.5 })
                settings.conflicts = options.rule
                settings.sendsAutomatically = false
                settings.willCommit = { _ in end.pass(isAfter: false) }
                settings.didCommit = { _ in end.pass(isAfter: true) }
                let connection = server.connection(address)
                let store: CachedStore
                if let bug = options.bug {
                    store = try coordinator.addCachedStore(
                        PlantedBug(kind: bug, connection: connection), at: place, options: settings)
                } else {
                    store = try coordinator.addCachedStore(connection, at: place, options: settings)
                }
                return (store, coordinator, connection)
            }
        }
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    private func note(_ event: String) { events.append(event) }

    // MARK: Steps

    func run() throws {
        for _ in 0..<options.steps {
            try step()
            executor.run()
            try restartTheDead()
            listen()
            try check()
        }
        for client in clients { client.end.disarm() }
        try settle()
    }

    private func step() throws {
        let client = clients[random.below(clients.count)]
        switch random.below(20) {
        case 0...4:
            lastNumber += 1
            if options.forgetsAtCrash { try client.keepForForgetting(lastNumber) }
            do { note("\(client.name) \(try client.edit(&random, number: lastNumber))") } catch let error as NSError
                where error.domain == NSURLErrorDomain
            {
                // What it needs was never read, and the server cannot be reached: the user is told so.
                note("\(client.name) cannot edit")
            }
        case 5...6: start(client, "sends") { [store = client.store] in try await store.sendPending() }
        case 7...8:
            let policy: CachePolicy = random.chance(0.5) ? .networkOnly : .cachedThenFresh
            let query = try client.query(random.chance(0.8) ? "Note" : "Folder", policy)
            start(client, "reads") { [store = client.store] in
                _ = try await (store as! any AsynchronousStore).fetch(query, for: StoreCaller())
            }
        case 9:
            let ids = try client.shown(folder: folders).map(\.id)
            guard !ids.isEmpty else { return }
            let id = ids.sorted { $0.description < $1.description }[random.below(ids.count)]
            start(client, "refreshes a note") { [store = client.store] in
                let store = store as! any AsynchronousStore
                (store as? any RowCacheObserver)?.willReload([id])
                _ = try await store.fetchRows(for: [id], for: StoreCaller(stalenessInterval: 0))
            }
        case 10: connect(client, !network.isConnected(client.address))
        case 11: try crash(client)
        case 12:
            clock.advance(by: .milliseconds(100 + random.below(4000)))
            if random.chance(0.2) { clock.jump(by: Double(random.below(20_000) - 10_000)) }
        case 13: editOnServer()
        default: deliver()
        }
    }

    private func start(_ client: SimulatedClient, _ what: String, _ body: @escaping @Sendable () async throws -> Void) {
        note("\(client.name) \(what)")
        client.work.append(executor.start(body))
    }

    private func connect(_ client: SimulatedClient, _ isConnected: Bool) {
        note("\(client.name) is \(isConnected ? "back" : "cut off")")
        network.setConnected(isConnected, client.address)
    }

    /// Lets a client die now, or before or after a commit that is to come.
    private func crash(_ client: SimulatedClient) throws {
        if options.forgetsAtCrash || random.chance(0.4) {
            note("\(client.name) dies")
            return try client.restart(forgetting: options.forgetsAtCrash)
        }
        let (commits, isAfter) = (1 + random.below(4), random.chance(0.5))
        note("\(client.name) is to die \(isAfter ? "after" : "before") commit \(commits)")
        client.end.set(commits, isAfter: isAfter)
    }

    private func restartTheDead() throws {
        for client in clients where client.end.remains != nil {
            note("\(client.name) has died")
            try client.restart()
        }
    }

    private func deliver() {
        let messages = network.messages
        guard !messages.isEmpty else { return }
        let message = messages[random.below(messages.count)]
        let fate: SimulatedNetwork.Fate = random.chance(0.1) ? .lost : !message.isAnswer && random.chance(0.08) ? .doubled : .delivered
        note("\(message.isAnswer ? "answer to" : "request of") \(message.client): \(message.text) is \(fate)")
        network.settle(message, fate)
    }

    /// Another program changes something.
    private func editOnServer() {
        let ids = server.ids("Note")
        lastNumber += 1
        let value = "s\(lastNumber)"
        if ids.isEmpty || random.chance(0.3) {
            let id = ResourceID.integer(Int64(100 + lastNumber))
            server.put("Note", id, ["mark": .init(value), "text": .init(value)])
            marks[id] = value
            heard("text", value, value, by: "server")
            note("the server inserts \(value)")
            return
        }
        let id = ids[random.below(ids.count)]
        guard let mark = marks[id] else { return }
        if random.chance(0.2) {
            server.remove("Note", id)
            makers[id] = nil
            gone.insert(mark)
            note("the server deletes \(mark)")
        } else {
            let key = random.chance(0.5) ? "text" : "color"
            server.change("Note", id, [key: .init(value)])
            heard(key, mark, value, by: "server")
            note("the server sets \(key) of \(mark) to \(value)")
        }
    }

    private func heard(_ key: String, _ mark: String, _ value: String?, by author: String, revision: Int64? = nil) {
        history[mark, default: [:]][key, default: []].append((revision ?? server.revision, value))
        authors[mark, default: []].insert(author)
    }

    /// Notes what the server has made.
    private func listen() {
        let applied = server.applied
        for made in applied[heard...] {
            let change = made.change
            let author = String(made.client.prefix { $0 != "#" })
            if change.entity == "Folder" {
                if let mark = change.values["mark"]?.string { folders[made.id] = mark }
                continue
            }
            if change.kind == .insert { marks[made.id] = change.values["mark"]?.string ?? "?" }
            guard let mark = marks[made.id] else { continue }
            if change.kind == .insert {
                if makers.contains(where: { $1 != author && marks[$0] == mark }), gone.contains(mark) { twins.insert(mark) }
                makers[made.id] = author
            }
            if change.kind == .delete { makers[made.id] = nil }
            authors[mark, default: []].insert(author)
            if change.kind == .delete { gone.insert(mark) }
            for (key, value) in change.values where key != "mark" {
                let text = key == "folder" ? value.id.flatMap { folders[$0] } : value.string
                heard(key, mark, text, by: author, revision: made.revision)
            }
        }
        heard = applied.count
    }

    // MARK: Checks

    /// What is shown is what the server has confirmed, with what is pending over it.
    private func check() throws {
        for client in clients {
            let shown = try client.shown(folder: folders).filter { !twins.contains($0.mark) }
            let pending = Dictionary(try client.store.pendingChanges().map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first })
            for (mark, notes) in Dictionary(grouping: shown, by: \.mark) where notes.count > 1 {
                // A read may bring a new object before the answer to its insert, which alone tells that it is the same.
                let inserts = notes.filter {
                    pending[$0.id]?.kind == .insert && pending[$0.id]?.state != .pending || (pending[$0.id]?.attempts ?? 0) > 0
                }
                if notes.count == 2, inserts.count == 1 {
                    client.echoed.insert(mark)
                    continue
                }
                throw Wrong("\(client.name) shows \(mark) \(notes.count) times.")
            }
            for note in shown {
                for (key, value) in note.values {
                    let change = pending[note.id]
                    let isPending = change.map { $0.kind != .update || $0.properties.contains(key) } ?? false
                    let last = client.written[note.mark]?[key]
                    if isPending, last == value || client.perhaps.contains("\(note.mark).\(key)=\(value)") { continue }
                    guard let known = history[note.mark]?[key]?.last(where: { $0.value == value }) else {
                        throw Wrong("\(client.name) shows \(value) as \(key) of \(note.mark), which is neither pending nor the server's.")
                    }
                    let name = note.mark + "." + key
                    // Not yet kept for an insert that is sent again after others have changed the object: its outcome tells the first version, which is
                    // shown until the next read.
                    if !isPending, known.revision < client.seen[name] ?? 0, !client.echoed.contains(note.mark) {
                        throw Wrong(
                            "\(client.name) shows \(value) as \(key) of \(note.mark), revision \(known.revision), after \(client.seen[name] ?? 0)."
                        )
                    }
                    if !isPending { client.seen[name] = known.revision }
                }
            }
        }
    }

    // MARK: The end

    private func pump(_ client: SimulatedClient, _ what: String, _ body: @escaping @Sendable () async throws -> Void) throws {
        let work = executor.start(body)
        for _ in 0..<10_000 where !work.isDone {
            executor.run()
            if work.isDone { break }
            if network.messages.isEmpty, !clock.advanceToNextSleeper() { break }
            network.deliverAll()
        }
        guard let result = work.result else { throw Wrong("\(client.name) \(what) without end.") }
        do { try result.get() } catch { throw Wrong("\(client.name) \(what) in vain: \(error)") }
    }

    /// Brings everything back, and looks whether all come to the same.
    private func settle() throws {
        note("everything comes back")
        for client in clients { network.setConnected(true, client.address) }
        for _ in 0..<100 where !network.messages.isEmpty {
            network.deliverAll()
            executor.run()
        }
        clock.advance(by: .seconds(600))
        (server.options.staleReads, server.options.missingOutcomes) = (0, 0)
        var (rounds, quietRounds) = (0, 0)
        while true {
            rounds += 1
            for client in clients {
                let store = client.store
                try pump(client, "sends") { try await store.sendPending() }
                listen()
                try check()
                for entity in ["Folder", "Note"] {
                    let query = try client.query(entity, .networkOnly)
                    try pump(client, "reads") { _ = try await (store as! any AsynchronousStore).fetch(query, for: StoreCaller()) }
                }
                listen()
                try check()
                for change in try store.pendingChanges()
                where change.state == .conflicting || change.state == .failed || change.state == .unknown {
                    let takesMine = random.chance(0.5)
                    note(
                        "\(client.name) decides \(change.state) \(change.kind) \(change.objectID.uriRepresentation().lastPathComponent) \(takesMine): \(String(describing: change.error))"
                    )
                    if takesMine {
                        try store.retry(change.objectID)
                    } else {
                        let marks = Dictionary(
                            try client.shown(folder: folders).map { ($0.id, $0.mark) }, uniquingKeysWith: { first, _ in first })
                        for id in try store.drop(change.objectID) {
                            if let mark = marks[id] { client.dropped.insert(mark) } else { client.dropped.formUnion(client.removed) }
                        }
                    }
                }
            }
            clock.advance(by: .seconds(400))
            // Everybody reads once more after the last change was sent.
            quietRounds = try clients.allSatisfy({ try $0.store.pendingCount() == 0 }) ? quietRounds + 1 : 0
            if quietRounds > 1 { break }
            if rounds > 12 {
                let left = try clients.map { "\($0.name): \(try $0.store.pendingChanges())" }.joined(separator: "; ")
                throw Wrong("What is pending is never sent: \(left)")
            }
        }
        try compare()
    }

    private func compare() throws {
        var expected: [String: [String: String]] = [:]
        for id in server.ids("Note") {
            guard let values = server.values("Note", id), let mark = values["mark"]?.string, !twins.contains(mark) else { continue }
            if expected[mark] != nil { throw Wrong("The server has \(mark) twice.") }
            var known: [String: String] = [:]
            for key in ["text", "color"] { known[key] = values[key]?.string }
            if let folder = values["folder"]?.id { known["folder"] = folders[folder] ?? "?" }
            expected[mark] = known
        }
        let names = server.ids("Folder").compactMap { server.values("Folder", $0)?["mark"]?.string }
        if Set(names).count != names.count { throw Wrong("The server has a folder twice: \(names)") }
        for client in clients {
            let shown = Dictionary(
                uniqueKeysWithValues: try client.shown(folder: folders).filter { !twins.contains($0.mark) }.map { ($0.mark, $0.values) })
            if shown != expected {
                let marks = Set(shown.keys).union(expected.keys).sorted().filter { shown[$0] != expected[$0] }
                let text = marks.map { "\($0): \(String(describing: shown[$0])) and not \(String(describing: expected[$0]))" }
                throw Wrong("\(client.name) shows \(text.joined(separator: "; "))")
            }
            for mark in client.made
            where expected[mark] == nil && !twins.contains(mark) && !gone.contains(mark) && !client.removed.contains(mark) {
                if !client.dropped.contains(mark) { throw Wrong("\(client.name)'s \(mark) is lost.") }
            }
            for (mark, values) in client.written where !gone.contains(mark) && !client.dropped.contains(mark) && expected[mark] != nil {
                let isContested = (authors[mark] ?? []).subtracting([client.name]).count > 0
                if isContested, ["preferTheirs", "rollback"].contains(options.ruleName) { continue }
                for (key, value) in values where history[mark]?[key]?.contains(where: { $0.value == value }) != true {
                    throw Wrong("\(client.name)'s \(value) as \(key) of \(mark) was never sent.")
                }
            }
        }
    }
}
