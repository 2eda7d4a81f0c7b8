import Foundation
import Testing
import WebTransport

@Suite("The example of things to do", .enabled(if: PythonServer.absence == nil, "Python or its packages are missing"))
struct ToDoTests {
    @Test("What is added is listed until it is done or removed, by a run of the program each") func commands() throws {
        let server = try PythonServer.kinto.get()
        let user = "todo-\(UUID().uuidString.lowercased())"
        try Kinto.send(.put, "\(server.address)/v1/accounts/\(user)", #"{"data": {"password": "secret"}}"#, .none)
        func todo(_ arguments: String...) throws -> String {
            try Self.run(arguments, ["TODO_SERVER": "\(server.address)/v1", "TODO_USER": user, "TODO_PASSWORD": "secret"])
        }
        #expect(try todo("add", "Water the plants", "Home") == "")
        #expect(try todo("add", "Buy “milk”, 1 %", "Shop") == "")
        #expect(try todo("add", "Sweep", "Home") == "")
        #expect(try todo("list") == "Buy “milk”, 1 % (Shop)\nSweep (Home)\nWater the plants (Home)\n")
        #expect(try todo("done", "Sweep") == "1 done\n")
        #expect(try todo("done", "Sweep") == "0 done\n")
        #expect(try todo("list") == "Buy “milk”, 1 % (Shop)\nWater the plants (Home)\n")
        #expect(try todo("remove", "Home") == "removed\n")
        #expect(try todo("remove", "Home") == "There is no list “Home”.\n")
        #expect(try todo("list") == "Buy “milk”, 1 % (Shop)\n")
    }

    /// Runs the program, which was built beside the tests, and returns what it prints.
    private static func run(_ arguments: [String], _ environment: [String: String]) throws -> String {
        let process = Process()
        let (output, errors) = (Pipe(), Pipe())
        let here = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        process.executableURL = here.appendingPathComponent("todo")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let problem = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw PythonServer.Failure(description: "todo \(arguments.joined(separator: " ")) has failed: \(problem)")
        }
        return text
    }
}
