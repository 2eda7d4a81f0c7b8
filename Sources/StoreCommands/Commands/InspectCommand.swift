#if Command
internal import ArgumentParser

struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Shows what a store is: its files, model, entities with the numbers of objects, and oddities.")

    @OptionGroup var store: StoreArguments
    @OptionGroup var report: ReportArguments

    func run() throws {
        try print { output in
            let store = try store.open()
            try StoreReport(store).write(report.format.output, to: output)
        }
    }
}

struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Shows the persistent history of a store: its transactions and what they changed.")

    @OptionGroup var store: StoreArguments

    @Option(help: "A date (2024-05-31, 2024-05-31 08:00:00 UTC), or the number of a transaction; those after it are shown.")
    var since: String?

    @Option(help: "Shows the changes of this entity only.")
    var entity: String?

    @Option(help: "Shows so many transactions at most, the last ones.")
    var limit: Int?

    @OptionGroup var report: ReportArguments

    func run() throws {
        try print { output in
            let store = try store.open()
            try HistoryReport(store, since: since, entity: entity, limit: limit).write(report.format.output, to: output)
        }
    }
}
#endif
