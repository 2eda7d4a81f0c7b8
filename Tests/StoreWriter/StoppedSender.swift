import CoreData
import Foundation
import RemoteStore

/// A backend that stops the process as soon as something is sent to it.
private struct StoppingBackend: Backend {
    let location = URL(string: "stopping:")!
    let resources = [Resource("Note", endpoints: [Endpoint("all")], saving: .init(isIdempotent: true))]

    func answer(_ request: BackendRequest) async throws -> BackendAnswer { request.answer() }

    func save(_ changes: [BackendChange]) async throws -> [BackendChange.Key: BackendOutcome] {
        report("stops")
        raise(SIGSTOP)
        exit(0)
    }
}

/// Saves a note through the cached store `cache.sqlite` of a folder, and is stopped while it sends it.
func saveAndStop(in folder: String) async throws {
    let note = NSEntityDescription(name: "Note")
    note.properties = [NSAttributeDescription(name: "text", type: .string)]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [note]))
    let store = try coordinator.addCachedStore(
        StoppingBackend(), at: URL(fileURLWithPath: folder + "/cache.sqlite"), options: CachedStoreOptions(defaultPolicy: .cacheOnly))
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try await context.perform {
        NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue("first", forKey: "text")
        try context.save()
    }
    try await store.sendPending()
}
