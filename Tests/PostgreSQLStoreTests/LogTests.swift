#if PostgreSQL
import CoreData
import Foundation
import Logging
import Synchronization
import Testing

@testable import PostgreSQLStore

/// In a process of its own: where a program logs to is said once.
@Suite("What is logged about PostgreSQL") struct LogTests {
    /// Gathers what is logged.
    private struct Lines: LogHandler {
        final class Kept: Sendable {
            let lines = Synchronization.Mutex<[String]>([])
            var all: [String] { lines.withLock { $0 } }
        }
        let kept: Kept
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) { kept.lines.withLock { $0.append("\(event.level): \(event.message) \(event.metadata ?? [:])") } }
    }

    @Test("Lost connections, refused ones and repeated saves are logged without any password") func passwords() async {
        await #expect(processExitsWith: .success) {
            let kept = Lines.Kept()
            LoggingSystem.bootstrap { _ in Lines(kept: kept) }
            let (secret, other) = ("geheim-\(UUID().uuidString)", "geheim-\(UUID().uuidString)")
            let server = try server()
            var options = freshOptions()
            options.password = { other }
            options.postsRemoteChanges = true
            let coordinator = try await coordinator(
                options, LivingWithOthersTests.model(),
                url: "postgresql://tester:\(secret)@127.0.0.1:\(server.port)/postgres?application_name=watched&passfile=\(secret)")
            let context = context(coordinator)
            let raw = try rawPool(options)
            for label in ["a", "b", "c"] {
                try await context.perform {
                    context.insert("Tag", ["label": label])
                    try context.save()
                }
                // The store finds its connections gone, and the listener opens another one.
                _ = try await raw.with {
                    try await $0.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'watched'")
                }
                _ = try await context.fetchAsynchronously(NSFetchRequest<NSManagedObject>(entityName: "Tag"))
            }
            while !kept.all.contains(where: { $0.contains("is opened again") }) { await Task.yield() }
            let refused = NSPersistentStoreCoordinator(managedObjectModel: LivingWithOthersTests.model())
            _ = try? await refused.addPostgreSQLStore(at: "postgresql://tester:\(secret)@127.0.0.1:1/postgres", options: options)
            #expect(!kept.all.isEmpty)
            for line in kept.all { #expect(!line.contains(secret) && !line.contains(other), "\(line)") }
        }
    }
}
#endif
