import Foundation

/// What the environment says to all tests.
enum TestSetting {
    /// Returns the value of a variable; nil where it is not set.
    ///
    /// A text that is no such value ends the tests: they would not do what was asked for.
    static func value<Value: LosslessStringConvertible>(
        _ name: String, as type: Value.Type = Value.self, in environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Value? {
        guard let text = environment[name], !text.isEmpty else { return nil }
        guard let value = Value(text) else { fatalError("\(name) is “\(text)”, which is no \(Value.self).") }
        return value
    }
}
