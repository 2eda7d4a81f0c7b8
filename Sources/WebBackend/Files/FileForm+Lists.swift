internal import JSONReading

extension FileForms {
    /// A list of values.
    static func list<Element: Sendable>(_ element: FileForm<Element>) -> FileForm<[Element]> {
        FileForm(
            expected: "a list", accepts: { $0.array != nil },
            read: { value, context, _ in
                guard let elements = value.array else { throw context.unexpected(value, "a list") }
                return try elements.enumerated().map { try element.read($1, context.at($0), nil) }
            },
            write: { elements, context, _ in
                .array(try elements.enumerated().map { try element.write($1, context.at($0), nil) })
            }, schema: { ["type": "array", "items": element.schema(&$0)] })
    }

    /// One value, or a list.
    static func oneOrMore<Element: Sendable>(_ element: FileForm<Element>) -> FileForm<[Element]> {
        .either(element.map({ [$0] }, { $0.count == 1 ? $0[0] : nil }), list(element))
    }

    /// A list of distinct values, which is written in the order of their texts.
    static func set<Element: Sendable & Hashable>(_ element: FileForm<Element>) -> FileForm<Set<Element>> {
        let list = list(element)
        return FileForm(
            expected: "a list", accepts: list.accepts, read: { value, context, _ in Set(try list.read(value, context, nil)) },
            write: { elements, context, _ in
                let written = try elements.map { try element.write($0, context, nil) }
                return .array(written.sorted { ($0.integer ?? 0, $0.description) < ($1.integer ?? 0, $1.description) })
            }, schema: list.schema)
    }

    /// An object with arbitrary keys.
    static func map<Element: Sendable>(_ element: FileForm<Element>) -> FileForm<[String: Element]> {
        FileForm(
            expected: "an object", accepts: { $0.object != nil },
            read: { value, context, _ in
                var result: [String: Element] = [:]
                for member in try members(value, context) {
                    result[member.key] = try element.read(member.value, context.at(member.key), nil)
                }
                return result
            },
            write: { values, context, _ in
                .object(
                    JSONObject(
                        try values.sorted { $0.key < $1.key }.map {
                            JSONObject.Member(key: $0.key, value: try element.write($0.value, context.at($0.key), nil))
                        }))
            }, schema: { ["type": "object", "additionalProperties": element.schema(&$0)] })
    }

    /// Returns the members of an object, whose keys must be unique.
    static func members(_ value: JSONValue, _ context: FileContext) throws -> [JSONObject.Member] {
        guard let object = value.object else { throw context.unexpected(value, "an object") }
        var keys: Set<String> = []
        for member in object.members where !keys.insert(member.key).inserted {
            let name = context.isConfidential ? "A key" : "“\(member.key)”"
            throw context.atUnknown(member.key).problem("\(name) is there twice.", next: "Remove one of the two.")
        }
        return object.members
    }
}
