/// The package's traits that the tests are built with.
package enum BuiltTraits {
    #if Command
    /// Whether the command `coredata` is built, which many tests run as a process.
    package static let hasCommand = true
    #else
    /// Whether the command `coredata` is built, which many tests run as a process.
    package static let hasCommand = false
    #endif

    /// Why a test is skipped without the command.
    package static let needsCommand = "It runs the command, which is built with the trait Command."
}
