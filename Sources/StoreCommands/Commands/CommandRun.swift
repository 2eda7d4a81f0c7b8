#if Command
package import ArgumentParser
internal import Foundation
internal import Logging
internal import Platform
internal import Predicates

/// Runs the command of a process.
package enum CommandRun {
    /// The words of the user: the arguments of the process, and later those of the shell's command.
    static let words = LockedBox(Array(CommandLine.arguments.dropFirst()))

    /// Runs the command in the arguments, and ends the process.
    ///
    /// - Parameter commands: Commands of modules above this one.
    package static func main(adding commands: [any ParsableCommand.Type] = []) -> Never {
        CoreDataTool.added.set(commands)
        Interruption.watch()
        // Warnings for programs, such as missing classes, are not shown. Statements are shown on request.
        let asksForSQL = ProcessInfo.processInfo.environment["COREDATA_SQL_DEBUG"] != nil
        LoggingSystem.bootstrap { label in
            guard asksForSQL else { return SwiftLogNoOpLogHandler() }
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = .debug
            return handler
        }
        let code = run()
        TemporaryFolders.removeAll()
        exit(code)
    }

    private static func run() -> Int32 {
        do {
            var command = try CoreDataTool.parseAsRoot()
            try command.run()
            return 0
        } catch {
            // The parser reports wrong usage, and answers requests for help.
            let code = CoreDataTool.exitCode(for: error)
            if code == .success { CoreDataTool.exit(withError: error) }
            guard code == .validationFailure else { return failed(error) }
            say(CoreDataTool.fullMessage(for: error))
            return code.rawValue
        }
    }

    /// Reports an error, and returns the exit code.
    private static func failed(_ error: any Error) -> Int32 {
        if error is Console.Closed { return 0 }
        if error is CancellationError { return 130 }
        if let code = error as? ExitCode { return code.rawValue }
        report(error)
        return 1
    }

    /// Writes an error to standard error, unless it has no message.
    static func report(_ error: any Error) {
        if error is ExitCode || error is Console.Closed { return }
        say("coredata: " + message(error))
    }

    /// Writes lines to standard error, without the passwords of quoted arguments.
    private static func say(_ text: String) {
        let text = PlaceText.withoutSecrets(text, of: words.withLock { $0 })
        FileHandle.standardError.write(Data((DisplayText.lines(text) + "\n").utf8))
    }

    /// Returns the message of an error, including those of its combined errors.
    package static func message(_ error: any Error) -> String { (error as NSError).localizedDescription }
}
#endif
