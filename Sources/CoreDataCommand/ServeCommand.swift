#if Command
internal import ArgumentParser
internal import Explorer
internal import ExplorerServer
internal import Foundation
internal import StoreCommands

/// The command `coredata serve`.
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Shows a store in the browser.",
        discussion: """
            Prints an address of this computer to open; other computers cannot reach it. The address holds a token: who has it may read the \
            store, and with --writable change it. An interrupt (control-C) ends it.
            """)

    @Argument(
        help: "The store: a path, a file URL, the description of a web service or its address, or the URL of a PostgreSQL database.",
        completion: .file())
    var store: String

    @Option(
        help: "A model file (.xcdatamodeld, .momd, .mom), instead of the model that the store keeps.",
        completion: .file(extensions: ["xcdatamodeld", "xcdatamodel", "momd", "mom"]))
    var model: String?

    @Option(help: "The version in a versioned model; otherwise the one that fits the store.")
    var modelVersion: String?

    @Option(
        help: "The description (.yaml, .json) of the web service whose address is given instead of a path.",
        completion: .file(extensions: ["yaml", "yml", "json"]))
    var description: String?

    @Option(help: "The port; otherwise one that is free.")
    var port: UInt16 = 0

    @Flag(help: "Lets pages change objects, and save them.")
    var writable = false

    func run() throws {
        let session = try ExplorerSession(
            StoreReference(store, model: model, version: modelVersion, description: description, isWritable: writable))
        let server = ExplorerServer(session, port: Int(port))
        let ended = Ended()
        let serving = Task {
            do {
                try await server.run { address in
                    print("The explorer is at \(address)")
                    print("It \(writable ? "can change" : "only reads") the store. Control-C ends it.")
                    // All files: standard output may be a pipe, which keeps lines back.
                    fflush(nil)
                }
                ended.end(nil)
            } catch { ended.end(error) }
        }
        // Waits on the main thread, which no task needs.
        var error: (any Error)?
        while error == nil {
            error = ended.wait(0.1)
            do { try Interruption.check() } catch let interruption {
                // The store is closed first; another interrupt ends at once.
                Interruption.forget()
                serving.cancel()
                _ = ended.wait(Self.patience)
                error = interruption
            }
        }
        try session.close()
        if let error { throw error }
    }

    /// The seconds that requests have to end after an interrupt.
    private static let patience = 5.0
}

/// How the server ended.
// `condition` guards the rest.
private final class Ended: @unchecked Sendable {
    private let condition = NSCondition()
    private var isEnded = false
    private var error: (any Error)?

    func end(_ error: (any Error)?) {
        condition.withLock {
            (isEnded, self.error) = (true, error)
            condition.broadcast()
        }
    }

    /// Waits for the end, or a number of seconds; returns why it ended, and nil while it has not.
    func wait(_ seconds: Double) -> (any Error)? {
        condition.withLock {
            if !isEnded { _ = condition.wait(until: Date(timeIntervalSinceNow: seconds)) }
            return isEnded ? error ?? CancellationError() : nil
        }
    }
}
#endif
