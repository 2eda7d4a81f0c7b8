import CoreData
import Foundation
import RemoteStore
import ToDoModel
import WebTransport

/// `todo add "Water the plants" Home`, `todo list`, `todo done "Water the plants"`, `todo rename OLD NEW`, `todo remove Home`, `todo waiting`.
///
/// The server is named by `TODO_SERVER` and `TODO_USER`, the password is in `TODO_PASSWORD`; `TODO_CACHE` is the place of the file.
@main struct ToDoCommand {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let environment = ProcessInfo.processInfo.environment
        do {
            guard let server = environment["TODO_SERVER"], let user = environment["TODO_USER"] else {
                fail("Set TODO_SERVER (such as http://127.0.0.1:8888/v1), TODO_USER and TODO_PASSWORD.")
            }
            let store = try ToDoStore(
                server: server, user: user, password: .environment("TODO_PASSWORD"), cache: try place(environment["TODO_CACHE"]),
                transport: AsyncHTTPClientTransport())
            try await sync(store, isQuiet: true)
            switch (arguments.first, arguments.count) {
            case ("add", 3): try await store.add(arguments[1], to: arguments[2])
            case ("list", 1): for line in try await store.open() { print(line) }
            case ("done", 2): print("\(try await store.finish(arguments[1])) done")
            case ("rename", 3): print("\(try await store.rename(arguments[1], to: arguments[2])) renamed")
            case ("remove", 2): print(try await store.remove(arguments[1]) ? "removed" : "There is no list “\(arguments[1])”.")
            case ("waiting", 1): for line in try await store.waiting() { print(line) }
            default: fail("todo add TITLE LIST | list | done TITLE | rename TITLE NEW | remove LIST | waiting")
            }
            try await sync(store)
        } catch { fail((error as NSError).localizedDescription) }
    }

    /// Sends and reads what there is. Without the server the program goes on with what is in the file.
    private static func sync(_ store: ToDoStore, isQuiet: Bool = false) async throws {
        do { try await store.sync() } catch {
            if isQuiet { return }
            let count = try store.store.pendingCount()
            say("\((error as NSError).localizedDescription)\n\(count == 0 ? "Nothing waits" : "\(count) changes wait") for the server.")
        }
    }

    private static func place(_ path: String?) throws -> URL {
        if let path { return URL(fileURLWithPath: path) }
        let folder = try FileManager.default.url(for: .cachesDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
        return folder.appendingPathComponent("todo.sqlite")
    }

    private static func say(_ message: String) { FileHandle.standardError.write(Data((message + "\n").utf8)) }

    private static func fail(_ message: String) -> Never {
        say(message)
        exit(1)
    }
}
