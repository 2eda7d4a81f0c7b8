import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Several processes with one cache") struct SenderLeaseTests {
    private func isStopped(_ process: Process) -> Bool {
        let status = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)
        return status?.split(separator: ")").last?.split(separator: " ").first == "T"
    }

    @Test("While the process that sends is stopped others save and nobody else sends; when it is killed another one sends")
    func stopped() async throws {
        let scratch = try ScratchFolder("cache")
        defer { scratch.remove() }
        let folder = scratch.url
        let process = BuiltProgram.storeWriter("stop", folder.path, "0")
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        defer { kill(process.processIdentifier, SIGKILL) }
        expect(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self), equals: "stops\n")
        while !isStopped(process), process.isRunning { await Task.yield() }

        let note = NSEntityDescription(name: "Note")
        note.properties = [NSAttributeDescription(name: "text", type: .string)]
        let model = NSManagedObjectModel(entities: [note])
        let backend = ScriptedBackend(model, [Resource("Note", endpoints: [Endpoint("all")], saving: .init(isIdempotent: true))])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addCachedStore(backend, at: folder.appendingPathComponent("cache.sqlite"))
        let context = coordinator.context()
        try await context.perform {
            NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue("second", forKey: "text")
            try context.save()
        }
        try await store.sendPending()
        let status = try store.status()
        expect(status.pendingCount, equals: 2)
        #expect(status.isSentByAnother)
        #expect(backend.ids("Note").isEmpty)

        let killed = ContinuousClock.now
        kill(process.processIdentifier, SIGKILL)
        for await status in store.statuses where status.pendingCount == 0 { break }
        // Half a second, and what a busy machine takes.
        print("SenderLeaseTests: \(ContinuousClock.now - killed) after the sender was killed")
        try expect(store.status().isSentByAnother, equals: false)
        let texts = backend.ids("Note").compactMap { backend.values("Note", $0)?["text"]?.string }
        expect(texts.sorted(), equals: ["first", "second"])
        try coordinator.remove(store)
    }
}
