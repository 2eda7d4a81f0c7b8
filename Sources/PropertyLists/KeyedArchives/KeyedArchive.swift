package import Foundation

/// A keyed archive as a graph: objects with a class name and fields, independent of existing classes.
package struct KeyedArchive: Sendable {
    /// An object of the archive.
    package struct Object: Sendable {
        package let archive: KeyedArchive
        /// The index of the object in the archive.
        package let index: Int
        package let className: String
        /// The indices of the fields' values in the property list.
        let fields: [String: Int]
    }

    /// The maximum nesting depth of the values of an archive, such as a user info, and their maximum number.
    package static let depthLimit = 32
    package static let valueLimit = 1_000_000

    package let list: BinaryPropertyList
    /// The nodes of the objects, by index.
    package let objects: [Int]
    /// The index of the root object.
    package let rootIndex: Int
    /// The names of the classes, by the indices of their descriptions. Many objects share a description, which is decoded once.
    private let classNames: [Int: String]

    /// Decodes an archive in binary format or XML.
    ///
    /// - Throws: ``BinaryPropertyList/FormatError`` when the data is not a keyed archive with a root.
    package init(_ data: Data) throws {
        list = BinaryPropertyList.isOne(data) ? try BinaryPropertyList(data) : try XMLPropertyList.read(data)
        let top = KeyedArchive.dictionary(list.root, in: list)
        guard let archiver = top?["$archiver"], case .string("NSKeyedArchiver") = list.nodes[archiver], let table = top?["$objects"],
            case .array(let objects) = list.nodes[table], let roots = top?["$top"],
            let root = KeyedArchive.dictionary(roots, in: list)?["root"], case .uid(let index) = list.nodes[root], index < objects.count
        else { throw BinaryPropertyList.FormatError(reason: "It is not a keyed archive with a root.") }
        self.objects = objects
        rootIndex = index
        var names: [Int: String] = [:]
        for (number, node) in objects.enumerated() {
            guard case .dictionary(let pairs) = list.nodes[node] else { continue }
            for pair in pairs {
                guard case .string("$classname") = list.nodes[pair.key], case .string(let name) = list.nodes[pair.value] else { continue }
                names[number] = name
            }
        }
        classNames = names
    }

    /// The decoding budget: an object counts at each reference, so that a small archive cannot expand to a large value.
    package var budget: Int { min(KeyedArchive.valueLimit, 20_000 + list.byteCount * 4) }

    /// The root object.
    package var root: Object? { object(rootIndex) }

    package static func dictionary(_ node: Int, in list: BinaryPropertyList) -> [String: Int]? {
        guard case .dictionary(let pairs) = list.nodes[node] else { return nil }
        var result: [String: Int] = [:]
        for (key, value) in pairs {
            guard case .string(let name) = list.nodes[key] else { return nil }
            result[name] = value
        }
        return result
    }

    /// Returns the object at an index, nil for a value without a class.
    package func object(_ index: Int) -> Object? {
        guard objects.indices.contains(index), let fields = KeyedArchive.dictionary(objects[index], in: list),
            let reference = fields["$class"], case .uid(let classIndex) = list.nodes[reference], let name = classNames[classIndex]
        else { return nil }
        return Object(archive: self, index: index, className: name, fields: fields)
    }

    /// Follows the references of a node.
    func resolved(_ node: Int) -> Int? {
        guard case .uid(let index) = list.nodes[node] else { return node }
        guard objects.indices.contains(index) else { return nil }
        return objects[index]
    }
}

extension KeyedArchive.Object {
    /// The names of the fields, without the class.
    package var keys: Set<String> { Set(fields.keys).subtracting(["$class"]) }

    package func has(_ key: String) -> Bool { fields[key] != nil }

    /// Returns the index of the object that a field refers to; nil for none and for `$null`.
    package func reference(_ key: String) -> Int? {
        guard let node = fields[key], case .uid(let index) = archive.list.nodes[node], index != 0 else { return nil }
        return index
    }

    /// Returns whether a field refers to `$null`.
    package func refersToNothing(_ key: String) -> Bool {
        guard let node = fields[key], case .uid(0) = archive.list.nodes[node] else { return false }
        return true
    }

    package func object(_ key: String) -> KeyedArchive.Object? { reference(key).flatMap(archive.object) }

    package func integer(_ key: String) -> Int? {
        guard let node = fields[key].flatMap(archive.resolved) else { return nil }
        switch archive.list.nodes[node] {
        case .integer(let number): return Int(number)
        case .bool(let flag): return flag ? 1 : 0
        default: return nil
        }
    }

    package func flag(_ key: String) -> Bool { integer(key).map { $0 != 0 } ?? false }

    /// Returns the string of a field, stored directly or as an object.
    package func text(_ key: String) -> String? { value(key) as? String }

    /// Returns the indices of the elements of an array, set or known-keys dictionary; nil for anything else.
    package func elements() -> [Int]? {
        // The values of a known-keys dictionary are an array: another dictionary is not accepted, because it could be the same one.
        if object("searchMapping") != nil, let values = object("values") { return values.references("NS.objects") }
        return references("NS.objects")
    }

    /// Returns the keys of a dictionary with the indices of their values.
    package func pairs() -> [(key: String, value: Int)]? {
        let keys = object("searchMapping").map { $0.object("keys")?.references("NS.objects") } ?? references("NS.keys")
        guard let keys, let values = elements(), keys.count == values.count else { return nil }
        var result: [(key: String, value: Int)] = []
        for (key, value) in zip(keys, values) {
            guard let name = archive.text(of: key) else { return nil }
            result.append((name, value))
        }
        return result
    }

    /// Returns the indices of the objects in a field.
    package func references(_ key: String) -> [Int]? {
        guard let node = fields[key], case .array(let elements) = archive.list.nodes[node] else { return nil }
        var result: [Int] = []
        result.reserveCapacity(elements.count)
        for element in elements {
            guard case .uid(let index) = archive.list.nodes[element] else { return nil }
            result.append(index)
        }
        return result
    }

    /// Returns the value of a field, nil for none.
    package func value(_ key: String) -> Any? {
        guard let node = fields[key] else { return nil }
        var budget = archive.budget
        return archive.value(node: node, index: nil, depth: 0, budget: &budget)
    }
}
