import CoreData
import Foundation
import RemoteStore
import Synchronization

/// A server in a file: each change is one line, which one call of the system writes, so that it is there or not whenever the process is killed.
// `state` is guarded by its mutex.
private final class LogServer: Backend {
    struct Record {
        var values: [String: ResourceValue]
        var version: Int64
    }
    struct State {
        var records: [Int64: Record] = [:]
        var outcomes: [String: (id: Int64, version: Int64)] = [:]
        var lines: Int64 = 0
        var lastID: Int64 = 0
    }

    let location = URL(string: "log:server")!
    let resources = [
        Resource(
            "Note", endpoints: [Endpoint("all"), Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 50)])],
            saving: .init(maximumChanges: 3, isIdempotent: true))
    ]
    private let file: Int32
    private let state: Synchronization.Mutex<State>

    init(_ path: String) throws {
        file = open(path, O_RDWR | O_CREAT | O_APPEND, 0o600)
        var state = State()
        for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
            Self.apply(line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init), to: &state)
        }
        self.state = Synchronization.Mutex(state)
    }

    /// A line: the key, the kind, the identifier, the mark and the text; a value that was not changed is "-".
    private static func apply(_ parts: [String], to state: inout State) {
        guard parts.count == 5, let id = Int64(parts[2]) else { return }
        state.lines += 1
        state.lastID = max(state.lastID, id)
        state.outcomes[parts[0]] = (id, state.lines)
        if parts[1] == "delete" { return state.records[id] = nil }
        var record = state.records[id] ?? Record(values: [:], version: 0)
        if parts[3] != "-" { record.values["mark"] = .init(parts[3]) }
        if parts[4] != "-" { record.values["text"] = .init(parts[4]) }
        record.version = state.lines
        state.records[id] = record
    }

    private func pause() async throws { try await Task.sleep(for: .microseconds(Int.random(in: 0..<3000))) }

    func answer(_ request: BackendRequest) async throws -> BackendAnswer {
        try await pause()
        let records = state.withLock { $0.records }
        try await pause()
        var answer = request.answer()
        let ids = Set(request.ids("SELF"))
        for (id, record) in records.sorted(by: { $0.key < $1.key }) where request.endpoint == "all" || ids.contains(.integer(id)) {
            try answer.add(id, version: .number(record.version), record.values)
        }
        return answer
    }

    func save(_ changes: [BackendChange]) async throws -> [BackendChange.Key: BackendOutcome] {
        try await pause()
        var outcomes: [BackendChange.Key: BackendOutcome] = [:]
        for change in changes { outcomes[change.key] = state.withLock { outcome(of: change, &$0) } }
        try await pause()
        return outcomes
    }

    private func outcome(of change: BackendChange, _ state: inout State) -> BackendOutcome {
        let key = change.idempotencyKey.uuidString
        if let known = state.outcomes[key] { return .saved(id: .integer(known.id), version: .number(known.version)) }
        var id = state.lastID + 1
        if case .integer(let known)? = change.id {
            guard let record = state.records[known] else { return .conflict(current: nil) }
            if change.version != .number(record.version) { return .conflict(current: record.values, version: .number(record.version)) }
            id = known
        }
        let parts = [key, "\(change.kind)", "\(id)", change.values["mark"]?.string ?? "-", change.values["text"]?.string ?? "-"]
        let line = Array((parts.joined(separator: "\t") + "\n").utf8)
        guard write(file, line, line.count) == line.count else { exit(4) }
        Self.apply(parts, to: &state)
        return .saved(id: .integer(id), version: .number(state.lines))
    }
}

/// Writes notes through a cached store until it is killed, or sends what is left. Step n makes note n; each third step changes the note before,
/// each fifth deletes the one before that.
enum CachedWriter {
    static func run(_ folder: String, isLast: Bool) async throws {
        let note = NSEntityDescription(name: "Note")
        note.properties = ["mark", "text"].map { NSAttributeDescription(name: $0, type: .string) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [note]))
        let store = try coordinator.addCachedStore(
            LogServer(folder + "/server.log"), at: URL(fileURLWithPath: folder + "/cache.sqlite"),
            options: CachedStoreOptions(defaultPolicy: .cacheOnly))
        if isLast {
            for _ in 0..<1000 where try store.pendingCount() > 0 { try await store.sendPending() }
            for change in try store.pendingChanges() { report("pending: \(change)") }
        }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        if isLast {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.sortDescriptors = [NSSortDescriptor(key: "mark", ascending: true)]
            try await context.perform {
                for note in try context.fetch(request) {
                    report("note \(note.value(forKey: "mark") ?? "") \(note.value(forKey: "text") ?? "")")
                }
            }
            exit(0)
        }
        var step = try await context.perform {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).compactMap {
                Int($0.value(forKey: "mark") as? String ?? "")
            }
            .max() ?? 0
        }
        while true {
            step += 1
            let number = step
            try await context.perform {
                func find(_ number: Int) throws -> NSManagedObject? {
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                    request.predicate = NSPredicate(format: "mark == %@", "\(number)")
                    return try context.fetch(request).first
                }
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                note.setValue("\(number)", forKey: "mark")
                note.setValue("new", forKey: "text")
                if number % 3 == 0 { try find(number - 1)?.setValue("changed \(number)", forKey: "text") }
                if number % 5 == 0, let old = try find(number - 2) { context.delete(old) }
                try context.save()
            }
            report("saved \(number)")
            if number % 6 == 0 {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                request.cachePolicy = .networkOnly
                let objects = try await context.fetchAsynchronously(request)
                _ = objects.count
            }
        }
    }
}
