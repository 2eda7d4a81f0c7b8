#if Command
internal import ArgumentParser

/// The parts of a query.
struct QueryArguments: ParsableArguments {
    @Argument(help: "The entity.")
    var entity: String

    @Option(name: .customLong("where"), help: "A predicate, such as \"year > 1990 AND artist.name BEGINSWITH[c] 'n'\".")
    var predicate: String?

    // A reversed key begins like an option.
    @Option(parsing: .unconditional, help: "Keys to sort by, such as year,-title; a minus sign reverses one.")
    var sort: String?

    @Option(help: "Shows so many objects at most.")
    var limit: Int?

    @Option(help: "Skips so many objects.")
    var offset: Int?

    @Option(help: "The columns, such as title,artist.name,tracks.@count; otherwise all attributes and to-one relationships.")
    var columns: String?

    @Flag(help: "Leaves out objects of subentities.")
    var excludeSubentities = false

    func query(in store: OpenStore) throws -> Query {
        try Query(
            QueryText(
                entity, where: predicate, sort: sort, limit: limit, offset: offset, columns: columns,
                excludesSubentities: excludeSubentities), in: store)
    }
}

struct QueryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query", abstract: "Shows objects of an entity.",
        discussion: "Predicates are those of NSPredicate: see the chapter Predicates of the documentation.")

    @OptionGroup var store: StoreArguments
    @OptionGroup var query: QueryArguments

    @Flag(help: "Shows only the number of objects.")
    var count = false

    @Option(help: "The form of the result.")
    var format = OutputFormat.table

    func run() throws {
        try print { output in
            let query = try query.query(in: try store.open())
            if count {
                let count = try query.count()
                try output.line(format == .json ? JSONValue.members(["count": .count(count)]).text(indent: false) : "\(count)")
            } else {
                try QueryPrinter(query, to: output).write(format)
            }
        }
    }
}

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Shows how the store answers a query: its SQL, and the plan of SQLite.")

    @OptionGroup var store: StoreArguments
    @OptionGroup var query: QueryArguments
    @OptionGroup var report: ReportArguments

    func run() throws {
        try print { output in
            try QueryExplanation(query.query(in: try store.open())).write(report.format.output, to: output)
        }
    }
}

struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "get", abstract: "Shows an object with all its properties.")

    @OptionGroup var store: StoreArguments

    @Argument(help: "The URI of the object, or its end: Album/p12.")
    var object: String

    @OptionGroup var report: ReportArguments

    func run() throws {
        try print { output in try ObjectReport(object, in: try store.open()).write(report.format.output, to: output) }
    }
}
#endif
