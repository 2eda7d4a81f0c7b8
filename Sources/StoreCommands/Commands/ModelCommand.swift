#if Command
internal import ArgumentParser
internal import Foundation
internal import ModelFiles
internal import ObjectGraph

struct ModelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model", abstract: "Shows, checks, compares, converts and draws models.",
        discussion: "A model is a model file, or a store, which keeps its model.",
        subcommands: [ModelShow.self, ModelLint.self, ModelDiff.self, ModelConvert.self, ModelDraw.self])
}

/// The model of a command.
struct ModelArguments: ParsableArguments {
    @Argument(help: "A model file (.xcdatamodeld, .momd, .mom), or a store.", completion: .file())
    var model: String

    @Option(help: "The version in a versioned model; otherwise the current one.")
    var modelVersion: String?

    func read() throws -> NSManagedObjectModel { try ModelSource.model(at: model, version: modelVersion) }
}

struct ModelShow: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Shows the entities of a model and their properties.")

    @OptionGroup var model: ModelArguments

    @Option(help: "Shows this entity only.")
    var entity: String?

    @OptionGroup var report: ReportArguments

    func run() throws {
        try print { output in try ModelReport(try model.read(), entity: entity).write(report.format.output, to: output) }
    }
}

struct ModelLint: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint", abstract: "Looks for mistakes in a model.",
        discussion: "The exit code is 1 where something was found.")

    @OptionGroup var model: ModelArguments
    @OptionGroup var report: ReportArguments

    func run() throws {
        var isFine = true
        try print { output in
            let findings = try model.read().check(namesOfClasses: false)
            isFine = findings.isEmpty
            if report.format == .json {
                let list = findings.map { finding in
                    JSONValue.members([
                        "severity": .string("\(finding.severity)"), "entity": finding.entity.map(JSONValue.string),
                        "property": finding.property.map(JSONValue.string), "message": .string(finding.message),
                        "advice": .string(finding.advice),
                    ])
                }
                return try output.line(JSONValue.array(list).text())
            }
            for finding in findings { try output.line(DisplayText.lines(finding.description)) }
            try output.line(findings.isEmpty ? "Nothing is wrong." : DisplayText.counted(findings.count, "finding") + ".")
        }
        if !isFine { throw ExitCode(1) }
    }
}

struct ModelDiff: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Compares two models, and says whether stores of the first can be migrated without a mapping model.",
        discussion: "The exit code is 1 where they differ.")

    @Argument(help: "A model file, or a store.", completion: .file())
    var first: String

    @Argument(help: "Another one.", completion: .file())
    var second: String

    @Option(help: "The version in the first model.")
    var firstVersion: String?

    @Option(help: "The version in the second model.")
    var secondVersion: String?

    @OptionGroup var report: ReportArguments

    func run() throws {
        var isFine = true
        try print { output in
            let (model, other) = (
                try ModelSource.model(at: first, version: firstVersion), try ModelSource.model(at: second, version: secondVersion)
            )
            let differences = ModelConversion.differences(model, other)
            isFine = differences.isEmpty
            let obstacle = isFine ? nil : ModelConversion.obstacle(from: model, to: other)
            if report.format == .json {
                return try output.line(
                    JSONValue.members([
                        "differences": .array(differences.map(JSONValue.string)), "inferable": .bool(obstacle == nil),
                        "obstacle": obstacle.map(JSONValue.string),
                    ]).text())
            }
            for difference in differences { try output.line(DisplayText.lines(difference)) }
            if isFine { return try output.line("The models are equal.") }
            try output.line(
                obstacle.map { "A mapping model is needed: \(DisplayText.lines($0))" }
                    ?? "Stores of the first are migrated to the second by an inferred mapping.")
        }
        if !isFine { throw ExitCode(1) }
    }
}

struct ModelConvert: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert", abstract: "Writes a model in another form, which the name of the file says.",
        discussion: ".xcdatamodeld and .xcdatamodel for Xcode, .mom compiled, .swift as classes with @ManagedObject.")

    @OptionGroup var model: ModelArguments

    @Argument(help: "The file to write; there must be none yet.", completion: .file())
    var result: String

    func run() throws { try ModelConversion.write(try model.read(), to: result) }
}
#endif
