import CoreData
import Foundation
@_spi(Stores) import ObjectGraph
import RemoteStore
import RemoteStoreTesting
import TestSupport

/// A server and three clients, which do at random what clients, networks and users do; a seed decides all of it.
final class SimulatedWorld {
    let options: SimulationOptions
    let setting: SimulatedSetting
    var random: SeededGenerator
    let clock = ManualClock()
    let network = SimulatedNetwork(isStepped: true)
    let executor: SeededExecutor
    let server: SimulatedServer
    private let folder: ScratchFolder
    private(set) var clients: [SimulatedClient] = []
    private var lastNumber = 0
    private(set) var events: [String] = []
    /// How often something happened, by its kind.
    private(set) var counts: [String: Int] = [:]
    /// The requests that have arrived at the server, and those for what was asked to be read that a client needs which knows everything.
    private(set) var (arrived, neededReads) = (0, 0)

    /// What the server has had: by the mark of a note and the property, the values with their revisions.
    var history: [String: [String: [(revision: Int64, value: String?)]]] = [:]
    var authors: [String: Set<String>] = [:]
    var marks: [ResourceID: String] = [:]
    var folders: [ResourceID: String] = [:]
    var gone: Set<String> = []
    /// Who has made the notes that the server has.
    var makers: [ResourceID: String] = [:]
    /// The notes that two clients have made anew, each because of a change of its own to one that was deleted: they are two.
    var twins: Set<String> = []
    /// The notes of one identifier that a client could not tell apart: nothing is promised of them.
    var blurred: Set<String> = []
    var heardCount = 0

    init(seed: UInt64, _ options: SimulationOptions = SimulationOptions()) throws {
        self.options = options
        var random = SeededGenerator(seed: seed)
        setting = SimulatedSetting(&random, options)
        self.random = random
        executor = SeededExecutor(seed: seed)
        let madeUp = Guarded(SeededGenerator(seed: seed &* 31))
        let shared = URL(fileURLWithPath: "/dev/shm")
        let base = FileManager.default.isWritableFile(atPath: shared.path) ? shared : FileManager.default.temporaryDirectory
        let folder = try ScratchFolder("simulation", in: base)
        self.folder = folder
        let model = Notebook.model()
        server = SimulatedServer(model, setting.resources, network: network, clock: clock, seed: seed)
        setting.apply(to: &server.options)
        clients = try ["A", "B", "C"].map { name in
            try SimulatedClient(name, in: folder.url, network) { [unowned self] address, place, end in
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
                var settings = CachedStoreOptions(defaultPolicy: .cachedThenFresh, clock: clock, random: { 0.5 })
                settings.conflicts = options.rule
                settings.sendsAutomatically = false
                settings.willCommit = { _ in end.pass(isAfter: false) }
                settings.didCommit = { _ in end.pass(isAfter: true) }
                if let broken = options.broken { settings.switchedOff = [broken] }
                let connection = server.connection(address)
                let store: CachedStore
                if let bug = options.bug {
                    store = try coordinator.addCachedStore(
                        PlantedBug(kind: bug, connection: connection, random: madeUp), at: place, options: settings)
                } else {
                    store = try coordinator.addCachedStore(connection, at: place, options: settings)
                }
                return (store, coordinator, connection)
            }
        }
    }

    /// Notes what happens.
    ///
    /// - Parameter kind: What it is counted as.
    func note(_ kind: String, _ event: String) {
        counts[kind, default: 0] += 1
        events.append(event)
    }

    // MARK: Steps

    func run() throws {
        note(setting.readsFeed ? "runs with a feed" : "runs without", "\(setting)")
        for client in clients where setting.readsFeed {
            for entity in ["Folder", "Note"] { try fetch(entity, client) }
            try merge(client)
        }
        for _ in 0..<options.steps {
            try step()
            executor.run()
            try restartTheDead()
            try listen()
            try check()
        }
        for client in clients { client.end.disarm() }
        try settle()
    }

    private func step() throws {
        let client = clients[random.below(clients.count)]
        switch options.kinds[random.below(options.kinds.count)] {
        case 0...4: try edit(client)
        case 5...6: start(client, "sends") { [store = client.store] in try await store.sendPending() }
        case 7...8: try read(client)
        case 9 where !setting.readsFeed: try refresh(client)
        case 10: connect(client, !network.isConnected(client.address))
        case 11: try crash(client)
        case 12:
            clock.advance(by: random.chance(0.15) ? .seconds(70) : .milliseconds(100 + random.below(4000)))
            if random.chance(0.2) {
                note("clock jumps", "a clock jumps")
                clock.jump(by: Double(random.below(20_000) - 10_000))
            }
        case 13: editOnServer()
        case 14 where random.chance(0.5):
            if setting.readsFeed, random.chance(0.2) {
                note("expired tokens", "the tokens expire")
                server.expireChangeTokens()
            } else {
                try decide(client)
            }
        default:
            for _ in 0...random.below(3) {
                deliver()
                executor.run()
            }
        }
    }

    private func edit(_ client: SimulatedClient) throws {
        lastNumber += 1
        if options.forgetsAtCrash { try client.keepForForgetting(lastNumber) }
        // Whoever takes a note out of a folder that was never read has to read that, and is told so where that is not possible.
        network.script { _ in .lost }
        defer { network.script { _ in .held } }
        do {
            let done = try watching(client) { try client.edit(&random, number: lastNumber) }
            note("edits", "\(client.name) \(done)")
        } catch let error as NSError where error.domain == NSURLErrorDomain {
            let isLacking = ["deletes", "moves"].contains { client.attempted.hasPrefix($0) }
            guard isLacking, error.code == SimulatedNetwork.connectionLost.code || error.code == SimulatedNetwork.notConnected.code else {
                throw Wrong("\(client.name) cannot edit, it \(client.attempted): \(error)")
            }
            note("edits that lack something", "\(client.name) cannot edit: \(client.attempted), \(error)")
        }
    }

    /// Does what may wait for the network. A read that it shares with work of the executor is held until this thread goes on: then it is lost.
    private func watching<Result>(_ client: SimulatedClient, _ body: () throws -> Result) rethrows -> Result {
        let (network, executor, address, isDone) = (network, executor, client.address, Guarded(false))
        let watch = DispatchQueue(label: "simulation")
        let rescue = DispatchWorkItem {
            while !isDone.withValue({ $0 }) {
                for message in network.messages where message.client == address { network.settle(message, .lost) }
                executor.run()
            }
        }
        // Nothing that goes on takes that long.
        watch.asyncAfter(deadline: .now() + 20, execute: rescue)
        defer {
            isDone.withValue { $0 = true }
            rescue.cancel()
            watch.sync {}
        }
        return try body()
    }

    private func read(_ client: SimulatedClient) throws {
        if setting.readsFeed {
            if network.isConnected(client.address) { neededReads += 1 }
            return start(client, "asks what has changed") { [store = client.store, coordinator = client.coordinator] in
                try await coordinator.mergeRemoteChanges(of: store)
            }
        }
        let policy: CachePolicy = random.chance(0.5) ? .networkOnly : .cachedThenFresh
        let entity = random.chance(0.8) ? "Note" : "Folder"
        let query = try client.query(entity, policy)
        if network.isConnected(client.address) { neededReads += pageCount(entity) }
        start(client, "reads") { [store = client.store] in
            _ = try await (store as! any AsynchronousStore).fetch(query, for: StoreCaller())
        }
    }

    private func refresh(_ client: SimulatedClient) throws {
        let ids = try client.shown(folder: folders).map(\.id)
        guard !ids.isEmpty else { return }
        let id = ids.sorted { $0.description < $1.description }[random.below(ids.count)]
        if network.isConnected(client.address) { neededReads += 1 }
        start(client, "refreshes a note") { [store = client.store] in
            let store = store as! any AsynchronousStore
            (store as? any RowCacheObserver)?.willReload([id])
            _ = try await store.fetchRows(for: [id], for: StoreCaller(stalenessInterval: 0))
        }
    }

    private func start(_ client: SimulatedClient, _ what: String, _ body: @escaping @Sendable () async throws -> Void) {
        note(what, "\(client.name) \(what)")
        client.work.append(executor.start(body))
    }

    private func connect(_ client: SimulatedClient, _ isConnected: Bool) {
        note(isConnected ? "reconnections" : "partitions", "\(client.name) is \(isConnected ? "back" : "cut off")")
        network.setConnected(isConnected, client.address)
    }

    /// Lets a client die now, or before or after a commit that is to come.
    private func crash(_ client: SimulatedClient) throws {
        if options.forgetsAtCrash || random.chance(0.4) {
            note("deaths", "\(client.name) dies")
            return try restart(client)
        }
        let (commits, isAfter) = (1 + random.below(4), random.chance(0.5))
        events.append("\(client.name) is to die \(isAfter ? "after" : "before") commit \(commits)")
        client.end.set(commits, isAfter: isAfter)
    }

    private func restartTheDead() throws {
        for client in clients where client.end.remains != nil {
            note("deaths at a commit", "\(client.name) has died")
            try restart(client)
        }
    }

    private func restart(_ client: SimulatedClient) throws {
        if setting.isUnversioned, setting.service != .keys {
            // Nothing tells such a server that what comes late is old.
            for message in network.messages where message.client == client.address { network.settle(message, .lost) }
        }
        try client.restart(forgetting: options.forgetsAtCrash)
    }

    private func deliver() {
        let messages = network.messages
        guard !messages.isEmpty else { return }
        let message = messages[random.below(messages.count)]
        var fate: SimulatedNetwork.Fate =
            random.chance(options.losses) ? .lost : !message.isAnswer && random.chance(0.08) ? .doubled : .delivered
        if fate == .delivered, !message.isAnswer, random.chance(options.losses) { fate = .refused }
        // A server that tells nothing apart would make two objects of what its network doubles.
        if fate == .doubled, setting.service == .nothing { fate = .delivered }
        note(
            "\(message.isAnswer ? "answers" : "requests") \(fate)",
            "\(message.isAnswer ? "answer to" : "request of") \(message.client): \(message.text) is \(fate)")
        if !message.isAnswer, fate == .delivered { arrived += 1 }
        network.settle(message, fate)
    }

    /// Delivers everything that is held.
    func deliverAll() {
        arrived += network.messages.count { !$0.isAnswer }
        network.deliverAll()
    }

    /// The number of pages that all resources of an entity take.
    private func pageCount(_ entity: String) -> Int {
        let count = server.ids(entity).count
        return setting.pageSize.map { max(1, (count + $0 - 1) / $0) } ?? 1
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
            note("inserts of others", "the server inserts \(value)")
            return
        }
        let id = ids[random.below(ids.count)]
        guard let mark = marks[id] else { return }
        if random.chance(0.2) {
            server.remove("Note", id)
            makers[id] = nil
            gone.insert(mark)
            note("deletions of others", "the server deletes \(mark)")
        } else {
            let key = random.chance(0.5) ? "text" : "color"
            server.change("Note", id, [key: .init(value)])
            heard(key, mark, value, by: "server")
            note("edits of others", "the server sets \(key) of \(mark) to \(value)")
        }
    }

    /// The requests that a client needs which knows everything: what is asked to be read, and a call for each that has saved something.
    var needed: Int { neededReads + Set(server.applied.map(\.call)).count }

    func heard(_ key: String, _ mark: String, _ value: String?, by author: String, revision: Int64? = nil) {
        history[mark, default: [:]][key, default: []].append((revision ?? server.revision, value))
        authors[mark, default: []].insert(author)
    }

    // MARK: Work that goes on to its end

    func pump(_ client: SimulatedClient, _ what: String, _ body: @escaping @Sendable () async throws -> Void) throws {
        let work = executor.start(body)
        for _ in 0..<10_000 where !work.isDone {
            executor.run()
            if work.isDone { break }
            if network.messages.isEmpty, !clock.advanceToNextSleeper() { break }
            deliverAll()
            try listen()
        }
        guard let result = work.result else { throw Wrong("\(client.name) \(what) without end.") }
        do { try result.get() } catch { throw Wrong("\(client.name) \(what) in vain: \(error)") }
    }

    func fetch(_ entity: String, _ client: SimulatedClient) throws {
        let query = try client.query(entity, .networkOnly)
        neededReads += pageCount(entity)
        try pump(client, "reads") { [store = client.store] in
            _ = try await (store as! any AsynchronousStore).fetch(query, for: StoreCaller())
        }
    }

    func merge(_ client: SimulatedClient) throws {
        neededReads += 1
        try pump(client, "asks what has changed") { [store = client.store, coordinator = client.coordinator] in
            try await coordinator.mergeRemoteChanges(of: store)
        }
    }

    // MARK: Decisions

    /// Lets the user decide about changes that are set aside.
    ///
    /// - Returns: Whether there were any.
    @discardableResult func decide(_ client: SimulatedClient) throws -> Bool {
        let store = client.store
        let isQuiet = !network.messages.contains { $0.client.hasPrefix(client.name) && $0.isSave }
        var isAny = false
        for change in try store.pendingChanges()
        where change.state == .conflicting || change.state == .failed || change.state == .unknown {
            var takesMine = random.chance(0.5)
            let shown = Dictionary(try client.shown(folder: folders).map { ($0.id, $0.mark) }, uniquingKeysWith: { first, _ in first })
            if change.state == .unknown {
                // The user looks whether it has arrived, once nothing is on its way any more.
                if !isQuiet { continue }
                let mark = try shown[change.objectID] ?? client.folderMark(change.objectID)
                // Of what is deleted here there is nothing to look for.
                takesMine =
                    mark != nil
                    && !["Note", "Folder"].contains { entity in
                        server.ids(entity).contains { server.values(entity, $0)?["mark"]?.string == mark }
                    }
            }
            isAny = true
            // The description of an error has its values in no order.
            let error = change.error.map { "\($0.code) \($0.localizedDescription)" } ?? "no error"
            note(
                takesMine ? "retries" : "drops",
                "\(client.name) decides \(change.state) \(change.kind) \(change.objectID.uriRepresentation().lastPathComponent) \(takesMine): \(error)"
            )
            if takesMine {
                try store.retry(change.objectID)
            } else {
                let folder = change.entity == "Folder" ? try client.folderMark(change.objectID) : nil
                for id in try store.drop(change.objectID) {
                    if let mark = shown[id] { client.dropped.insert(mark) } else { client.dropped.formUnion(client.removed) }
                }
                let now = Dictionary(
                    try client.shown(folder: folders).map { ($0.mark, $0.values) }, uniquingKeysWith: { first, _ in first })
                for (mark, values) in client.written where values["folder"] == folder {
                    // What was moved to the folder as the feed has brought it is there still.
                    guard let folder, now[mark]?["folder"] != folder else { continue }
                    // If the process has died of it, the folder is dropped or not.
                    if client.end.remains != nil { client.perhaps.insert("\(mark).folder=\(folder)") }
                    client.written[mark]?["folder"] = nil
                }
            }
        }
        return isAny
    }
}
