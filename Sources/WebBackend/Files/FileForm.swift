internal import JSONReading

/// The form of a type's values in a file. One definition reads, writes and describes them, so that these three agree.
struct FileForm<Value: Sendable>: Sendable {
    /// The name of the form in errors: “a whole number”.
    let expected: String
    /// Whether a value is of this form's kind. Of several forms, the first one that accepts a value reads it.
    let accepts: @Sendable (JSONValue) -> Bool
    /// Reads a value. The last argument is the value that it starts from, if the file has only the differences.
    let read: @Sendable (JSONValue, FileContext, Value?) throws -> Value
    /// Writes a value. The last argument is the value that it starts from. The closure throws if the form cannot express the value.
    let write: @Sendable (Value, FileContext, Value?) throws -> JSONValue
    /// Returns the schema.
    let schema: @Sendable (inout FileSchema) -> JSONValue

    /// Returns the form with its schema as a definition, which others refer to by its name.
    func named(_ name: String) -> FileForm {
        let schema = schema
        return FileForm(expected: expected, accepts: accepts, read: read, write: write) { $0.define(name, schema) }
    }

    /// Returns a form whose values are converted from and to those of this form.
    ///
    /// - Parameters:
    ///   - make: Converts a value of this form; nil if that is an error.
    ///   - take: Converts a value to one of this form; nil if this form cannot express it.
    func map<Other: Sendable>(
        _ make: @escaping @Sendable (Value) -> Other?, _ take: @escaping @Sendable (Other) -> Value?
    ) -> FileForm<Other> {
        FileForm<Other>(
            expected: expected, accepts: accepts,
            read: { value, context, _ in
                guard let other = make(try read(value, context, nil)) else { throw context.unexpected(value, expected) }
                return other
            },
            write: { other, context, _ in
                guard let value = take(other) else { throw context.unwritable(expected) }
                return try write(value, context, nil)
            }, schema: schema)
    }

    /// Returns the form with another name in errors.
    func expecting(_ expected: String) -> FileForm {
        FileForm(expected: expected, accepts: accepts, read: read, write: write, schema: schema)
    }

    /// Returns a form that refuses values with a part that would have no effect.
    ///
    /// - Parameter idle: Returns the reason, and the correction; nil for a valid value.
    func refusing(_ idle: @escaping @Sendable (Value) -> (reason: String, next: String)?) -> FileForm {
        FileForm(
            expected: expected, accepts: accepts,
            read: { value, context, base in
                let result = try read(value, context, base)
                if let (reason, next) = idle(result) { throw context.problem(reason, next: next) }
                return result
            }, write: write, schema: schema)
    }

    /// Returns a form that reads a value by the first of several forms that accepts it, and writes it by the first form that can express it.
    static func either(_ forms: FileForm...) -> FileForm {
        let expected = forms.map(\.expected).joined(separator: " or ")
        return FileForm(
            expected: expected, accepts: { value in forms.contains { $0.accepts(value) } },
            read: { value, context, base in
                guard let form = forms.first(where: { $0.accepts(value) }) else { throw context.unexpected(value, expected) }
                return try form.read(value, context, base)
            },
            write: { value, context, base in
                for (index, form) in forms.enumerated() {
                    guard let written = try? form.write(value, context, base) else { continue }
                    // A text that an earlier form would read does not belong to this one.
                    if !forms[..<index].contains(where: { $0.accepts(written) }) { return written }
                }
                throw context.unwritable(expected)
            },
            schema: { schema in .object(["anyOf": .array(forms.map { $0.schema(&schema) })]) })
    }

    /// Returns a form that is looked up when it is used, for forms that contain themselves.
    static func deferred(_ expected: String, _ form: @escaping @Sendable () -> FileForm) -> FileForm {
        FileForm(
            expected: expected, accepts: { form().accepts($0) }, read: { try form().read($0, $1, $2) },
            write: { try form().write($0, $1, $2) }, schema: { form().schema(&$0) })
    }
}

extension FileContext {
    /// Returns the error for a value that a file cannot express.
    func unwritable(_ expected: String) -> FileProblem {
        problem("A file has no form for this value: it would have \(expected).", next: "Describe the service in Swift, or without it.")
    }
}

/// The definitions of a schema, collected while the schema is made.
struct FileSchema {
    /// The definitions, by their names.
    private(set) var definitions: [String: JSONValue] = [:]

    /// Adds a definition, unless it is there. Returns a reference to it.
    mutating func define(_ name: String, _ schema: (inout FileSchema) -> JSONValue) -> JSONValue {
        if definitions[name] == nil {
            // The form may contain itself.
            definitions[name] = .bool(true)
            definitions[name] = schema(&self)
        }
        return ["$ref": .string("#/$defs/" + name)]
    }
}

/// The forms of a file.
enum FileForms {
    /// A string.
    static let text = plain("a string", ["type": "string"], { $0.string }, { .string($0) })
    /// True or false.
    static let flag = plain("true or false", ["type": "boolean"], { $0.bool }, { .bool($0) })

    /// A string, or a number or Boolean that stands for its text.
    static let scalar = FileForm<String>(
        expected: "a string, a whole number, or true or false",
        accepts: { $0.string != nil || $0.integer != nil || $0.bool != nil },
        read: { value, context, _ in
            if let text = value.string { return text }
            if let bool = value.bool { return bool ? "true" : "false" }
            guard let integer = value.integer else { throw context.unexpected(value, "a string, a whole number, or true or false") }
            return String(integer)
        }, write: { text, _, _ in .string(text) }, schema: { _ in ["type": ["string", "integer", "boolean"]] })

    /// JSON that is kept as text: any value, or `{jsonText: …}` for text that only becomes JSON when its templates are filled in.
    static let json = FileForm<String>(
        expected: "JSON", accepts: { _ in true },
        read: { value, context, _ in
            if let object = value.object, object.count == 1, let text = object["jsonText"]?.string { return text }
            guard let bytes = try? value.serialized() else { throw context.unexpected(value, "JSON") }
            return String(decoding: bytes, as: UTF8.self)
        },
        write: { text, _, _ in
            let value = try? JSONValue(parsing: Array(text.utf8))
            guard let value, value != .null, value["jsonText"] == nil, let bytes = try? value.serialized(),
                bytes.elementsEqual(text.utf8)
            else { return ["jsonText": .string(text)] }
            return value
        }, schema: { _ in .bool(true) })

    /// A path in JSON: `a.b[0]`, `/a~1b/0`, or a list of its keys and indices.
    static let path = FileForm<JSONPath>(
        expected: "a path such as owner.login", accepts: { $0.string != nil || $0.array != nil },
        read: { value, context, _ in
            if let text = value.string { return JSONPath(text) }
            guard let steps = value.array else { throw context.unexpected(value, "a path such as owner.login") }
            return JSONPath(
                steps: try steps.enumerated().map { index, step in
                    if let key = step.string { return .key(key) }
                    guard let element = step.integer.flatMap({ Int(exactly: $0) }) else {
                        throw context.at(index).unexpected(step, "a key or an index")
                    }
                    return .element(element)
                })
        },
        write: { path, _, _ in
            let text = path.description
            if JSONPath(text) == path { return .string(text) }
            return .array(
                path.steps.map { step in
                    switch step {
                    case .key(let key): .string(key)
                    case .element(let index): .integer(Int64(index))
                    }
                })
        }, schema: { _ in ["type": ["string", "array"], "items": ["type": ["string", "integer"]]] })

    /// Returns the form of whole numbers within bounds.
    static func integer(from minimum: Int = .min, to maximum: Int = .max) -> FileForm<Int> {
        var schema: JSONObject = ["type": "integer"]
        var expected = "a whole number"
        if minimum > .min {
            schema["minimum"] = .integer(Int64(minimum))
            expected += " of at least \(minimum)"
        }
        if maximum < .max {
            schema["maximum"] = .integer(Int64(maximum))
            expected += " and at most \(maximum)"
        }
        let result = JSONValue.object(schema)
        return plain(
            expected, result, { $0.integer.flatMap { Int(exactly: $0) }.flatMap { minimum <= $0 && $0 <= maximum ? $0 : nil } },
            { .integer(Int64($0)) }, accepts: { $0.double != nil })
    }

    /// A number.
    static let number = plain("a number", ["type": "number"], { $0.double }, { $0.isFinite ? number($0) : nil })

    /// A time in seconds, within the range of every clock.
    static let seconds = plain(
        "a number of seconds from 0 to 100000000", ["type": "number", "minimum": 0, "maximum": 100_000_000],
        { $0.double.flatMap { 0 <= $0 && $0 <= 1e8 ? $0 : nil } }, { 0 <= $0 && $0 <= 1e8 ? number($0) : nil },
        accepts: { $0.double != nil })

    /// Returns the JSON of a number, as an integer if it is whole.
    private static func number(_ double: Double) -> JSONValue {
        let value = JSONValue.number(double)
        return value.integer.map { $0 == 0 && double.sign == .minus ? value : .integer($0) } ?? value
    }

    /// Returns the form of one kind of JSON.
    static func plain<Value: Sendable>(
        _ expected: String, _ schema: JSONValue, _ read: @escaping @Sendable (JSONValue) -> Value?,
        _ write: @escaping @Sendable (Value) -> JSONValue?, accepts: (@Sendable (JSONValue) -> Bool)? = nil
    ) -> FileForm<Value> {
        FileForm(
            expected: expected, accepts: accepts ?? { read($0) != nil },
            read: { value, context, _ in
                guard let result = read(value) else { throw context.unexpected(value, expected) }
                return result
            },
            write: { value, context, _ in
                guard let result = write(value) else { throw context.unwritable(expected) }
                return result
            }, schema: { _ in schema })
    }
}
