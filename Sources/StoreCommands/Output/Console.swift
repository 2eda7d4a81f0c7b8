internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The destination of a command's results.
package protocol Output: AnyObject {
    /// Writes text.
    ///
    /// - Throws: ``Console/Closed`` if the reader has closed the output.
    func write(_ text: String) throws
    /// The width of the terminal; nil for a file or a pipe.
    var width: Int? { get }
    /// Writes buffered text.
    func flush() throws
}

extension Output {
    /// Writes a line.
    package func line(_ text: String = "") throws { try write(text + "\n") }
}

/// Standard output.
// Used by one thread.
package final class Console: Output {
    /// The error if the reader has closed the output: the command ends without a message.
    package struct Closed: Error {}

    private let descriptor: Int32
    private var kept: [UInt8] = []
    package let width: Int?

    package init(descriptor: Int32 = 1) {
        self.descriptor = descriptor
        width = Self.width(of: descriptor)
        // A reader that closes early causes an error of `write`, not a signal.
        signal(SIGPIPE, SIG_IGN)
    }

    package func write(_ text: String) throws {
        kept.append(contentsOf: text.utf8)
        if kept.count >= 1 << 16 { try flush() }
    }

    package func flush() throws {
        var start = 0
        defer { kept.removeAll(keepingCapacity: true) }
        while start < kept.count {
            let count = kept.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress! + start, $0.count - start) }
            if count > 0 {
                start += count
            } else if errno == EPIPE {
                throw Closed()
            } else if errno != EINTR, errno != EAGAIN {
                throw CommandError.make("The results cannot be written.", reason: String(cString: strerror(errno)))
            }
        }
    }

    private static func width(of descriptor: Int32) -> Int? {
        guard isatty(descriptor) == 1 else { return nil }
        var size = winsize()
        if ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
        return 80
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int { write(descriptor, bytes, count) }

/// Output that is collected in memory.
package final class CollectedOutput: Output {
    package private(set) var text = ""
    package let width: Int?

    package init(width: Int? = nil) { self.width = width }

    package func write(_ text: String) { self.text += text }
    package func flush() {}
}
