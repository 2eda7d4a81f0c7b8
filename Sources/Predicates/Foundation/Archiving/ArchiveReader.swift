import Foundation
internal import PropertyLists

/// Decodes predicates and expressions from a keyed archive.
///
/// The archive is not trusted: an object that contains itself, objects nested without end, and a small file that expands to a large tree
/// by shared references are errors.
final class ArchiveReader {
    let archive: KeyedArchive
    private let names: [String: String]
    /// The decoded objects, because decoding one costs as much as it has fields.
    private var known: [Int: KeyedArchive.Object] = [:]
    /// The objects being decoded.
    private var open: Set<Int> = []
    /// The remaining budget. Objects and strings count at each reference.
    private var budget: Int

    init(_ archive: KeyedArchive) {
        self.archive = archive
        names = PredicateArchive.appleNames
        budget = archive.budget
    }

    /// Decodes the predicate at an index.
    func predicate(_ index: Int) throws -> PredicateTree {
        try nested(index) { object in
            let fields = ReaderFields(reader: self, object: object)
            switch names[object.className] {
            case "NSTruePredicate": return .true
            case "NSFalsePredicate": return .false
            case "NSComparisonPredicate", "NSCompoundPredicate":
                guard let tree = try fields.predicateTree() else {
                    throw PredicateArchive.unreadable("The archive holds a predicate of an unknown kind")
                }
                return tree
            default: throw unexpected(object, "a predicate")
            }
        }
    }

    /// Decodes the expression at an index.
    func expression(_ index: Int) throws -> ExpressionTree {
        try nested(index) { object in
            guard let name = names[object.className], name.hasSuffix("Expression") else {
                throw unexpected(object, "an expression")
            }
            return try ReaderFields(reader: self, object: object).expressionTree()
        }
    }

    /// Returns the indices of a list's elements.
    func elements(_ index: Int) throws -> [Int] {
        let list = try object(index)
        guard ["NSArray", "NSMutableArray"].contains(list.className), let elements = list.references("NS.objects") else {
            throw unexpected(list, "a list")
        }
        try spend(elements.count)
        return elements
    }

    /// Returns the object at an index.
    func object(_ index: Int) throws -> KeyedArchive.Object {
        try spend(1)
        if let object = known[index] { return object }
        guard let object = archive.object(index) else { throw PredicateArchive.unreadable("The archive refers to an object that is none") }
        known[index] = object
        return object
    }

    /// Decodes an object one level deeper, and rejects one that contains itself.
    func nested<Value>(_ index: Int, _ read: (KeyedArchive.Object) throws -> Value) throws -> Value {
        try PredicateArchive.checkDepth(open.count)
        guard open.insert(index).inserted else { throw PredicateArchive.unreadable("The archive holds an object that holds itself") }
        defer { open.remove(index) }
        return try read(object(index))
    }

    private func unexpected(_ object: KeyedArchive.Object, _ expected: String) -> InvalidPredicateError {
        PredicateArchive.unreadable("The archive holds an object of class \(object.className), where \(expected) is expected")
    }

    func spend(_ amount: Int) throws {
        budget -= amount
        guard budget >= 0 else { throw PredicateArchive.unreadable("The archive holds a predicate that is much larger than itself") }
    }

    /// Counts a string of the tree, which costs time at each reference.
    func checked(_ text: String) throws -> String {
        try spend(1 + text.utf8.count / 64)
        return text
    }
}

/// The fields of an object that ``ArchiveReader`` decodes.
struct ReaderFields: ArchivedFields {
    let reader: ArchiveReader
    let object: KeyedArchive.Object

    func has(_ key: String) -> Bool { object.has(key) }

    func integer(_ key: String) throws -> Int {
        guard has(key) else { return 0 }
        guard let number = object.integer(key) else { throw PredicateArchive.unreadable("The archive holds no number in \(key)") }
        return number
    }

    func flag(_ key: String) throws -> Bool { try integer(key) != 0 }

    func text(_ key: String) throws -> String {
        guard let text = object.reference(key).flatMap(reader.archive.text) else {
            throw PredicateArchive.unreadable("The archive lacks a string for \(key)")
        }
        return try reader.checked(text)
    }

    func constant(_ key: String) throws -> PropertyValue {
        // A reference to `$null` is nil.
        guard let index = object.reference(key) else {
            guard object.refersToNothing(key) else { throw PredicateArchive.unreadable("The archive holds no object in \(key)") }
            return .null
        }
        return try reader.constant(index)
    }

    func comparisonOperator(_ key: String) throws -> ArchivedComparisonOperator {
        let fields = ReaderFields(reader: reader, object: try reader.object(child(key)))
        guard PredicateArchive.appleNames[fields.object.className]?.hasSuffix("Operator") == true, fields.has("NSOperatorType") else {
            throw PredicateArchive.unreadable("The archive holds a comparison with an unknown operator")
        }
        return ArchivedComparisonOperator(
            type: try fields.integer("NSOperatorType"), modifier: try fields.integer("NSModifier"),
            options: try fields.integer("NSOptions") | fields.integer("NSFlags"), isNegated: try fields.flag("NSNegate"))
    }

    func expression(_ key: String) throws -> ExpressionTree { try reader.expression(child(key)) }

    func expressions(_ key: String) throws -> [ExpressionTree] { try reader.elements(child(key)).map(reader.expression) }

    func predicate(_ key: String) throws -> PredicateTree { try reader.predicate(child(key)) }

    func predicates(_ key: String) throws -> [PredicateTree] { try reader.elements(child(key)).map(reader.predicate) }

    private func child(_ key: String) throws -> Int {
        guard let index = object.reference(key) else { throw PredicateArchive.unreadable("The archive lacks an object for \(key)") }
        return index
    }
}
