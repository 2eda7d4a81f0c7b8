internal import JSONReading

extension FileForm {
    /// Returns the form of objects with certain keys.
    ///
    /// - Parameters:
    ///   - name: The name of the definition in the schema.
    ///   - initial: The value that an object starts from, unless a key names another.
    ///   - build: Adds the keys.
    static func object(_ name: String, _ initial: Value, _ build: (inout FileKeys<Value>) -> Void) -> FileForm where Value: Equatable {
        var keys = FileKeys(Value.self)
        build(&keys)
        return object(name, initial, keys)
    }

    /// Returns the form of objects with certain keys.
    static func object(_ name: String, _ initial: Value, _ keys: FileKeys<Value>) -> FileForm {
        let object = FileObject(keys, initial)
        return FileForm(
            expected: "an object", accepts: { $0.object != nil }, read: { try object.read($0, $1, $2) },
            write: { try object.write($0, $1, $2) }, schema: { object.schema(&$0) }
        ).named(name)
    }
}

/// Reads, writes and describes objects with certain keys.
private struct FileObject<Root: Sendable>: Sendable {
    let keys: FileKeys<Root>
    let initial: Root
    /// The indices of the keys, by their names.
    let indices: [String: Int]
    /// The names of all keys.
    let names: [String]
    /// The groups of keys of which an object may have only one.
    let exclusive: [[String]]

    init(_ keys: FileKeys<Root>, _ initial: Root) {
        self.keys = keys
        self.initial = initial
        let pairs = keys.keys.enumerated().flatMap { index, key in ([key.name] + key.aliases).map { ($0, index) } }
        indices = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
        names = keys.starts.map(\.name) + keys.keys.map(\.name)
        exclusive =
            keys.exclusive + (keys.starts.count > 1 ? [keys.starts.map(\.name)] : [])
            + keys.keys.filter { !$0.aliases.isEmpty }.map { [$0.name] + $0.aliases }
    }

    // MARK: Reading

    func read(_ value: JSONValue, _ context: FileContext, _ base: Root?) throws -> Root {
        let members = try FileForms.members(value, context)
        var values: [Int: JSONObject.Member] = [:]
        var start: (FileStart<Root>, JSONValue)?
        for member in members {
            if let index = indices[member.key] {
                values[index] = member
            } else if let found = keys.starts.first(where: { $0.name == member.key }) {
                start = (found, member.value)
            } else {
                throw context.atUnknown(member.key).unknown(member.key, "key", known: names)
            }
        }
        let present = Set(members.map(\.key))
        for group in exclusive {
            let found = group.filter(present.contains)
            guard found.count < 2 else {
                throw context.at(found[1]).problem("“\(found[0])” and “\(found[1])” exclude each other.", next: "Remove one of the two.")
            }
        }
        var root = base ?? initial
        if let start { root = try start.0.read(start.1, context.at(start.0.name)) }
        keys.begin(present, &root)
        for (index, key) in keys.keys.enumerated() {
            if let member = values[index] {
                try key.read(&root, member.value, keys.context(root, context).at(member.key))
            } else if key.isRequired, start == nil {
                throw context.problem("The key “\(key.name)” is missing.", next: "Add it: \(key.summary)")
            }
        }
        return root
    }

    // MARK: Writing

    func write(_ root: Root, _ context: FileContext, _ base: Root?) throws -> JSONValue {
        var best: (value: JSONValue, length: Int)?
        var problem: (any Error)?
        func consider(_ first: JSONObject.Member?, _ start: Root) {
            do {
                var members = try members(root, start, context, isStarted: first != nil)
                for _ in 0..<2 {
                    let value = JSONValue.object(JSONObject((first.map { [$0] } ?? []) + members))
                    if let length = try? value.serialized().count, length < best?.length ?? .max, isRead(value, root, context, base) {
                        best = (value, length)
                    }
                    // The keys of an object may change the value that it starts from.
                    var changed = start
                    keys.begin(Set(members.map(\.key)).union(first.map { [$0.key] } ?? []), &changed)
                    guard let isEqual = keys.isEqual, !isEqual(changed, start) else { return }
                    members = try self.members(root, changed, context, isStarted: first != nil)
                }
            } catch {
                problem = error
            }
        }
        consider(nil, base ?? initial)
        for start in keys.starts {
            for candidate in start.candidates(root, context) {
                consider(JSONObject.Member(key: start.name, value: candidate.value), candidate.root)
            }
        }
        guard let best else { throw problem ?? context.unwritable("an object") }
        return best.value
    }

    private func members(
        _ root: Root, _ start: Root, _ context: FileContext, isStarted: Bool
    ) throws -> [JSONObject.Member] {
        let inner = keys.context(root, context)
        return try keys.keys.compactMap { key in
            // A required key is left out if the start has the same value.
            if isStarted, key.isRequired, let value = try key.write(root, start, inner.at(key.name)),
                try key.write(start, start, inner.at(key.name)) == value
            {
                return nil
            }
            return try key.write(root, start, inner.at(key.name)).map { JSONObject.Member(key: key.name, value: $0) }
        }
    }

    /// Whether reading a value results in an object.
    private func isRead(_ value: JSONValue, _ root: Root, _ context: FileContext, _ base: Root?) -> Bool {
        guard let isEqual = keys.isEqual else { return true }
        return (try? read(value, context, base)).map { isEqual($0, root) } ?? false
    }

    // MARK: Schema

    func schema(_ schema: inout FileSchema) -> JSONValue {
        var properties = JSONObject()
        for start in keys.starts { properties[start.name] = FileSchema.describe(start.schema(&schema), start.summary) }
        for key in keys.keys {
            let standard = key.isRequired ? nil : key.standard(initial)
            let form = FileSchema.describe(key.schema(&schema), key.summary, default: standard)
            for name in [key.name] + key.aliases { properties[name] = form }
        }
        var result: JSONObject = ["type": "object", "properties": .object(properties), "additionalProperties": false]
        let required = JSONValue.array(keys.keys.filter(\.isRequired).map { .string($0.name) })
        if required != [] {
            if keys.starts.isEmpty {
                result["required"] = required
            } else {
                result["anyOf"] = .array([["required": required]] + keys.starts.map { ["required": [.string($0.name)]] })
            }
        }
        let pairs = exclusive.flatMap { group in
            group.indices.flatMap { first in group[(first + 1)...].map { [JSONValue.string(group[first]), .string($0)] } }
        }
        if !pairs.isEmpty { result["allOf"] = .array(pairs.map { ["not": ["required": .array($0)]] }) }
        return .object(result)
    }
}
