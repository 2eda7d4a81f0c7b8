internal import Foundation

/// A keyed archive as a graph: objects with a class name and fields, whatever their classes are.
struct KeyedArchive {
    /// An object of the archive.
    struct Object {
        let archive: KeyedArchive
        /// Its number in the archive.
        let index: Int
        let className: String
        /// The numbers of the fields' values in the property list.
        fileprivate let fields: [String: Int]
    }

    /// How deep the values of an archive, such as a user info, may nest; and how many there may be in one.
    static let depthLimit = 32
    static let valueLimit = 1_000_000

    let list: BinaryPropertyList
    /// The nodes of the objects, by their numbers.
    let objects: [Int]
    private let rootIndex: Int

    init(_ data: Data) throws {
        list = try BinaryPropertyList(data)
        let top = KeyedArchive.dictionary(list.root, in: list)
        guard let archiver = top?["$archiver"], case .string("NSKeyedArchiver") = list.nodes[archiver], let table = top?["$objects"],
            case .array(let objects) = list.nodes[table], let roots = top?["$top"],
            let root = KeyedArchive.dictionary(roots, in: list)?["root"], case .uid(let index) = list.nodes[root], index < objects.count
        else { throw BinaryPropertyList.Mistake(reason: "It is no keyed archive with a root.") }
        self.objects = objects
        rootIndex = index
    }

    /// The object at the top.
    var root: Object? { object(rootIndex) }

    static func dictionary(_ node: Int, in list: BinaryPropertyList) -> [String: Int]? {
        guard case .dictionary(let pairs) = list.nodes[node] else { return nil }
        var result: [String: Int] = [:]
        for (key, value) in pairs {
            guard case .string(let name) = list.nodes[key] else { return nil }
            result[name] = value
        }
        return result
    }

    /// The object of a number, nil for one that is no object with a class.
    func object(_ index: Int) -> Object? {
        guard objects.indices.contains(index), let fields = KeyedArchive.dictionary(objects[index], in: list),
            let reference = fields["$class"], case .uid(let classIndex) = list.nodes[reference], objects.indices.contains(classIndex),
            let description = KeyedArchive.dictionary(objects[classIndex], in: list), let nameNode = description["$classname"],
            case .string(let name) = list.nodes[nameNode]
        else { return nil }
        return Object(archive: self, index: index, className: name, fields: fields)
    }

    /// A node with references to other objects followed.
    fileprivate func resolved(_ node: Int) -> Int? {
        guard case .uid(let index) = list.nodes[node] else { return node }
        guard objects.indices.contains(index) else { return nil }
        return objects[index]
    }
}

extension KeyedArchive.Object {
    /// The names of the fields, without the class.
    var keys: Set<String> { Set(fields.keys).subtracting(["$class"]) }

    func has(_ key: String) -> Bool { fields[key] != nil }

    /// The number of the object that a field refers to; nil for none, `$null` included.
    func reference(_ key: String) -> Int? {
        guard let node = fields[key], case .uid(let index) = archive.list.nodes[node], index != 0 else { return nil }
        return index
    }

    func object(_ key: String) -> KeyedArchive.Object? { reference(key).flatMap(archive.object) }

    func integer(_ key: String) -> Int? {
        guard let node = fields[key].flatMap(archive.resolved) else { return nil }
        switch archive.list.nodes[node] {
        case .integer(let number): return Int(number)
        case .bool(let flag): return flag ? 1 : 0
        default: return nil
        }
    }

    func flag(_ key: String) -> Bool { integer(key).map { $0 != 0 } ?? false }

    /// The text of a field, as a string or as an object that holds one.
    func text(_ key: String) -> String? { value(key) as? String }

    /// The objects of an array, a set or a known-keys dictionary.
    func elements() -> [Int]? {
        if has("searchMapping"), let values = object("values") { return values.list("NS.objects") }
        return list("NS.objects")
    }

    /// The numbers of the objects in a field that is an array of references.
    private func list(_ key: String) -> [Int]? {
        guard let node = fields[key], case .array(let references) = archive.list.nodes[node] else { return nil }
        return references.compactMap { reference in
            if case .uid(let index) = archive.list.nodes[reference] { index } else { nil }
        }
    }

    /// The keys and the numbers of the values of a dictionary.
    func pairs() -> [(key: String, value: Int)]? {
        let keys = has("searchMapping") ? object("searchMapping")?.object("keys")?.list("NS.objects") : list("NS.keys")
        guard let keys, let values = elements(), keys.count == values.count else { return nil }
        var result: [(key: String, value: Int)] = []
        for (key, value) in zip(keys, values) {
            guard let name = archive.text(of: key) else { return nil }
            result.append((name, value))
        }
        return result
    }

    /// The value of a field, nil for none.
    func value(_ key: String) -> Any? {
        guard let node = fields[key] else { return nil }
        var budget = KeyedArchive.valueLimit
        return archive.value(node: node, index: nil, depth: 0, budget: &budget)
    }
}

extension KeyedArchive {
    /// The value of an object: a text, a number, a date, data, a UUID, a URL, or a collection of them. Nil for anything else.
    func value(of index: Int) -> Any? {
        guard objects.indices.contains(index) else { return nil }
        var budget = KeyedArchive.valueLimit
        return value(node: objects[index], index: index, depth: 0, budget: &budget)
    }

    /// The text that an object is. Keys are read by it, so that a dictionary that is its own key is none.
    fileprivate func text(of index: Int) -> String? {
        guard objects.indices.contains(index) else { return nil }
        if case .string(let text) = list.nodes[objects[index]] { return text }
        guard let object = object(index), ["NSString", "NSMutableString"].contains(object.className) else { return nil }
        return object.raw("NS.string") as? String
    }

    fileprivate func value(node: Int, index: Int?, depth: Int, budget: inout Int) -> Any? {
        budget -= 1
        guard depth <= KeyedArchive.depthLimit, budget > 0 else { return nil }
        switch list.nodes[node] {
        case .null: return nil
        case .bool(let flag): return flag
        case .integer(let number): return Int(number)
        case .real(let number): return number
        case .date(let seconds): return Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let data): return data
        case .string(let text): return text == "$null" ? nil : text
        case .array: return nil
        case .uid(let index):
            guard index != 0, objects.indices.contains(index) else { return nil }
            return value(node: objects[index], index: index, depth: depth + 1, budget: &budget)
        case .dictionary: break
        }
        guard let index, let object = object(index) else { return nil }
        switch object.className {
        case "NSString", "NSMutableString": return object.raw("NS.string")
        case "NSDate": return (object.raw("NS.time") as? Double).map { Date(timeIntervalSinceReferenceDate: $0) }
        case "NSData", "NSMutableData": return object.raw("NS.data")
        case "NSUUID":
            guard let bytes = object.raw("NS.uuidbytes") as? Data, bytes.count == 16 else { return nil }
            return UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
        case "NSURL":
            return object.reference("NS.relative").flatMap(text).flatMap { URL(string: $0) }
        case "NSDecimalNumber", "NSDecimalNumberPlaceholder": return object.decimal
        case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSOrderedSet":
            guard let elements = object.elements() else { return nil }
            var values: [Any] = []
            for element in elements {
                guard objects.indices.contains(element) else { return nil }
                if let value = value(node: objects[element], index: element, depth: depth + 1, budget: &budget) { values.append(value) }
            }
            return values
        case "NSDictionary", "NSMutableDictionary":
            guard let pairs = object.pairs() else { return nil }
            var values: [AnyHashable: Any] = [:]
            for (key, element) in pairs {
                guard objects.indices.contains(element) else { return nil }
                values[key] = value(node: objects[element], index: element, depth: depth + 1, budget: &budget)
            }
            return values
        default: return nil
        }
    }
}

extension KeyedArchive.Object {
    /// A field that is no reference.
    fileprivate func raw(_ key: String) -> Any? {
        guard let node = fields[key] else { return nil }
        switch archive.list.nodes[node] {
        case .string(let text): return text
        case .real(let number): return number
        case .integer(let number): return Int(number)
        case .data(let data): return data
        case .bool(let flag): return flag
        default: return nil
        }
    }

    /// The number of an archived `NSDecimalNumber`: 16-bit digits, an exponent of ten and a sign.
    fileprivate var decimal: Decimal? {
        guard let mantissa = raw("NS.mantissa") as? Data, mantissa.count == 16, let exponent = integer("NS.exponent"),
            let length = integer("NS.length"), (0...8).contains(length), (-128...127).contains(exponent)
        else { return nil }
        // NS.mantissa.bo: 1 for the lowest byte first, 2 for the highest.
        let isLittle = integer("NS.mantissa.bo") != 2
        let bytes = [UInt8](mantissa)
        var number = Decimal()
        for index in (0..<length).reversed() {
            let low = UInt16(bytes[index * 2])
            let high = UInt16(bytes[index * 2 + 1])
            number = number * 65536 + Decimal(Int(isLittle ? high << 8 | low : low << 8 | high))
        }
        if length == 0 { return flag("NS.negative") ? .nan : 0 }
        guard let scale = Decimal(string: "1e\(exponent)") else { return nil }
        number *= scale
        return flag("NS.negative") ? -number : number
    }
}
