#if Command
internal import ArgumentParser
internal import Foundation
internal import Migration

struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Compares two stores object by object.",
        discussion: """
            Objects are the same by their keys in copies of one store, and by a uniqueness constraint of their entity otherwise. The exit code is 1 \
            where the stores differ, also in values of properties that only one of them has.
            """)

    @Argument(help: "A store.", completion: .file())
    var first: String

    @Argument(help: "Another one.", completion: .file())
    var second: String

    @Option(help: "The attribute by which objects are the same, in entities that have it.")
    var key: String?

    @Option(help: "Compares objects of this entity only.")
    var entity: String?

    @Option(help: "A model file for both, instead of the models that they keep.", completion: .file())
    var model: String?

    @OptionGroup var report: ReportArguments

    func run() throws {
        var isDifferent = false
        try print { output in
            let stores = try [first, second].map { try StoreReference($0, model: model).open() }
            isDifferent = try StoreDifference(stores[0], stores[1], key: key).write(report.format.output, entity: entity, to: output)
        }
        if isDifferent { throw ExitCode(1) }
    }
}

struct CopyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy", abstract: "Copies a store to a new one of any kind.",
        discussion: "A copy from SQLite to SQLite keeps the UUID of the store and the URIs of its objects; any other copy has new ones.")

    @OptionGroup var store: StoreArguments

    @Argument(
        help: """
            The copy: its name tells its kind (.sqlite, .xml, .binary, .json, .csv, a folder of CSV files with a slash at the end); or the URL of a \
            PostgreSQL database.
            """)
    var copy: String

    @Option(help: "The kind of the copy: sqlite, xml, binary, csv or json.")
    var kind: CopyKind?

    enum CopyKind: String, CaseIterable, ExpressibleByArgument {
        case sqlite, xml, binary, csv, json
        var kind: StoreKind {
            switch self {
            case .sqlite: .sqlite
            case .xml: .xml
            case .binary: .binary
            case .csv: .csv
            case .json: .json
            }
        }
    }

    func run() throws {
        try print { output in
            let source = StoreReference(
                store.store, model: store.model, version: store.modelVersion, description: store.description, decodesTransformables: true)
            let count = try ProgressLine.showing("Copying") { try StoreCopying(source).copy(to: copy, kind: kind?.kind) }
            try output.line("\(DisplayText.counted(count, "object")) copied.")
        }
    }
}

struct MigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Migrates a store to the current version of a model.",
        discussion: "This writes to the store; --dry-run says what it would do, and leaves it as it is.")

    @Argument(help: "The store.", completion: .file())
    var store: String

    @Option(help: "The model, with its versions; mapping models beside it are used.", completion: .file())
    var model: String

    @Option(help: "The version to migrate to; otherwise the current one.")
    var modelVersion: String?

    @Flag(help: "Says what would be done, and does not do it.")
    var dryRun = false

    func run() throws {
        var wouldFail = false
        try print { output in
            let migrating = try StoreMigrating(store, model: model, version: modelVersion)
            let plan = try migrating.plan()
            wouldFail = plan.wouldFail
            if dryRun || plan.isEmpty { return try output.line(DisplayText.lines(plan.description)) }
            try ProgressLine.showing("Migrating") { try migrating.migrate() }
            try output.line("Migrated in \(DisplayText.counted(plan.steps.count, "step")).")
        }
        if dryRun, wouldFail { throw ExitCode(1) }
    }
}
#endif
