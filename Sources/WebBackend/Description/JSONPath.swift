/// The path to a value in JSON: `owner.login`, `tracks[0].title`; empty for the value itself.
///
/// Keys are separated by dots; a path that begins with a slash is a JSON Pointer (RFC 6901), for keys that contain dots.
public struct JSONPath: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// A step of a path.
    public enum Step: Hashable, Sendable {
        /// The value of a key of an object.
        case key(String)
        /// An element of an array.
        case element(Int)
    }

    /// The steps; none for the value itself.
    public var steps: [Step]

    /// Creates a path from its steps.
    public init(steps: [Step] = []) { self.steps = steps }

    /// Creates a path from its text.
    public init(_ text: String) {
        if text.hasPrefix("/") {
            steps = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { part in
                let key = part.replacing("~1", with: "/").replacing("~0", with: "~")
                return Int(key).map { .element($0) } ?? .key(String(key))
            }
            return
        }
        steps = []
        for part in text.split(separator: ".") {
            var rest = part[...]
            let name = rest.prefix { $0 != "[" }
            if !name.isEmpty { steps.append(.key(String(name))) }
            rest = rest.dropFirst(name.count)
            while rest.first == "[", let end = rest.firstIndex(of: "]"), let index = Int(rest[rest.index(after: rest.startIndex)..<end]) {
                steps.append(.element(index))
                rest = rest[rest.index(after: end)...]
            }
            if !rest.isEmpty { steps.append(.key(String(rest))) }
        }
    }

    /// Creates a path from its text.
    public init(stringLiteral value: String) { self.init(value) }

    /// The path as text.
    public var description: String {
        let needsPointer = steps.contains { step in
            if case .key(let key) = step { key.isEmpty || key.contains(where: { ".[]/~".contains($0) }) } else { false }
        }
        if needsPointer {
            return steps.map { step in
                switch step {
                case .key(let key): "/" + key.replacing("~", with: "~0").replacing("/", with: "~1")
                case .element(let index): "/\(index)"
                }
            }.joined()
        }
        return steps.reduce("") { text, step in
            switch step {
            case .key(let key): text.isEmpty ? key : text + "." + key
            case .element(let index): text + "[\(index)]"
            }
        }
    }

    /// Whether this is the value itself.
    public var isEmpty: Bool { steps.isEmpty }

    /// Returns the path that continues another path.
    public static func + (left: JSONPath, right: JSONPath) -> JSONPath { JSONPath(steps: left.steps + right.steps) }
}
