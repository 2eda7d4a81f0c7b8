import CoreData
import Foundation
import RemoteStore
import WebBackend
import WebTransport

/// Writes notes through a cached store over Kinto until it is killed, or sends what is left and prints what it shows.
///
/// `kinto-writer ADDRESS CACHE USER write|finish`; the password is in `KINTO_PASSWORD`. Step n makes note n; each third step changes the note before,
/// each fifth deletes the one before that, and each sixth reads everything from the server.
@main struct KintoWriter {
    let store: CachedStore
    let context: NSManagedObjectContext

    static func main() async {
        let arguments = CommandLine.arguments
        do {
            guard arguments.count == 5 else { throw CocoaError(.userCancelled) }
            let writer = try KintoWriter(address: arguments[1], cache: URL(fileURLWithPath: arguments[2]), user: arguments[3])
            if arguments[4] == "write" { try await writer.write() } else { try await writer.finish() }
        } catch {
            say("failed: \(error)")
            exit(1)
        }
    }

    /// Prints a line at once: what was printed before a kill counts.
    private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    private init(address: String, cache: URL, user: String) throws {
        let note = NSEntityDescription(name: "Note")
        note.properties = [
            NSAttributeDescription(name: "mark", type: .integer64), NSAttributeDescription(name: "text", type: .string),
        ]
        let model = NSManagedObjectModel(entities: [note])
        var style = ServiceStyle.kinto
        // A new note that is sent again is recognised.
        style.saving?.identity = .newUUID
        var options = WebClient.Options()
        options.authentication = .basic(user: user, password: .environment("KINTO_PASSWORD"))
        let backend = try WebBackend(
            WebService(address, style: style), model: model, transport: AsyncHTTPClientTransport(), options: options)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        store = try coordinator.addCachedStore(backend, at: cache, options: CachedStoreOptions(defaultPolicy: .cacheOnly))
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
    }

    private func notes(_ format: String? = nil) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = format.map { NSPredicate(format: $0) }
        return try context.fetch(request)
    }

    private func write() async throws {
        var step = try await context.perform { try notes().compactMap { $0.value(forKey: "mark") as? Int }.max() ?? 0 }
        while true {
            step += 1
            let number = step
            try await context.perform {
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                note.setValue(number, forKey: "mark")
                note.setValue("new", forKey: "text")
                if number % 3 == 0 { try notes("mark == \(number - 1)").first?.setValue("changed \(number)", forKey: "text") }
                if number % 5 == 0, let old = try notes("mark == \(number - 2)").first { context.delete(old) }
                try context.save()
            }
            Self.say("saved \(number)")
            guard number % 6 == 0 else { continue }
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.cachePolicy = .networkOnly
            let objects = try await context.fetchAsynchronously(request)
            _ = objects.count
        }
    }

    private func finish() async throws {
        for _ in 0..<1000 where try store.pendingCount() > 0 { try await store.sendPending() }
        for change in try store.pendingChanges() { Self.say("pending: \(change)") }
        try await context.perform {
            for note in try notes() { Self.say("note \(note.value(forKey: "mark") ?? "") \(note.value(forKey: "text") ?? "")") }
        }
    }
}
