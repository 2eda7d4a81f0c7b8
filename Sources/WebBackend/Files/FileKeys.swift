internal import JSONReading

/// A key of an object.
struct FileKey<Root: Sendable>: Sendable {
    let name: String
    /// Other names of the same key.
    let aliases: [String]
    let summary: String
    let isRequired: Bool
    /// Reads the value into an object.
    let read: @Sendable (inout Root, JSONValue, FileContext) throws -> Void
    /// Writes the value of the first object; nil if the second object, which the first one starts from, has the same value.
    let write: @Sendable (Root, Root, FileContext) throws -> JSONValue?
    let schema: @Sendable (inout FileSchema) -> JSONValue
    /// Returns the value of an object without the key; nil if that cannot be written.
    var standard: @Sendable (Root) -> JSONValue? = { _ in nil }
}

/// A key that names the value that an object starts from: `like: kinto`, `page: page`.
struct FileStart<Root: Sendable>: Sendable {
    let name: String
    let summary: String
    let read: @Sendable (JSONValue, FileContext) throws -> Root
    /// Returns the values that an object may start from, each with the key's value for it.
    let candidates: @Sendable (Root, FileContext) -> [(value: JSONValue, root: Root)]
    let schema: @Sendable (inout FileSchema) -> JSONValue
}

/// The keys of objects of one kind.
struct FileKeys<Root: Sendable>: Sendable {
    /// The keys, in the order in which they are read and written.
    var keys: [FileKey<Root>] = []
    /// The keys that name the value that an object starts from. An object may have one of them.
    var starts: [FileStart<Root>] = []
    /// The groups of keys of which an object may have only one.
    var exclusive: [[String]] = []
    /// Changes the value that an object starts from, by the keys of the object.
    var begin: @Sendable (Set<String>, inout Root) -> Void = { _, _ in }
    /// Completes the context of the values.
    var context: @Sendable (Root, FileContext) -> FileContext = { $1 }
    /// Compares two objects. Writing compares an object with the result of reading it.
    var isEqual: (@Sendable (Root, Root) -> Bool)?

    /// Creates an empty set of keys.
    init() {}

    /// Creates an empty set of keys, for objects that can be compared.
    init(_ type: Root.Type) where Root: Equatable { isEqual = { $0 == $1 } }

    /// Adds a key.
    mutating func key<Value: Sendable & Equatable>(
        _ name: String, _ path: any WritableKeyPath<Root, Value> & Sendable, _ form: FileForm<Value>, aliases: [String] = [],
        isRequired: Bool = false, _ summary: String
    ) {
        keys.append(
            FileKey(
                name: name, aliases: aliases, summary: summary, isRequired: isRequired,
                read: { $0[keyPath: path] = try form.read($1, $2, $0[keyPath: path]) },
                write: { root, base, context in
                    let value = root[keyPath: path]
                    if !isRequired, value == base[keyPath: path] { return nil }
                    return try form.write(value, context, base[keyPath: path])
                }, schema: form.schema, standard: { try? form.write($0[keyPath: path], FileContext(), nil) }))
    }

    /// Adds a key whose value may be null.
    ///
    /// - Parameters:
    ///   - none: A word for null.
    ///   - base: Returns the value that a nested value starts from if the object has none.
    mutating func optional<Value: Sendable & Equatable>(
        _ name: String, _ path: any WritableKeyPath<Root, Value?> & Sendable, _ form: FileForm<Value>, aliases: [String] = [],
        none: String? = nil, base: @escaping @Sendable (FileContext) -> Value? = { _ in nil }, _ summary: String
    ) {
        keys.append(
            FileKey(
                name: name, aliases: aliases, summary: summary, isRequired: false,
                read: { root, value, context in
                    if value.isNull || (none != nil && value.string == none) {
                        root[keyPath: path] = nil
                    } else {
                        root[keyPath: path] = try form.read(value, context, root[keyPath: path] ?? base(context))
                    }
                },
                write: { root, start, context in
                    let value = root[keyPath: path]
                    if value == start[keyPath: path] { return nil }
                    guard let value else { return none.map { .string($0) } ?? .null }
                    return try form.write(value, context, start[keyPath: path] ?? base(context))
                },
                schema: { schema in
                    ["anyOf": [form.schema(&schema), ["enum": .array([.null] + (none.map { [.string($0)] } ?? []))]]]
                }, standard: { root in root[keyPath: path].map { try? form.write($0, FileContext(), nil) } ?? .null }))
    }

    /// Adds a key that names the value that an object starts from.
    mutating func start<Value: Sendable>(
        _ name: String, _ form: FileForm<Value>, _ summary: String, make: @escaping @Sendable (Value) -> Root,
        take: @escaping @Sendable (Root) -> [Value]
    ) {
        starts.append(
            FileStart(
                name: name, summary: summary, read: { make(try form.read($0, $1, nil)) },
                candidates: { root, context in
                    take(root).compactMap { part in (try? form.write(part, context, nil)).map { ($0, make(part)) } }
                }, schema: form.schema))
    }

    /// Returns the keys for objects that contain objects of this kind.
    func lifted<Other>(_ path: any WritableKeyPath<Other, Root> & Sendable) -> FileKeys<Other> {
        var result = FileKeys<Other>()
        result.keys = keys.map { key in
            FileKey(
                name: key.name, aliases: key.aliases, summary: key.summary, isRequired: key.isRequired,
                read: { try key.read(&$0[keyPath: path], $1, $2) },
                write: { try key.write($0[keyPath: path], $1[keyPath: path], $2) }, schema: key.schema,
                standard: { key.standard($0[keyPath: path]) })
        }
        result.begin = { [begin] in begin($0, &$1[keyPath: path]) }
        result.context = { [context] in context($0[keyPath: path], $1) }
        result.exclusive = exclusive
        return result
    }
}
