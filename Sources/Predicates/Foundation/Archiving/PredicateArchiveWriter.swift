import Foundation
internal import PropertyLists

/// Writes predicates and expressions under Apple's class names, in time linear in their size.
///
/// Foundation's archiver on Linux only uses the names of its own classes, and compares each object with all earlier ones.
struct PredicateArchiveWriter {
    private var archive = KeyedArchiveWriter()

    /// Returns the archive of a tree.
    static func data(of root: ArchivedTree) throws -> Data {
        var writer = PredicateArchiveWriter()
        let reference = try writer.add(root.encodable(depth: 0))
        return try writer.archive.data(root: reference)
    }

    private mutating func add(_ object: Any) throws -> KeyedArchiveWriter.Reference {
        switch object {
        case let node as ArchivedNode: return try add(node.fields, as: node)
        case let predicate as NSPredicate: return try add(ArchivedTree.predicate(predicate.tree()).fields(depth: 0), as: predicate)
        // Lists of nodes; a list of constants is a value.
        case let list as NSArray where list.contains { $0 is ArchivedNode || $0 is NSPredicate }:
            let elements = try list.map { try add($0) }
            return archive.array(elements)
        default:
            guard let reference = archive.value(object) else {
                throw PredicateArchive.unreadable("\(type(of: object)) cannot be archived")
            }
            return reference
        }
    }

    /// Adds an object with its fields; its superclasses are named with its class, as archivers do.
    private mutating func add(_ fields: [(String, ArchivedNode.Field)], as object: NSObject) throws -> KeyedArchiveWriter.Reference {
        guard let name = PredicateArchive.appleNames[NSStringFromClass(type(of: object))] else {
            throw PredicateArchive.unreadable("\(type(of: object)) cannot be archived")
        }
        let reference = archive.reserve()
        let written = try fields.map { key, field -> (String, KeyedArchiveWriter.Field) in
            switch field {
            case .integer(let number): (key, .integer(number))
            case .flag(let flag): (key, .flag(flag))
            case .object(let value): (key, .reference(try add(value)))
            }
        }
        var chain = [name]
        if name.hasSuffix("Predicate") { chain += ["NSPredicate"] }
        if name == "NSKeyPathExpression" { chain += ["NSFunctionExpression"] }
        if name.hasSuffix("Expression"), name != "NSExpression" { chain += ["NSExpression"] }
        if name.hasSuffix("Operator") { chain += ["NSPredicateOperator"] }
        archive.define(reference, chain, written)
        return reference
    }
}
