import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import Synchronization

/// A backend that answers after a while, and not before another task and a block of the asking context have run: whoever holds the thread of the tasks,
/// or the queue of its context, while it waits for an answer stops the program.
// `state` is guarded by its mutex.
private final class PatientBackend: Backend {
    struct State {
        var ticks = 0
        var isDone = false
        var requests = 0
        var context: NSManagedObjectContext?
    }

    let location = URL(string: "patient:backend")!
    let inner: ScriptedBackend
    private let milliseconds: Int
    let state = Synchronization.Mutex(State())

    init(_ inner: ScriptedBackend, milliseconds: Int) {
        self.inner = inner
        self.milliseconds = milliseconds
    }

    var resources: [Resource] { inner.resources }

    private func waitForOthers() async throws {
        let (ticks, context) = state.withLock { state in
            state.requests += 1
            return (state.ticks, state.context)
        }
        await context?.perform {}
        while state.withLock({ $0.ticks }) == ticks { await Task.yield() }
        try await Task.sleep(for: .milliseconds(milliseconds))
    }

    func answer(_ request: BackendRequest) async throws -> BackendAnswer {
        try await waitForOthers()
        return try await inner.answer(request)
    }

    func save(_ changes: [BackendChange]) async throws -> [BackendChange.Key: BackendOutcome] {
        try await waitForOthers()
        return try await inner.save(changes)
    }
}

private func makeBackend(_ owners: Int, milliseconds: Int) -> (PatientBackend, NSManagedObjectModel) {
    let (owner, child, target) = (
        NSEntityDescription(name: "Owner"), NSEntityDescription(name: "Child"), NSEntityDescription(name: "Target")
    )
    let children = NSRelationshipDescription(name: "children", destination: child, toMany: true)
    let back = NSRelationshipDescription(name: "owner", destination: owner)
    children.inverse(to: back)
    owner.properties = [NSAttributeDescription(name: "number", type: .integer64), children]
    child.properties = [
        NSAttributeDescription(name: "number", type: .integer64), back, NSRelationshipDescription(name: "target", destination: target),
    ]
    target.properties = [NSAttributeDescription(name: "number", type: .integer64)]
    let model = NSManagedObjectModel(entities: [owner, child, target])
    let byID = Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 50)])
    let backend = ScriptedBackend(
        model,
        [
            Resource("Owner", endpoints: [Endpoint("all"), byID], saving: .init()),
            Resource("Child", endpoints: [Endpoint("of", parameters: [Parameter("owner", isRequired: true, maximumValues: 50)]), byID]),
            Resource("Target", endpoints: [byID]),
        ])
    for number in 0..<owners {
        backend.put("Owner", number, ["number": .value(.int64(Int64(number)))])
        for place in 0..<10 {
            let id = number * 10 + place
            backend.put(
                "Child", id,
                [
                    "number": .value(.int64(Int64(id))), "owner": .one(.init(.integer(Int64(number)))),
                    "target": .one(.init(.integer(Int64(id % 7)))),
                ])
        }
    }
    for number in 0..<7 { backend.put("Target", number, ["number": .value(.int64(Int64(number)))]) }
    return (PatientBackend(backend, milliseconds: milliseconds), model)
}

/// Walks from owners to their children and from each to its target, awaited, changes the owners and saves.
func walk(_ owners: Int, milliseconds: Int) async throws {
    let (backend, model) = makeBackend(owners, milliseconds: milliseconds)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addRemoteStore(backend)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    backend.state.withLock { $0.context = context }
    // Another task on the same thread.
    async let ticker: Void = {
        while !backend.state.withLock({ $0.isDone }) {
            backend.state.withLock { $0.ticks += 1 }
            await Task.yield()
        }
    }()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Owner")
    let found = try await context.fetchAsynchronously(request)
    try await context.load(found, "children.target.number")
    let (children, sum) = await context.perform {
        var (children, sum) = (0, Int64(0))
        for owner in found {
            for child in owner.value(forKey: "children") as? Set<NSManagedObject> ?? [] {
                children += 1
                sum += child.value(forKeyPath: "target.number") as? Int64 ?? 0
            }
            owner.setValue(Int64(children), forKey: "number")
        }
        return (children, sum)
    }
    let loaded = backend.state.withLock { $0.requests }
    try await context.saveAsynchronously()
    let requests = backend.state.withLock { state in
        state.isDone = true
        return state.requests
    }
    await ticker
    report("owners \(found.count), children \(children), sum \(sum), requests \(loaded), saves \(requests - loaded)")
}
