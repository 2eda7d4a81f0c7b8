internal import JSONReading

extension FileForms {
    /// A form of dates.
    static let date = FileForm<DateForm>.choice(
        "form of dates",
        [
            .word("iso8601", .iso8601), .word("day", .day), .word("secondsSince1970", .secondsSince1970),
            .word("millisecondsSince1970", .millisecondsSince1970), .word("secondsSinceReferenceDate", .secondsSinceReferenceDate),
            .word("http", .http),
            .key("pattern", text, "A pattern of DateFormatter, in en_US_POSIX and UTC.", isText: true, make: { .pattern($0) }) {
                if case .pattern(let pattern) = $0 { pattern } else { nil }
            },
        ]
    ).named("date")

    /// The parts of a wrapped value.
    private struct Wrapped: Hashable, Sendable {
        var key = ""
        var constants: [String: String] = [:]
        var transform = ValueTransform.byType
    }

    private static let wrapped = FileForm<Wrapped>.object("wrapped", Wrapped()) { keys in
        keys.key("key", \.key, text, isRequired: true, "The key with the value.")
        keys.key("constants", \.constants, map(text), "What is beside it.")
        keys.key("as", \.transform, .deferred("a transform", { transform }), "How the value is written.")
    }

    /// The words of an enumeration. In YAML, a key may be a number or a Boolean, and so is the value in the service.
    private static let enumeration: FileForm<ValueTransform> = {
        let words = map(scalar)
        return FileForm(
            expected: words.expected, accepts: words.accepts,
            read: { value, context, _ in
                let names = try words.read(value, context, nil)
                let plain = { (key: String) in context.plainKeys[context.at(key).path] }
                guard names.keys.contains(where: { plain($0) != nil }) else { return .enumeration(names) }
                return .enumerationOfJSON(
                    Dictionary(
                        names.map { key, value in ((plain(key) ?? .string(key)).description, value) },
                        uniquingKeysWith: { first, _ in first }))
            },
            write: { transform, context, _ in
                guard case .enumeration(let names) = transform else { throw context.unwritable(words.expected) }
                return try words.write(names, context, nil)
            }, schema: words.schema)
    }()

    /// The form of an attribute's value in JSON.
    static let transform: FileForm<ValueTransform> = FileForm<ValueTransform>.choice(
        "transform",
        [
            .word("byType", .byType, "As the type of the attribute has it."),
            .word("text", .text, "Text that is written as another attribute type's."), .word("json", .json, "JSON as its text."),
            .key("date", date, "A date in another form than the style's.", isText: true, make: { .date($0) }) {
                if case .date(let form) = $0 { form } else { nil }
            },
            .key("enumeration", enumeration, "What JSON has, and the attribute's value.", make: { $0 }) {
                if case .enumeration = $0 { $0 } else { nil }
            },
            .key(
                "enumerationOfJSON", map(scalar),
                "The same with JSON as keys: 1 is a number, and \"1\" with quotation marks in the key is text.",
                make: { .enumerationOfJSON($0) }
            ) { if case .enumerationOfJSON(let values) = $0 { values } else { nil } },
            .key("scaled", number, "A number in another unit: JSON's times this.", make: { .scaled(by: $0) }) {
                if case .scaled(let factor) = $0 { factor } else { nil }
            },
            .key("relativeURL", text, "A relative address, which continues this one.", isText: true, make: { .relativeURL(base: $0) }) {
                if case .relativeURL(let base) = $0 { base } else { nil }
            },
            .key("joined", text, "The elements of an array, joined by this.", isText: true, make: { .joined(separator: $0) }) {
                if case .joined(let separator) = $0 { separator } else { nil }
            },
            .key(
                "wrapped", wrapped, "The value within an object of which the rest is always the same.",
                make: { .wrapped($0.key, constants: $0.constants, $0.transform) }
            ) {
                if case .wrapped(let key, let constants, let transform) = $0 {
                    Wrapped(key: key, constants: constants, transform: transform)
                } else {
                    nil
                }
            },
        ]
    ).named("transform")

    /// The parts of a typed reference.
    private struct Typed: Hashable, Sendable {
        var data: JSONPath = ""
        var type: JSONPath = ""
        var id: JSONPath = ""
    }

    private static let typed = FileForm<Typed>.object("typed", Typed()) { keys in
        keys.key("data", \.data, path, isRequired: true, "The path to the object.")
        keys.key("type", \.type, path, isRequired: true, "The path to the type within it.")
        keys.key("id", \.id, path, isRequired: true, "The path to the identifier within it.")
    }

    /// The parts of a pointer.
    private struct Pointer: Hashable, Sendable {
        var id: JSONPath = ""
        var constants: [String: String] = [:]
    }

    private static let pointer = FileForm<Pointer>.object("pointer", Pointer()) { keys in
        keys.key("id", \.id, path, isRequired: true, "The path to the identifier.")
        keys.key("constants", \.constants, map(text), "What is beside it; {type} is replaced.")
    }

    /// The form of references to other resources.
    static let reference = FileForm<ReferenceStyle>.choice(
        "form of references",
        [
            .word("identifier", .identifier, "The identifier itself."),
            .word("link", .link(template: nil), "The address of the resource, whose last component is the identifier."),
            .key("object", path, "An object with the identifier at this path.", isText: true, make: { .object(id: $0) }) {
                if case .object(let id) = $0 { id } else { nil }
            },
            .key(
                "typed", typed, "An object with the identifier and the type.",
                make: { .typed(data: $0.data, type: $0.type, id: $0.id) }
            ) { if case .typed(let data, let type, let id) = $0 { Typed(data: data, type: type, id: id) } else { nil } },
            .key("link", text, "The address of the resource, with {SELF} in it.", isText: true, make: { .link(template: $0) }) {
                if case .link(let template) = $0 { template } else { nil }
            },
            .key(
                "pointer", pointer, "An object with constants and the identifier.",
                make: { .pointer(id: $0.id, constants: $0.constants) }
            ) { if case .pointer(let id, let constants) = $0 { Pointer(id: id, constants: constants) } else { nil } },
        ]
    ).named("reference")

    /// The place of a property's value and its form: a path, or an object.
    static let property = FileForm<PropertyMapping>.either(
        plain(
            "a path", ["type": "string"], { value in value.string.map { PropertyMapping(path: JSONPath($0)) } },
            { mapping in
                guard let path = mapping.path, mapping == PropertyMapping(path: path), JSONPath(path.description) == path else {
                    return nil
                }
                return .string(path.description)
            }),
        .object("property", PropertyMapping()) { keys in
            keys.optional("path", \.path, path, "The path to the value in the resource.")
            keys.key("as", \.transform, transform, "How the value is written: text, date:day, {enumeration: …}.")
            keys.optional("reference", \.reference, reference, "How a reference is written.")
            keys.key("readOnly", \.isReadOnly, flag, "Whether answers have it, and changes do not.")
            keys.optional("query", \.queryName, text, "The name in filters and sort keys.")
            keys.key("wholeObjects", \.bringsWholeObjects, flag, "Whether what embedded resources lack is nil.")
            keys.key("wholeList", \.isWholeList, flag, "Whether an answer's list of a to-many relationship is whole.")
        })
}
