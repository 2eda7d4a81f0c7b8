#if Command
internal import ArgumentParser

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Looks at every row of a store for what Core Data does not expect.",
        discussion: """
            Of SQLite stores: damage of the file, rows of no entity, keys that would be assigned twice, required values, types of values, references \
            to missing objects, places in ordered relationships, uniqueness, files of large values. Stores of other kinds are checked as they are \
            opened. The exit code is 1 where something was found.
            """)

    @OptionGroup var store: StoreArguments
    @OptionGroup var report: ReportArguments

    func run() throws {
        var isFine = true
        try print { output in
            let findings = try ProgressLine.showing("Checking") { try StoreCheck.findings(in: try store.open()) }
            isFine = findings.isEmpty
            try StoreCheck.write(findings, report.format.output, to: output)
        }
        if !isFine { throw ExitCode(1) }
    }
}
#endif
