package import Foundation

/// A keyed archive as a graph: objects with a class name and fields, whatever their classes are.
package struct KeyedArchive: Sendable {
    /// An object of the archive.
    package struct Object: Sendable {
        package let archive: KeyedArchive
        /// Its number in the archive.
        package let index: Int
        package let className: String
        /// The numbers of the fields' values in the property list.
        let fields: [String: Int]
    }

    /// How deep the values of an archive, such as a user info, may nest; and how many there may be in one.
    package static let depthLimit = 32
    package static let valueLimit = 1_000_000

    package let list: BinaryPropertyList
    /// The nodes of the objects, by their numbers.
    package let objects: [Int]
    /// The number of the object at the top.
    package let rootIndex: Int
    /// The names of the classes, by the numbers of the objects that describe them. Many objects share one, so it is read once.
    private let classNames: [Int: String]

    /// Reads an archive in the binary format or in XML.
    ///
    /// - Throws: ``BinaryPropertyList/Mistake`` when the data is no keyed archive with a root.
    package init(_ data: Data) throws {
        list = BinaryPropertyList.isOne(data) ? try BinaryPropertyList(data) : try XMLPropertyList.read(data)
        let top = KeyedArchive.dictionary(list.root, in: list)
        guard let archiver = top?["$archiver"], case .string("NSKeyedArchiver") = list.nodes[archiver], let table = top?["$objects"],
            case .array(let objects) = list.nodes[table], let roots = top?["$top"],
            let root = KeyedArchive.dictionary(roots, in: list)?["root"], case .uid(let index) = list.nodes[root], index < objects.count
        else { throw BinaryPropertyList.Mistake(reason: "It is no keyed archive with a root.") }
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

    /// How much may be read of it: an object counts wherever it is named, so that a small archive cannot mean a large value.
    var budget: Int { min(KeyedArchive.valueLimit, 20_000 + list.byteCount * 4) }

    /// The object at the top.
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

    /// The object of a number, nil for one that is no object with a class.
    package func object(_ index: Int) -> Object? {
        guard objects.indices.contains(index), let fields = KeyedArchive.dictionary(objects[index], in: list),
            let reference = fields["$class"], case .uid(let classIndex) = list.nodes[reference], let name = classNames[classIndex]
        else { return nil }
        return Object(archive: self, index: index, className: name, fields: fields)
    }

    /// A node with references to other objects followed.
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

    /// The number of the object that a field refers to; nil for none, `$null` included.
    package func reference(_ key: String) -> Int? {
        guard let node = fields[key], case .uid(let index) = archive.list.nodes[node], index != 0 else { return nil }
        return index
    }

    /// Whether a field refers to `$null`.
    func refersToNothing(_ key: String) -> Bool {
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

    /// The text of a field, as a string or as an object that holds one.
    package func text(_ key: String) -> String? { value(key) as? String }

    /// The objects of an array, a set or a known-keys dictionary; nil for anything else.
    package func elements() -> [Int]? {
        // The values of a known-keys dictionary are an array: they are not looked into for another dictionary, which could be this one.
        if object("searchMapping") != nil, let values = object("values") { return values.references("NS.objects") }
        return references("NS.objects")
    }

    /// The keys and the numbers of the values of a dictionary.
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

    /// The numbers of the objects that a field lists.
    func references(_ key: String) -> [Int]? {
        guard let node = fields[key], case .array(let elements) = archive.list.nodes[node] else { return nil }
        var result: [Int] = []
        result.reserveCapacity(elements.count)
        for element in elements {
            guard case .uid(let index) = archive.list.nodes[element] else { return nil }
            result.append(index)
        }
        return result
    }

    /// The value of a field, nil for none.
    package func value(_ key: String) -> Any? {
        guard let node = fields[key] else { return nil }
        var budget = archive.budget
        return archive.value(node: node, index: nil, depth: 0, budget: &budget)
    }
}
