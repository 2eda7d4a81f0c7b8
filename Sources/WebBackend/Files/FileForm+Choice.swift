internal import JSONReading

/// One of the alternatives of a choice: a word, or a key with a value.
struct FileCase<Value: Sendable>: Sendable {
    /// The reader, writer and schema of a key's value.
    struct Payload: Sendable {
        let read: @Sendable (JSONValue, FileContext) throws -> Value
        /// Returns nil for the values of other cases.
        let write: @Sendable (Value, FileContext) throws -> JSONValue?
        let schema: @Sendable (inout FileSchema) -> JSONValue
        /// Whether it may also be written after the word and a colon: `header:Next-Page`.
        let isText: Bool
    }

    let name: String
    let aliases: [String]
    let summary: String
    /// The value of the word; nil for a key with a value.
    let value: Value?
    /// Whether a value is that of the word.
    let isValue: @Sendable (Value) -> Bool
    let payload: Payload?

    /// A word.
    static func word(_ name: String, _ value: Value, aliases: [String] = [], _ summary: String = "") -> FileCase where Value: Equatable {
        word(name, value, aliases: aliases, summary) { $0 == value }
    }

    /// A word whose value is recognised by a closure.
    static func word(
        _ name: String, _ value: Value, aliases: [String] = [], _ summary: String, isValue: @escaping @Sendable (Value) -> Bool
    ) -> FileCase { FileCase(name: name, aliases: aliases, summary: summary, value: value, isValue: isValue, payload: nil) }

    /// A key with a value.
    ///
    /// - Parameters:
    ///   - make: Creates the value from the key's value.
    ///   - take: Returns the key's value for a value; nil for the values of other cases.
    static func key<Part: Sendable>(
        _ name: String, _ form: FileForm<Part>, _ summary: String, isText: Bool = false, make: @escaping @Sendable (Part) -> Value,
        take: @escaping @Sendable (Value) -> Part?
    ) -> FileCase {
        let payload = Payload(
            read: { make(try form.read($0, $1, nil)) },
            write: { value, context in try take(value).map { try form.write($0, context, nil) } },
            schema: form.schema, isText: isText)
        return FileCase(name: name, aliases: [], summary: summary, value: nil, isValue: { _ in false }, payload: payload)
    }
}

extension FileForm {
    /// Returns the form of a value that is one of several words or keys with a value: `eTag`, `{number: last_modified}`, `number:last_modified`.
    static func choice(_ what: String, _ cases: [FileCase<Value>]) -> FileForm {
        let words = cases.filter { $0.value != nil }.flatMap { [$0.name] + $0.aliases }
        let keys = cases.filter { $0.payload != nil }
        let texts = keys.filter { $0.payload?.isText == true }.map(\.name)
        let known = words + keys.map { $0.payload?.isText == true ? $0.name + ":…" : "{" + $0.name + ": …}" }
        let kinds = (words.isEmpty && texts.isEmpty ? [] : ["a word"]) + (keys.isEmpty ? [] : ["an object with one key"])
        let expected = kinds.joined(separator: " or ") + " (\(known.prefix(8).joined(separator: ", "))\(known.count > 8 ? ", …" : ""))"
        return FileForm(
            expected: expected,
            accepts: { ($0.string != nil && !(words.isEmpty && texts.isEmpty)) || ($0.object != nil && !keys.isEmpty) },
            read: { value, context, _ in
                if let word = value.string {
                    if let found = cases.first(where: { $0.value != nil && ($0.name == word || $0.aliases.contains(word)) })?.value {
                        return found
                    }
                    if let colon = word.firstIndex(of: ":"), let payload = keys.first(where: { $0.name == word[..<colon] })?.payload,
                        payload.isText
                    {
                        return try payload.read(.string(String(word[word.index(after: colon)...])), context)
                    }
                    guard !(words.isEmpty && texts.isEmpty) else { throw context.unexpected(value, expected) }
                    throw context.unknown(word, what, known: words + texts.map { $0 + ":…" })
                }
                guard value.object != nil, !keys.isEmpty else { throw context.unexpected(value, expected) }
                let members = try FileForms.members(value, context)
                for member in members where !keys.contains(where: { $0.name == member.key }) {
                    throw context.atUnknown(member.key).unknown(member.key, what, known: keys.map(\.name))
                }
                guard members.count == 1, let member = members.first, let payload = keys.first(where: { $0.name == member.key })?.payload
                else {
                    throw context.problem("Expected an object with one key, found \(members.count).", next: "Choose one \(what).")
                }
                return try payload.read(member.value, context.at(member.key))
            },
            write: { value, context, _ in
                if let word = cases.first(where: { $0.isValue(value) }) { return .string(word.name) }
                for key in keys {
                    guard let payload = key.payload, let written = try payload.write(value, context.at(key.name)) else { continue }
                    if payload.isText, let text = written.string { return .string(key.name + ":" + text) }
                    return .object(JSONObject([.init(key: key.name, value: written)]))
                }
                throw context.unwritable(expected)
            },
            schema: { schema in
                var forms: [JSONValue] = []
                if !words.isEmpty { forms.append(["enum": .array(words.map { .string($0) })]) }
                if !texts.isEmpty { forms.append(["type": "string", "pattern": .string("^(\(texts.joined(separator: "|"))):")]) }
                if !keys.isEmpty {
                    let properties = keys.compactMap { key in
                        key.payload.map { payload in
                            JSONObject.Member(key: key.name, value: FileSchema.describe(payload.schema(&schema), key.summary))
                        }
                    }
                    forms.append([
                        "type": "object", "properties": .object(JSONObject(properties)), "additionalProperties": false,
                        "minProperties": 1, "maxProperties": 1,
                    ])
                }
                return forms.count == 1 ? forms[0] : ["anyOf": .array(forms)]
            })
    }
}

extension FileForms {
    /// Returns the form of a value that is one of several words.
    static func words<Value: Sendable & Equatable>(_ what: String, _ words: [(String, Value)]) -> FileForm<Value> {
        .choice(what, words.map { .word($0.0, $0.1) })
    }
}

extension FileSchema {
    /// Returns a schema with a description and a default, which editors show.
    static func describe(_ schema: JSONValue, _ summary: String, default standard: JSONValue? = nil) -> JSONValue {
        var object = schema.object ?? JSONObject()
        if !summary.isEmpty { object["description"] = .string(summary) }
        if let standard, !standard.isNull { object["default"] = standard }
        // A schema without keys allows everything: it stays as it is.
        return object.count == 0 ? schema : .object(object)
    }
}
