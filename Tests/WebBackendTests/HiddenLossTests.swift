import CoreData
import Foundation
import RemoteStore
import Synchronization
import TestSupport
import Testing
import WebBackend
import WebTransport

/// A service that keeps what it has made for each key, whose answers are lost or refused in turn.
private final class LossyService: Transport {
    enum Fate { case lost, refused(Int), answered }
    struct State {
        var fates: [Fate]
        var keys: [String] = []
        var made: [String: Int] = [:]
    }
    let state: Synchronization.Mutex<State>

    init(_ fates: [Fate]) { state = Synchronization.Mutex(State(fates: fates)) }

    func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        guard request.method == .post else { return .json("[]") }
        return try state.withLock { state in
            let key = request.headers["Idempotency-Key"] ?? "none"
            state.keys.append(key)
            let fate = state.fates.isEmpty ? .answered : state.fates.removeFirst()
            if case .refused(let status) = fate { return .json("{}", status: status) }
            let id = state.made[key] ?? state.made.count + 1
            state.made[key] = id
            if case .lost = fate { throw TransportError(.lost, request: request.label) }
            return .json(#"{"id": \#(id)}"#, status: 201)
        }
    }
}

@Suite("A loss that the tries of one request hide") struct HiddenLossTests {
    private static func backend(
        _ service: LossyService, tries: Int, _ model: NSManagedObjectModel, comparesField: Bool = false
    ) throws -> WebBackend {
        var style = ServiceStyle.plain
        var saving = SavingStyle(idempotencyHeader: "Idempotency-Key")
        if comparesField { (style.version, saving.precondition) = (.number("revision"), .field) }
        style.saving = saving
        var options = WebClient.Options()
        options.retries = RetryPolicy(maximumTries: tries, firstDelay: 0)
        return try WebBackend(
            WebService(base, style: style, resources: [WebResource("Band")]), model: model, transport: service, options: options)
    }

    private static func model() -> NSManagedObjectModel {
        let band = NSEntityDescription(name: "Band")
        band.properties = [NSAttributeDescription(name: "name", type: .string)]
        return NSManagedObjectModel(entities: [band])
    }

    /// The statuses of refusals for now, and of credentials that are not taken.
    private static let refusals = [429, 503, 401, 403, 409, 412]

    @Test(
        "The outbox sends a new object under one key, however the tries after a loss are refused", arguments: refusals,
        [(1, false), (4, false), (1, true)])
    func outbox(status: Int, service described: (tries: Int, comparesField: Bool)) async throws {
        let service = LossyService([.lost, .refused(status), .refused(status), .refused(status)])
        let folder = try ScratchFolder("loss")
        defer { folder.remove() }
        let model = Self.model()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        var cache = CachedStoreOptions()
        cache.sendsAutomatically = false
        let store = try coordinator.addCachedStore(
            Self.backend(service, tries: described.tries, model, comparesField: described.comparesField), at: folder.file("bands.sqlite"),
            options: cache)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try await context.perform {
            NSEntityDescription.insertNewObject(forEntityName: "Band", into: context).setValue("Low", forKey: "name")
            try context.save()
        }
        for _ in 0..<6 {
            try await store.sendPending()
            // What was set aside is the application's to repeat.
            for change in try store.pendingChanges() where change.state == .failed || change.state == .unknown {
                try store.retry(change.objectID)
            }
        }
        try expect(store.pendingCount(), equals: 0)
        let (keys, made) = service.state.withLock { ($0.keys, $0.made) }
        expect(made.count, equals: 1, "\(keys)")
    }

    @Test("A plain save that is repeated saves once", arguments: [429, 503])
    func plainSave(status: Int) async throws {
        let service = LossyService([.lost, .refused(status), .refused(status), .refused(status)])
        let model = Self.model()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addRemoteStore(Self.backend(service, tries: 2, model))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try await context.perform {
            NSEntityDescription.insertNewObject(forEntityName: "Band", into: context).setValue("Low", forKey: "name")
            for _ in 0..<2 { #expect(throws: NSError.self) { try context.save() } }
            try context.save()
        }
        let (keys, made) = service.state.withLock { ($0.keys, $0.made) }
        expect(made.count, equals: 1, "\(keys)")
    }
}
