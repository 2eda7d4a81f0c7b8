#if Command
internal import ArgumentParser

extension StoreExport.Form: ExpressibleByArgument {}

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Writes the objects of a store to JSON or CSV files, with their relationships.",
        discussion: """
            A .json file has all entities, a .csv file one, and a folder a file for each. Objects and references are URIs; “coredata import” reads \
            the files.
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The file (.json, .csv) or folder to write; there must be none yet.", completion: .file())
    var files: String

    @Option(help: "Exports this entity only; may be given several times.")
    var entity: [String] = []

    @Option(help: "The form of the files in a folder: csv or json. (default: csv)")
    var format: StoreExport.Form?

    func run() throws {
        try print { output in
            let store = try store.open()
            let count = try ProgressLine.showing("Exporting") { try StoreExport(store, entities: entity).write(to: files, form: format) }
            try output.line("\(DisplayText.counted(count, "object")) exported.")
        }
    }
}

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Reads objects and their relationships from JSON or CSV files into a store.",
        discussion: """
            Without --write, everything is tried and validated, and nothing is changed. With it, all is imported or nothing. An object that the store \
            has is changed, any other is added; none is deleted. Objects are the same by their URIs in the store that they were exported from, and \
            by the attribute after --key, or the uniqueness constraint of their entity, in another. A new store is made by the model after --model. \
            What a PostgreSQL database alone checks is seen with --write only.
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "A .json or .csv file, or a folder of them.", completion: .file())
    var files: String

    @Flag(help: "Writes to the store.")
    var write = false

    @Option(help: "The entity of the file, where neither its records nor its name tell it.")
    var entity: String?

    @Option(help: "The attribute by which objects are the same, in entities that have it.")
    var key: String?

    func run() throws {
        try print { output in
            try store.refuseDescription(of: "import")
            let outcome = try ProgressLine.showing("Importing") {
                try StoreImport.run(
                    files, into: store.store, model: store.model, version: store.modelVersion, entity: entity, key: key, writes: write)
            }
            let counts = [(outcome.added, "added"), (outcome.changed, "changed"), (outcome.unchanged, "unchanged")]
                .map { "\(DisplayText.grouped($0)) \($1)" }.joined(separator: ", ")
            try output.line(write ? "Imported: \(counts)." : "Would be imported: \(counts). Nothing is written without --write.")
        }
    }
}
#endif
