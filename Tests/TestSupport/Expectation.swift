package import Testing

/// Expects two values to be equal.
///
/// It says what `#expect(actual == expected)` says. The compiler needs a quarter of the time for it: a macro's operands are type-checked as one expression,
/// with all functions that are called `==`, and it compiles a description of its source at each place. The tests have more than five thousand of them.
///
/// - Parameters:
///   - actual: What was found.
///   - expected: What it should be.
///   - comment: What a failure says besides the two values.
package func expect<Value: Equatable>(
    _ actual: Value, equals expected: Value, _ comment: @autoclosure () -> Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
) {
    if actual == expected { return }
    let found: Comment = "Expectation failed: it is \(String(reflecting: actual)), and should be \(String(reflecting: expected))."
    Issue.record(comment().map { "\($0) \(found)" } ?? found, sourceLocation: sourceLocation)
}
