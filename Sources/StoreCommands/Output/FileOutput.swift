package import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Writes results to a file.
package enum FileOutput {
    /// Creates a file, and calls `body` with an output that writes to it.
    ///
    /// - Throws: An error that names the file, if it cannot be written, and the errors of `body`.
    package static func write<Result>(_ url: URL, _ body: (any Output) throws -> Result) throws -> Result {
        let descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw CommandError.make(
                "The file \(PlaceText.shown(url.path)) cannot be made.", reason: String(cString: strerror(errno)),
                next: "Give a place that can be written.")
        }
        let console = Console(descriptor: descriptor)
        let result: Result
        do {
            result = try body(console)
            try console.flush()
        } catch {
            close(descriptor)
            throw error
        }
        guard close(descriptor) == 0 else {
            throw CommandError.make("The file \(PlaceText.shown(url.path)) cannot be written.", reason: String(cString: strerror(errno)))
        }
        return result
    }
}
