#if ManagedAccessors
internal import Foundation
internal import ManagedSources

// The tool of the ManagedAccessors plugin. `--probe swiftc folder stamp` tests a compiler; other arguments describe a job.

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data((message + "\n").utf8))
    exit(1)
}

let arguments = Array(CommandLine.arguments.dropFirst())
do {
    if arguments.first == "--probe" {
        guard arguments.count == 4 else { fail("error: --probe takes the path of swiftc, a folder and a file to write.") }
        if let failure = try ToolchainProbe(compiler: arguments[1]).failure(in: arguments[2]) {
            fail(ToolchainProbe.advice + "\n" + failure)
        }
        try "// The compiler refers to the accessors of @NSManaged as the ManagedAccessors plugin writes them.\n".write(
            toFile: arguments[3], atomically: true, encoding: .utf8)
    } else {
        let problems = try GenerationJob(arguments: arguments).run()
        let text = problems.map(\.description).joined(separator: "\n")
        if problems.contains(where: { !$0.isWarning }) { fail(text) }
        if !problems.isEmpty { FileHandle.standardError.write(Data((text + "\n").utf8)) }
    }
} catch {
    fail("error: \(error)")
}
#else
internal import Foundation

FileHandle.standardError.write(
    Data(
        """
        error: The plugin ManagedAccessors needs swift-syntax, which the package fetches for those who ask for it: enable its trait \
        “ManagedAccessors”, as in .package(url: "…/OpenCoreData", from: "…", traits: ["ManagedAccessors"]).

        """.utf8))
exit(1)
#endif
