#if Command
package import ArgumentParser
internal import Foundation
internal import Platform
internal import Predicates

/// The command `coredata`.
package struct CoreDataTool: ParsableCommand {
    /// The commands of modules above this one.
    static let added = LockedBox<[any ParsableCommand.Type]>([])

    package static let configuration = CommandConfiguration(
        commandName: "coredata", abstract: "Looks into stores and models of Core Data.",
        discussion: """
            Stores are SQLite, XML and binary stores of Core Data, CSV and JSON files, web services, and PostgreSQL databases. Each is opened read-only: no file of it is \
            changed, rows in its log are read, and programs may write to it meanwhile.

            Exit codes: 0 fine, 1 failed or found something, 64 wrong usage.
            """,
        subcommands: [
            InspectCommand.self, QueryCommand.self, ExplainCommand.self, GetCommand.self, HistoryCommand.self, CheckCommand.self,
            DiffCommand.self, CopyCommand.self, ExportCommand.self, ImportCommand.self, ShellCommand.self, MigrateCommand.self,
            ModelCommand.self,
        ] + added.withLock { $0 })

    package init() {}
}

/// The store that a command reads, and its model.
struct StoreArguments: ParsableArguments {
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

    func open() throws -> OpenStore {
        // In the shell, the store is already open.
        if let session = ShellSession.current, session.reference.place == store { return try session.open() }
        return try StoreReference(store, model: model, version: modelVersion, description: description).open()
    }

    /// Throws an error if a command that needs files is given a web service.
    func refuseDescription(of command: String) throws {
        if description != nil { throw CommandError.make("“coredata \(command)” needs a store in files, not a web service.") }
    }
}

extension OutputFormat: ExpressibleByArgument {}

/// The form of a report.
enum ReportFormat: String, CaseIterable, ExpressibleByArgument {
    case table, json

    var output: OutputFormat { self == .json ? .json : .table }
}

struct ReportArguments: ParsableArguments {
    @Option(help: "The form of the result.")
    var format = ReportFormat.table
}

extension ParsableCommand {
    /// Calls `body` with standard output.
    func print(_ body: (any Output) throws -> Void) throws {
        let console = Console()
        // The results before an error are still written.
        do { try body(console) } catch {
            if !(error is Console.Closed) { try console.flush() }
            throw error
        }
        try console.flush()
    }
}
#endif
