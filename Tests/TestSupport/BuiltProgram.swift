package import Foundation

/// The programs that are built beside the tests.
package enum BuiltProgram {
    /// The program of the tests themselves.
    package static var tests: URL { URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath() }

    /// The command `coredata`, which has the name of its product, or of its target where that is built alone.
    package static var command: URL { file("coredata", "CoreDataCommand") }

    /// Returns the file of the program with the first of the names that there is, or would be, beside the tests.
    package static func file(_ names: String...) -> URL {
        let files = names.map { tests.deletingLastPathComponent().appendingPathComponent($0) }
        return files.first { FileManager.default.isExecutableFile(atPath: $0.path) } ?? files[0]
    }

    /// Returns a process of the program `store-writer` that has not begun.
    package static func storeWriter(_ arguments: String...) -> Process { storeWriter(arguments) }

    /// Returns a process of the program `store-writer` that has not begun.
    package static func storeWriter(_ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = file("store-writer")
        process.arguments = arguments
        return process
    }
}
