internal import Platform

#if Command
internal import ArgumentParser
internal import Foundation
internal import Predicates

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

struct ShellCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shell", abstract: "Takes commands about one store, line by line.",
        discussion: """
            Commands are those of “coredata” without the store: query Album --where "year > 1990". A line with an open quote, or a backslash at its \
            end, goes on with the next. The tabulator completes commands, entities, key paths and operators; lines are kept in coredata/history of \
            the folder that XDG_STATE_HOME names, or of ~/.local/state. Where standard input is no terminal, an error ends the shell, with its line.
            """)

    @OptionGroup var store: StoreArguments

    @Flag(help: "Keeps no lines for later.")
    var noHistory = false

    func run() throws {
        let session = ShellSession(
            StoreReference(store.store, model: store.model, version: store.modelVersion, description: store.description))
        let opened = try session.open()
        ShellSession.current = session
        defer { ShellSession.current = nil }
        if isatty(0) == 1 {
            let completion = ShellCompletion(opened.model)
            let editor = LineEditor(history: noHistory ? nil : Self.history()) { completion.candidates(after: $0, $1) }
            Self.say("\(DisplayText.line(opened.place)): “help” names the commands, “exit” ends.")
            try interact(editor)
        } else {
            try runScript()
        }
    }

    /// Writes a line immediately, as the output of commands is.
    private static func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

    private static func history() -> URL? {
        let environment = ProcessInfo.processInfo.environment
        let folder: URL
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
            folder = URL(fileURLWithPath: state)
        } else if let home = environment["HOME"], home.hasPrefix("/") {
            folder = URL(fileURLWithPath: home).appendingPathComponent(".local/state")
        } else {
            return nil
        }
        return folder.appendingPathComponent("coredata/history")
    }

    // MARK: A terminal

    private func interact(_ editor: LineEditor) throws {
        var text = ""
        while let line = editor.read(text.isEmpty ? "coredata> " : "     ...> ", after: text) {
            text += line
            guard case .words(let words) = ShellWords.split(text) else {
                text += "\n"
                continue
            }
            if !words.isEmpty { editor.remember(text) }
            text = ""
            if Self.isEnd(words) { return }
            do { try execute(words) } catch {
                // After an interrupt, the shell waits for the next command.
                if error is CancellationError {
                    Interruption.forget()
                } else {
                    CommandRun.report(error)
                }
            }
        }
        Self.say("")
    }

    // MARK: A script

    private func runScript() throws {
        var (text, number, first) = ("", 0, 1)
        while let line = readLine() {
            number += 1
            if text.isEmpty { first = number }
            text += line
            guard case .words(let words) = ShellWords.split(text) else {
                text += "\n"
                continue
            }
            text = ""
            if Self.isEnd(words) { return }
            do { try execute(words) } catch {
                if error is CancellationError || error is Console.Closed { throw error }
                throw located(error, first)
            }
        }
        if !text.isEmpty { throw CommandError.make("Line \(first): A quote is open at the end, or a backslash ends the last line.") }
    }

    private func located(_ error: any Error, _ line: Int) -> any Error {
        // The command has found something, and has reported it already.
        if let code = error as? ExitCode { return code }
        return CommandError.make("Line \(line): \(CommandRun.message(error))", cause: error)
    }

    // MARK: Commands

    private static func isEnd(_ words: [String]) -> Bool { words == ["exit"] || words == ["quit"] }

    private func execute(_ words: [String]) throws {
        guard let name = words.first else { return }
        CommandRun.words.withLock { $0 += words }
        guard ShellCompletion.options[name] != nil || ["copy", "import", "migrate"].contains(name) else {
            throw CommandError.make("“\(name)” is no command of the shell.", next: "“help” names those that there are.")
        }
        var arguments = words
        switch name {
        case "help" where words.count == 1:
            return Self.say("Commands: \(ShellCompletion.options.keys.sorted().joined(separator: ", ")). “help query” shows one of them.")
        case "help": break
        case "model" where words.count > 1: arguments.insert(store.store, at: 2)
        case "model": throw CommandError.make("“model” needs to know what to do.", next: "Add show, lint, draw or convert.")
        default:
            arguments.insert(store.store, at: 1)
            // These commands open stores themselves.
            if ["copy", "diff", "import"].contains(name), let model = store.model { arguments += ["--model", model] }
        }
        do {
            var command = try CoreDataTool.parseAsRoot(arguments)
            try command.run()
        } catch {
            let code = CoreDataTool.exitCode(for: error)
            // The parser's message is complete: help goes to standard output, wrong usage is an error.
            if code == .success { return Self.say(CoreDataTool.fullMessage(for: error)) }
            if code == .validationFailure { throw CommandError.make(CoreDataTool.message(for: error)) }
            throw error
        }
    }
}
#endif
