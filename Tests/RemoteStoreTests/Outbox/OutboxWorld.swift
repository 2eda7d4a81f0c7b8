import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// A backend with albums, and programs with a cache in front of it that are killed and started again.
// Unchecked: one test uses it.
final class OutboxWorld: @unchecked Sendable {
    let backend: ScriptedBackend
    let clock = ManualClock()
    private(set) var store: CachedStore!
    private(set) var context: NSManagedObjectContext!
    private(set) var coordinator: NSPersistentStoreCoordinator!
    private let folder: ScratchFolder
    private var directory: URL
    private var options: CachedStoreOptions
    static let offline = NSError(domain: NSURLErrorDomain, code: NSURLErrorNotConnectedToInternet)
    static let lost = NSError(domain: NSURLErrorDomain, code: NSURLErrorNetworkConnectionLost)

    init(
        _ saving: Resource.Saving = .init(isIdempotent: true), versions: ScriptedBackend.Versions = .numbers,
        conflicts: ConflictResolution = .setAside, isAutomatic: Bool = false, didCommit: (@Sendable (Int) -> Void)? = nil
    ) throws {
        backend = Self.backend(saving, versions)
        var options = CachedStoreOptions(defaultPolicy: .cacheFirst(maximumAge: 1e12), clock: clock)
        options.conflicts = conflicts
        options.sendsAutomatically = isAutomatic
        options.didCommit = didCommit
        self.options = options
        folder = try ScratchFolder("outbox")
        directory = folder.file("first")
        try start()
    }

    static func backend(_ saving: Resource.Saving, _ versions: ScriptedBackend.Versions) -> ScriptedBackend {
        let byID = Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 50)])
        let tags = Endpoint.Embedding("tags", isAlwaysThere: true)
        var others = saving
        if case .attribute = saving.identity { others.identity = .assignedByBackend }
        others.isIdempotent = true
        let backend = ScriptedBackend(
            Shop.model(),
            ["Band", "Track", "Tag", "Person", "Singer"].map { Resource($0, endpoints: [Endpoint("all"), byID], saving: others) } + [
                Resource(
                    "Album",
                    endpoints: [Endpoint("all", embeddings: [tags]), Endpoint("info", parameters: byID.parameters, embeddings: [tags])],
                    saving: saving)
            ])
        backend.setVersions(versions)
        return backend
    }

    private func start() throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
        store = try coordinator.addCachedStore(backend, at: directory.appendingPathComponent("cache.sqlite"), options: options)
        context = coordinator.context()
    }

    /// Opens another store over the same file, as another program would, which sends only when it is told.
    func openAnother() throws -> (store: CachedStore, coordinator: NSPersistentStoreCoordinator) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
        var options = CachedStoreOptions(clock: clock)
        options.sendsAutomatically = false
        return (try coordinator.addCachedStore(backend, at: place, options: options), coordinator)
    }

    /// Kills the program: what is on the disk is all that is left, and another one starts.
    ///
    /// - Parameter copy: What was on the disk; nil for what is there now.
    func restart(from copy: URL? = nil) throws {
        let old = copy ?? directory
        options.didCommit = nil
        directory = folder.file(UUID().uuidString)
        try FileManager.default.copyItem(at: old, to: directory)
        try? FileManager.default.removeItem(at: directory.appendingPathComponent("cache.sqlite-shm"))
        abandoned.append((directory, coordinator))
        try start()
    }
    private var abandoned: [(URL, NSPersistentStoreCoordinator)] = []

    /// Copies what is on the disk.
    func copy() throws -> URL {
        let copy = folder.file(UUID().uuidString)
        try FileManager.default.copyItem(at: place.deletingLastPathComponent(), to: copy)
        return copy
    }

    /// The place of the file.
    var place: URL { directory.appendingPathComponent("cache.sqlite") }

    // MARK: Work

    /// Sends what is pending, and calls `body` while the first calls are under way; where there is nothing to send, without any.
    func sendPending(while body: () throws -> Void) async throws {
        let (isHeld, isDone) = (Guarded(false), Guarded(false))
        backend.scriptSaves { _ in
            isHeld.withValue { $0 = true }
            return .hold
        }
        let store: CachedStore = store
        let sending = Task {
            defer { isDone.withValue { $0 = true } }
            try await store.sendPending()
        }
        while !isHeld.withValue({ $0 }), !isDone.withValue({ $0 }) { await Task.yield() }
        if isHeld.withValue({ $0 }) { await backend.untilHeld() }
        let result = Result { try body() }
        goOnline()
        while !isDone.withValue({ $0 }) {
            backend.release()
            await Task.yield()
        }
        try await sending.value
        try result.get()
    }

    func goOffline() {
        backend.scriptSaves { _ in .fail(Self.offline) }
        backend.script { _ in .fail(Self.offline) }
    }

    func goOnline() {
        backend.scriptSaves { _ in .answer }
        backend.script { _ in .answer }
    }

    @discardableResult func insert(_ entity: String, _ values: [String: Any]) throws -> NSManagedObjectID {
        try context.performAndWait {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            for (key, value) in values { object.setValue(resolved(value), forKey: key) }
            try context.save()
            return object.objectID
        }
    }

    func update(_ id: NSManagedObjectID, _ values: [String: Any?]) throws {
        try context.performAndWait {
            let object = context.object(with: id)
            for (key, value) in values { object.setValue(value.flatMap(resolved), forKey: key) }
            try context.save()
        }
    }

    func delete(_ ids: NSManagedObjectID...) throws {
        try context.performAndWait {
            for id in ids { context.delete(context.object(with: id)) }
            try context.save()
        }
    }

    private func resolved(_ value: Any) -> Any? {
        switch value {
        case let id as NSManagedObjectID: context.object(with: id)
        case let ids as Set<NSManagedObjectID>: NSSet(array: ids.map { context.object(with: $0) })
        default: value
        }
    }

    /// Fetches all objects of an entity.
    @discardableResult func fetch(_ entity: String, in other: NSManagedObjectContext? = nil) throws -> [NSManagedObjectID] {
        let context = other ?? context!
        let request = fetchRequest(entity)
        request.cachePolicy = .networkOnly
        return try context.performAndWait { try context.fetch(request).map(\.objectID) }
    }

    /// What a new context of the program shows of an object; nil where it shows nothing.
    func shown(_ id: NSManagedObjectID, _ key: String) throws -> Any? {
        let context = coordinator.context()
        return try context.performAndWait {
            let object = try context.existingObject(with: id)
            let value = object.value(forKey: key)
            if let object = value as? NSManagedObject { return object.objectID }
            if let objects = value as? Set<NSManagedObject> { return Set(objects.map(\.objectID)) }
            return value
        }
    }

    func text(_ id: NSManagedObjectID, _ key: String = "title") throws -> String? { try shown(id, key) as? String }

    func isShown(_ id: NSManagedObjectID) -> Bool {
        let context = coordinator.context()
        return context.performAndWait { (try? context.existingObject(with: id)) != nil }
    }

    /// The object of an ID in the program that runs now.
    func same(_ id: NSManagedObjectID) throws -> NSManagedObjectID {
        try #require(coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()))
    }

    /// What is pending, for messages.
    var pending: String {
        do { return try store.pendingChanges().map { "\($0)" }.joined(separator: "\n") } catch { return "\(error)" }
    }

    /// The values that the backend has, of the only resource of an entity.
    func only(_ entity: String = "Album") throws -> [String: ResourceValue] {
        let ids = backend.ids(entity)
        try #require(ids.count == 1, "\(ids)")
        return try #require(backend.values(entity, ids[0]))
    }
}
