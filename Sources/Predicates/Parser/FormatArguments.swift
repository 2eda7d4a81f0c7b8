import Foundation

/// The arguments of a format, consumed in order.
struct FormatArguments {
    private let values: [Any?]
    private(set) var used = 0

    init(_ values: [Any?]) {
        self.values = values
    }

    var count: Int { values.count }
    var remaining: Int { values.count - used }

    private mutating func take(for token: FormatToken, in parser: FormatParser) throws -> Any? {
        guard used < values.count else {
            throw parser.failure(
                .arguments, "There are fewer arguments (\(values.count)) than placeholders", at: token, expected: "an argument")
        }
        defer { used += 1 }
        return values[used]
    }

    /// Returns the argument of a placeholder.
    mutating func node(for token: FormatToken, in parser: FormatParser) throws -> FormatParser.Node {
        guard case .placeholder(let placeholder) = token.kind else { throw parser.unexpected(token, expected: "a placeholder") }
        if placeholder == .key { return .expression(ExpressionTree.evaluatedObject.appendingPath(try keys(for: token, in: parser))) }
        let argument = try take(for: token, in: parser)
        if placeholder == .value, let node = try FormatArguments.node(argument) { return node }
        let value: PropertyValue
        do {
            value = try PropertyValue(any: argument)
        } catch let error as InvalidPredicateError {
            throw parser.failure(.arguments, error.message, at: token, expected: "a property value, a collection or an object")
        }
        return .expression(.constant(try FormatArguments.checked(value, placeholder, token, parser)))
    }

    /// Returns the keys of a `%K` placeholder.
    mutating func keys(for token: FormatToken, in parser: FormatParser) throws -> [String] {
        let argument = try take(for: token, in: parser)
        guard let path = argument as? String else {
            throw parser.failure(.arguments, "A key must be given as a string", at: token, expected: "a string")
        }
        let keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard keys.allSatisfy({ !$0.isEmpty }) else {
            throw parser.failure(.arguments, "\"\(path)\" is not a key path", at: token, expected: "keys joined by dots")
        }
        if let error = InvalidPredicateError.ofPath(with: keys.count) {
            throw parser.failure(error.kind, error.message, at: token, expected: "a shorter key path")
        }
        return keys
    }

    /// Returns the node of an argument that is already a tree.
    private static func node(_ argument: Any?) throws -> FormatParser.Node? {
        switch argument {
        case let expression as ExpressionTree: .expression(expression)
        case let tree as PredicateTree: .predicate(tree)
        case let predicate as NSPredicate: .predicate(try predicate.tree())
        case let convertible as any ExpressionConvertible: .expression(convertible.expressionTree)
        default: nil
        }
    }

    private static func checked(
        _ value: PropertyValue, _ placeholder: FormatToken.Placeholder, _ token: FormatToken, _ parser: FormatParser
    ) throws -> PropertyValue {
        switch (placeholder, value) {
        case (.value, _), (.key, _): return value
        case (.integer, .int64), (.integer, .decimal), (.double, .double), (.double, .decimal): return value
        case (.integer, .bool(let flag)): return .int64(flag ? 1 : 0)
        case (.double, .int64(let number)): return .double(Double(number))
        case (.character, .int64): return value
        case (.character, .string(let text)) where text.count == 1: return value
        case (.text, .string): return value
        case (.integer, _):
            throw parser.failure(.arguments, "Expected an integer, found \(value.typeName)", at: token, expected: "an integer")
        case (.double, _): throw parser.failure(.arguments, "Expected a number, found \(value.typeName)", at: token, expected: "a number")
        case (.character, _):
            throw parser.failure(.arguments, "Expected a character, found \(value.typeName)", at: token, expected: "a character")
        case (.text, _): throw parser.failure(.arguments, "Expected a string, found \(value.typeName)", at: token, expected: "a string")
        }
    }
}

/// A type whose instances are expressions and may be passed as `%@`.
public protocol ExpressionConvertible {
    /// The expression.
    var expressionTree: ExpressionTree { get }
}

extension ExpressionTree {
    /// Appends keys to the key path of an argument, in which `SELF` keeps its meaning.
    fileprivate func appendingPath(_ keys: [String]) -> ExpressionTree {
        guard keys[0].uppercased() == "SELF" else { return appending(keys) }
        return keys.count == 1 ? self : appending(Array(keys.dropFirst()))
    }
}
