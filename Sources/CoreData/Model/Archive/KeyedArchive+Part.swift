internal import Foundation
internal import Predicates

extension KeyedArchive {
    /// How deep the objects of a part may nest, and how many there may be when each is counted wherever it is named.
    private static let partDepth = 160
    private static let partSize = 20_000

    /// An archive with the object of `index` as its root and nothing but what it refers to: what the reader of predicates is given.
    ///
    /// - Throws: when a reference leads nowhere or round in a circle, when a class or a collection is not as archives have them, or when the
    ///   part is beyond all measure.
    func part(rootedAt index: Int) throws -> Data {
        var part = Part(archive: self)
        let root = try part.add(index, depth: 0).number
        return BinaryPropertyListWriter.data(
            .dictionary([
                ("$version", .integer(100_000)), ("$archiver", .string("NSKeyedArchiver")),
                ("$top", .dictionary([("root", .uid(root))])), ("$objects", .array([.string("$null")] + part.objects)),
            ]))
    }

    private struct Part {
        let archive: KeyedArchive
        /// The objects that were copied, from number 1 on.
        var objects: [BinaryPropertyListWriter.Tree] = []
        /// What became of each object: its new number, and its size with all it refers to; nil while it is copied.
        private var copies: [Int: (number: Int, size: Int)?] = [:]

        init(archive: KeyedArchive) { self.archive = archive }

        mutating func add(_ index: Int, depth: Int) throws -> (number: Int, size: Int) {
            if index == 0 { return (0, 1) }
            guard archive.objects.indices.contains(index) else { throw BinaryPropertyList.Mistake(reason: "An object refers to one that is not there.") }
            guard depth <= partDepth else { throw BinaryPropertyList.Mistake(reason: "Its objects nest deeper than \(partDepth) levels.") }
            if let known = copies[index] {
                guard let known else { throw BinaryPropertyList.Mistake(reason: "An object holds itself.") }
                return known
            }
            copies[index] = .some(nil)
            objects.append(.bool(false))
            let number = objects.count
            var size = 1
            objects[number - 1] = try copy(archive.objects[index], depth: depth, size: &size, isObject: true)
            guard size <= partSize else { throw BinaryPropertyList.Mistake(reason: "It is larger than any predicate.") }
            copies[index] = (number, size)
            return (number, size)
        }

        private mutating func copy(
            _ node: Int, depth: Int, size: inout Int, isObject: Bool = false
        ) throws -> BinaryPropertyListWriter.Tree {
            switch archive.list.nodes[node] {
            case .null: return .uid(0)
            case .bool(let flag): return .bool(flag)
            case .integer(let number): return .integer(number)
            case .real(let number): return .real(number)
            case .date(let seconds): return .date(seconds)
            case .data(let data): return .data(data)
            case .string(let text): return .string(text)
            case .uid(let index):
                let copy = try add(index, depth: depth + 1)
                size += copy.size
                return .uid(copy.number)
            case .array(let elements):
                return .array(
                    try elements.map { element in
                        switch archive.list.nodes[element] {
                        case .uid, .string: return try copy(element, depth: depth + 1, size: &size)
                        default: throw BinaryPropertyList.Mistake(reason: "A collection holds what is no object.")
                        }
                    })
            case .dictionary:
                guard isObject, let fields = KeyedArchive.dictionary(node, in: archive.list) else {
                    throw BinaryPropertyList.Mistake(reason: "A field holds what is no object.")
                }
                try check(fields)
                return .dictionary(
                    try fields.sorted { $0.key < $1.key }.map { ($0.key, try copy($0.value, depth: depth + 1, size: &size)) })
            }
        }

        /// Foundation's unarchiver stops the program where an object is not as it expects.
        private func check(_ fields: [String: Int]) throws {
            if fields["$classname"] != nil {
                guard let classes = fields["$classes"], case .array(let names) = archive.list.nodes[classes], !names.isEmpty,
                    names.allSatisfy({ if case .string = archive.list.nodes[$0] { true } else { false } }),
                    let name = fields["$classname"], case .string = archive.list.nodes[name], fields.count <= 3
                else { throw BinaryPropertyList.Mistake(reason: "A class is not as archives have them.") }
                return
            }
            guard let reference = fields["$class"], case .uid(let index) = archive.list.nodes[reference], archive.objects.indices.contains(index),
                KeyedArchive.dictionary(archive.objects[index], in: archive.list)?["$classname"] != nil
            else { throw BinaryPropertyList.Mistake(reason: "An object has no class.") }
            for (key, node) in fields {
                let value = archive.list.nodes[node]
                let fits =
                    switch key {
                    case "NS.objects", "NS.keys": if case .array = value { true } else { false }
                    case "NSOperatorType", "NSModifier", "NSOptions", "NSFlags", "NSExpressionType", "NSCompoundPredicateType":
                        if case .integer(let number) = value { (0...100_000).contains(number) } else { false }
                    case "NSNegate": if case .bool = value { true } else { false }
                    case "NSLeftExpression", "NSRightExpression", "NSPredicateOperator", "NSSubpredicates", "NSOperand", "NSSelectorName",
                        "NSArguments", "NSKeyPath", "NSVariable", "NSConstantValueClassName", "NSCollection", "NSPredicate":
                        if case .uid = value { true } else { false }
                    default: true
                    }
                guard fits else { throw BinaryPropertyList.Mistake(reason: "The field \(key) does not hold what it must.") }
            }
        }
    }
}

extension KeyedArchive.Object {
    /// The predicate of a field, nil for none.
    func predicate(_ key: String) throws -> NSPredicate? {
        guard let index = reference(key) else { return nil }
        return try PredicateArchive.predicate(from: archive.part(rootedAt: index))
    }

    /// The expression of a field, nil for none.
    func expression(_ key: String) throws -> NSExpression? {
        guard let index = reference(key) else { return nil }
        return try PredicateArchive.expression(from: archive.part(rootedAt: index))
    }
}
