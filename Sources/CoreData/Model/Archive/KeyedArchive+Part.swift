internal import Foundation
internal import Predicates

extension KeyedArchive {
    /// An archive with the object of `index` as its root and nothing but what it refers to: what the reader of predicates is given.
    ///
    /// - Throws: when a reference leads nowhere or round in a circle, when an object is none that predicates are made of or not as archives
    ///   have it, or when the part is beyond all measure.
    func part(rootedAt index: Int) throws -> Data {
        var part = ArchivePart(archive: self)
        try part.collect(from: index)
        try part.checkOrder()
        return part.data
    }

    /// The predicate of an object.
    func predicate(of index: Int) throws -> NSPredicate { try PredicateArchive.predicate(from: part(rootedAt: index)) }
}

extension KeyedArchive.Object {
    /// The predicate of a field, nil for none.
    func predicate(_ key: String) throws -> NSPredicate? { try reference(key).map(archive.predicate) }

    /// The expression of a field, nil for none.
    func expression(_ key: String) throws -> NSExpression? {
        try reference(key).map { try PredicateArchive.expression(from: archive.part(rootedAt: $0)) }
    }
}

/// A part of an archive on its way into an archive of its own. Nothing here recurses: what Foundation is to read by recursion is measured
/// before.
private struct ArchivePart {
    /// How deep objects may nest. A predicate takes two for each level: its own and the array of its parts.
    private static let depthLimit = 90
    /// How many objects there may be, each counted wherever it is named.
    private static let sizeLimit = 20_000

    private let archive: KeyedArchive
    /// The new numbers of the objects by their old ones; the root has number 1.
    private var numbers: [Int: Int] = [:]
    /// The copies, and the old numbers of the objects that each refers to.
    private var copies: [(tree: BinaryPropertyListWriter.Tree, references: [Int])] = []

    init(archive: KeyedArchive) { self.archive = archive }

    var data: Data {
        BinaryPropertyListWriter.data(
            .dictionary([
                ("$version", .integer(100_000)), ("$archiver", .string("NSKeyedArchiver")),
                ("$top", .dictionary([("root", .uid(1))])), ("$objects", .array([.string("$null")] + copies.map(\.tree))),
            ]))
    }

    /// Copies an object and all that it refers to.
    mutating func collect(from root: Int) throws {
        var waiting = [root]
        numbers[root] = 1
        var next = 0
        while next < waiting.count {
            guard waiting.count <= Self.sizeLimit else { throw mistake("It is larger than any predicate.") }
            let index = waiting[next]
            next += 1
            guard archive.objects.indices.contains(index) else { throw mistake("An object refers to one that is not there.") }
            var references: [Int] = []
            let tree = try object(archive.objects[index], &references)
            for reference in references where numbers[reference] == nil {
                waiting.append(reference)
                numbers[reference] = waiting.count
            }
            copies.append((tree, references))
        }
        // The references bear old numbers until all new ones are known.
        copies = copies.map { (renumbered($0.tree), $0.references) }
    }

    private func renumbered(_ tree: BinaryPropertyListWriter.Tree) -> BinaryPropertyListWriter.Tree {
        switch tree {
        case .uid(let index): .uid(index == 0 ? 0 : numbers[index] ?? 0)
        case .array(let elements): .array(elements.map(renumbered))
        case .dictionary(let pairs): .dictionary(pairs.map { ($0.key, renumbered($0.value)) })
        default: tree
        }
    }

    /// Finds circles, and measures depth and size from the objects that refer to nothing upwards.
    func checkOrder() throws {
        var users: [[Int]] = Array(repeating: [], count: copies.count)
        var waitingFor = copies.map(\.references.count)
        for (index, copy) in copies.enumerated() {
            for reference in copy.references { users[numbers[reference]! - 1].append(index) }
        }
        var depth = Array(repeating: 1, count: copies.count)
        var size = depth
        var ready = copies.indices.filter { waitingFor[$0] == 0 }
        var done = 0
        while let index = ready.popLast() {
            done += 1
            guard depth[index] <= Self.depthLimit else { throw mistake("Its objects nest deeper than \(Self.depthLimit) levels.") }
            guard size[index] <= Self.sizeLimit else { throw mistake("It is larger than any predicate.") }
            for user in users[index] {
                depth[user] = max(depth[user], depth[index] + 1)
                size[user] = min(size[user] + size[index], Self.sizeLimit + 1)
                waitingFor[user] -= 1
                if waitingFor[user] == 0 { ready.append(user) }
            }
        }
        guard done == copies.count else { throw mistake("An object holds itself.") }
    }

    private func mistake(_ reason: String) -> BinaryPropertyList.Mistake { BinaryPropertyList.Mistake(reason: reason) }

    private func object(_ node: Int, _ references: inout [Int]) throws -> BinaryPropertyListWriter.Tree {
        guard let fields = KeyedArchive.dictionary(node, in: archive.list) else {
            if let value = try scalar(node, &references) { return value }
            throw mistake("An object is none that an archive has.")
        }
        try check(fields)
        let sorted = fields.sorted { $0.key < $1.key }
        return .dictionary(
            try sorted.map { key, node in
                if let value = try scalar(node, &references) { return (key, value) }
                guard case .array(let elements) = archive.list.nodes[node] else {
                    throw mistake("The field \(key) holds what is no object.")
                }
                return (
                    key,
                    .array(
                        try elements.map { element in
                            switch archive.list.nodes[element] {
                            case .uid, .string:
                                if let value = try scalar(element, &references) { return value }
                                fallthrough
                            default: throw mistake("A collection holds what is no object.")
                            }
                        })
                )
            })
    }

    /// A value that is no collection, nil for one that is.
    private func scalar(_ node: Int, _ references: inout [Int]) throws -> BinaryPropertyListWriter.Tree? {
        switch archive.list.nodes[node] {
        case .null: return .uid(0)
        case .bool(let flag): return .bool(flag)
        case .integer(let number): return .integer(number)
        case .real(let number): return .real(number)
        case .date(let seconds): return .date(seconds)
        case .data(let data): return .data(data)
        case .string(let text): return .string(text)
        case .uid(let index):
            if index != 0 { references.append(index) }
            return .uid(index)
        case .array, .dictionary: return nil
        }
    }

    /// Classes that predicates are made of; a reference to anything else is a mistake of the archive.
    private static func isPart(_ name: String) -> Bool {
        let constants: Set<String> = [
            "NSString", "NSMutableString", "NSNumber", "NSDate", "NSData", "NSMutableData", "NSUUID", "NSURL", "NSArray", "NSMutableArray",
            "NSSet",
            "NSMutableSet", "NSOrderedSet", "NSMutableOrderedSet", "NSNull",
        ]
        return constants.contains(name)
            || (name.hasPrefix("NS") && ["Expression", "Predicate", "Operator"].contains { name.hasSuffix($0) })
    }

    /// Foundation's unarchiver stops the program where an object is not as it expects.
    private func check(_ fields: [String: Int]) throws {
        if fields["$classname"] != nil {
            guard let classes = fields["$classes"], case .array(let names) = archive.list.nodes[classes], !names.isEmpty,
                names.allSatisfy({ if case .string = archive.list.nodes[$0] { true } else { false } }), fields.count <= 3
            else { throw mistake("A class is not as archives have them.") }
            return
        }
        guard let reference = fields["$class"], case .uid(let index) = archive.list.nodes[reference],
            archive.objects.indices.contains(index),
            let node = KeyedArchive.dictionary(archive.objects[index], in: archive.list)?["$classname"],
            case .string(let name) = archive.list.nodes[node]
        else { throw mistake("An object has no class.") }
        guard Self.isPart(name) else { throw mistake("It holds an object of class \(name).") }
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
            guard fits else { throw mistake("The field \(key) does not hold what it must.") }
        }
    }
}
