#if YAML
internal import Foundation
internal import JSONReading
internal import Yams

extension WebService {
    /// Reads YAML.
    ///
    /// - Throws: Code 134080, naming the place, for a mistake in the description, and for authentication and limits, which ``WebServiceFile`` reads.
    public init(yaml: String) throws { self = try WebServiceFile(yaml: yaml).serviceAlone("its beginning") }
}

extension WebServiceFile {
    /// Reads YAML.
    ///
    /// - Throws: Code 134080, naming the place, for a mistake in the description.
    public init(yaml: String) throws { self = try DescriptionSource(yaml: yaml, name: nil).file() }
}

extension DescriptionSource {
    /// Reads YAML by its core schema: `true`, `false` and `null` are not strings, `yes` and `no` are.
    ///
    /// - Throws: Code 134080 for text that is not YAML.
    init(yaml: String, name: String?) throws {
        do {
            guard let node = try Parser(yaml: yaml).singleRoot() else {
                throw Self.syntaxError(name, nil, "There is no description.")
            }
            var reader = YAMLReader(name: name)
            self.init(name: name, value: try reader.value(of: node, [])) { Self.place(of: $0, in: node) }
            plainKeys = reader.plainKeys
        } catch let error as YamlError {
            throw Self.syntaxError(error, name)
        }
    }

    private static func syntaxError(_ error: YamlError, _ name: String?) -> NSError {
        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let text = [context?.text, problem].compactMap { $0 }.joined(separator: " ").trimmingCharacters(in: .whitespacesAndNewlines)
            return syntaxError(name, (mark.line, mark.column), "This is not YAML: \(text).")
        case .duplicatedKeysInMapping(_, let context):
            return syntaxError(name, (context.mark.line, context.mark.column), "A key of this object is there twice.")
        default: return syntaxError(name, nil, "This is not YAML, or not one document of it.")
        }
    }

    private static func place(of path: [FileStep], in root: Node) -> (line: Int, column: Int)? {
        var node = root
        var mark = root.mark
        for step in path {
            switch (step, node) {
            case (.key(let key), .mapping(let mapping)):
                guard let pair = mapping.reversed().first(where: { $0.key.scalar?.string == key }) else {
                    return mark.map { ($0.line, $0.column) }
                }
                (node, mark) = (pair.value, pair.key.mark ?? mark)
            case (.element(let index), .sequence(let sequence)):
                guard index < sequence.count else { return mark.map { ($0.line, $0.column) } }
                (node, mark) = (sequence[index], sequence[index].mark ?? mark)
            default: return mark.map { ($0.line, $0.column) }
            }
        }
        return mark.map { ($0.line, $0.column) }
    }
}

/// Converts YAML to JSON.
private struct YAMLReader {
    /// The maximum number of values in a description: aliases (`*name`) can multiply a few of them.
    static let maximum = 100_000

    let name: String?
    private var count = 0
    /// The keys that are numbers or Booleans.
    private(set) var plainKeys: [[FileStep]: JSONValue] = [:]

    init(name: String?) { self.name = name }

    mutating func value(of node: Node, _ path: [FileStep]) throws -> JSONValue {
        count += 1
        guard count <= Self.maximum else { throw error(node, "There are more than \(Self.maximum) values.") }
        guard path.count <= DescriptionSource.maximumDepth else {
            throw error(node, "More than \(DescriptionSource.maximumDepth) objects and lists stand in one another.")
        }
        switch node {
        case .scalar(let scalar): return Self.value(of: scalar)
        case .sequence(let sequence): return .array(try sequence.enumerated().map { try value(of: $1, path + [.element($0)]) })
        case .mapping(let mapping):
            return .object(
                JSONObject(
                    try mapping.map { pair in
                        guard case .scalar(let key) = pair.key else { throw error(pair.key, "A key must be a word.") }
                        let path = path + [.key(key.string)]
                        switch Self.value(of: key) {
                        case .string, .null: break
                        case let plain: plainKeys[path] = plain
                        }
                        return JSONObject.Member(key: key.string, value: try value(of: pair.value, path))
                    }))
        default: throw error(node, "This name stands for no value.")
        }
    }

    private func error(_ node: Node, _ reason: String) -> NSError {
        DescriptionSource.syntaxError(name, node.mark.map { ($0.line, $0.column) }, reason)
    }

    /// Returns the value of a plain scalar. A quoted one is a string.
    private static func value(of scalar: Node.Scalar) -> JSONValue {
        let text = scalar.string
        guard scalar.style == .any || scalar.style == .plain, scalar.tag.description != Tag.Name.str.rawValue else { return .string(text) }
        switch text {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        default: break
        }
        // Numbers as in JSON, and also with a plus sign or without digits before the point.
        guard let first = text.utf8.first, (48...57).contains(first) || "+-.".utf8.contains(first) else { return .string(text) }
        if let number = try? JSONValue(parsing: Array(text.utf8)), number.double != nil { return number }
        let isDecimal = text.utf8.allSatisfy { (48...57).contains($0) || "+-.eE".utf8.contains($0) }
        guard isDecimal, let double = Double(text.hasSuffix(".") ? text + "0" : text), double.isFinite else { return .string(text) }
        return JSONValue.number(double)
    }
}
#endif
