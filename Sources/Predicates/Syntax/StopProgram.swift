/// Stops the program because of a programming error, with a message on the standard error that names the place, in debug and release builds.
///
/// `preconditionFailure` and `precondition` print nothing in a release build. Bad input is an error and never stops the program.
@inlinable @inline(__always) package func stopProgram(
    _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) -> Never { writeAndStop(message, file, line) }

/// Stops the program like ``stopProgram(_:file:line:)`` if a condition does not hold, which the program must ensure.
@inlinable @inline(__always) package func stopProgram(
    unless condition: @autoclosure () -> Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
    if !condition() { writeAndStop(message, file, line) }
}

// Not inlined, and the message is still to be made: the callers contain a jump to a call.
@usableFromInline @inline(never) func writeAndStop(_ message: () -> String, _ file: StaticString, _ line: UInt) -> Never {
    fatalError(message(), file: file, line: line)
}
