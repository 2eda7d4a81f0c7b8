import Foundation

extension Process {
    /// Names a program that ends when these tests end, however that is: signals of a terminal may not reach what they start.
    func run(_ program: URL, _ arguments: [String], output: Pipe) throws {
        let binder = URL(fileURLWithPath: "/usr/bin/setpriv")
        let isBound = FileManager.default.isExecutableFile(atPath: binder.path)
        executableURL = isBound ? binder : program
        self.arguments = (isBound ? ["--pdeathsig", "KILL", program.path] : []) + arguments
        standardOutput = output
        try run()
    }
}
