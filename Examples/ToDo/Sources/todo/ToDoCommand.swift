import CoreData
import Foundation
import ToDoModel
import WebTransport

/// `todo add "Water the plants" Home`, `todo list`, `todo done "Water the plants"`, `todo remove Home`.
///
/// The server is named by `TODO_SERVER` and `TODO_USER`, the password is in `TODO_PASSWORD`.
@main struct ToDoCommand {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let environment = ProcessInfo.processInfo.environment
        do {
            guard let server = environment["TODO_SERVER"], let user = environment["TODO_USER"] else {
                fail("Set TODO_SERVER (such as http://127.0.0.1:8888/v1), TODO_USER and TODO_PASSWORD.")
            }
            let store = try ToDoStore(server: server, user: user, password: .environment("TODO_PASSWORD"))
            switch (arguments.first, arguments.count) {
            case ("add", 3): try await store.add(arguments[1], to: arguments[2])
            case ("list", 1): for line in try await store.open() { print(line) }
            case ("done", 2): print("\(try await store.finish(arguments[1])) done")
            case ("remove", 2): print(try await store.remove(arguments[1]) ? "removed" : "There is no list “\(arguments[1])”.")
            default: fail("todo add TITLE LIST | list | done TITLE | remove LIST")
            }
        } catch { fail((error as NSError).localizedDescription) }
    }

    private static func fail(_ message: String) -> Never {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        exit(1)
    }
}
