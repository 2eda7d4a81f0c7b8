public import Foundation

/// Archives of predicates and expressions, in the layout of Apple's keyed archives as far as compiled models show it.
///
/// ``FormatPredicate``, its subclasses and ``NSExpression`` can be given to `NSKeyedArchiver` and `NSKeyedUnarchiver` as they are. Foundation's own
/// predicates on Linux cannot: ``data(of:)`` archives predicates of every kind but blocks.
///
/// Foundation's unarchiver stops the program when a secure archive holds a class that was not asked for, and at some damaged archives;
/// ``predicate(from:)`` and ``expression(from:)`` read archives without it, and throw. Both read binary archives and those in XML.
public enum PredicateArchive {
    /// Archives a predicate.
    ///
    /// - Parameter predicate: Any predicate that is, or is made of, trees.
    /// - Returns: A binary keyed archive with the predicate as its root.
    /// - Throws: ``InvalidPredicateError`` for a predicate with code in it, or with a constant that no archive can hold.
    public static func data(of predicate: NSPredicate) throws -> Data {
        try data(root: .predicate(predicate.tree()))
    }

    /// Archives an expression.
    ///
    /// - Parameter expression: The expression.
    /// - Returns: A binary keyed archive with the expression as its root.
    /// - Throws: ``InvalidPredicateError`` for an expression with code in it, or with a constant that no archive can hold.
    public static func data(of expression: NSExpression) throws -> Data {
        try data(root: .expression(expression.tree()))
    }

    /// Reads a predicate.
    ///
    /// - Parameter data: A keyed archive whose root is a predicate.
    /// - Returns: The predicate.
    /// - Throws: ``InvalidPredicateError`` when the archive holds anything else, or something that is not known.
    public static func predicate(from data: Data) throws -> NSPredicate {
        NSPredicate.made(from: .success(try root(of: data) { try $0.predicate($1) }))
    }

    /// Reads a predicate that is part of an archive of something else.
    ///
    /// - Parameters:
    ///   - archive: The archive.
    ///   - index: The number of the object.
    /// - Returns: The predicate.
    /// - Throws: ``InvalidPredicateError`` when the object is anything else, or holds something that is not known.
    package static func predicate(in archive: KeyedArchive, at index: Int) throws -> NSPredicate {
        NSPredicate.made(from: .success(try ArchiveReader(archive).predicate(index)))
    }

    /// Reads an expression that is part of an archive of something else; see ``predicate(in:at:)``.
    package static func expression(in archive: KeyedArchive, at index: Int) throws -> NSExpression {
        NSExpression(tree: try ArchiveReader(archive).expression(index))
    }

    /// Reads an expression.
    ///
    /// - Parameter data: A keyed archive whose root is an expression.
    /// - Returns: The expression.
    /// - Throws: ``InvalidPredicateError`` when the archive holds anything else, or something that is not known.
    public static func expression(from data: Data) throws -> NSExpression {
        NSExpression(tree: try root(of: data) { try $0.expression($1) })
    }

    /// Tells Foundation's archivers which of our classes stand for Apple's.
    ///
    /// Making a predicate or expression does it too; call it before reading an archive with `NSKeyedUnarchiver` in a program that has made none.
    public static func register() {
        _ = registered
    }

    // MARK: Registration

    /// Only the unarchiver is told: Foundation's archiver on Linux keeps no names for classes, so ``data(of:)`` puts them in afterwards.
    static let registered: Void = {
        for (name, own): (String, AnyClass) in ownClasses {
            let reader: AnyClass =
                own is ArchivedNode.Type ? (name.hasSuffix("Operator") ? ArchivedOperator.self : NSExpression.self) : own
            NSKeyedUnarchiver.setClass(reader, forClassName: name)
            NSKeyedUnarchiver.setClass(reader, forClassName: NSStringFromClass(own))
        }
    }()

    /// Our classes, and the names they have in Apple's archives.
    private static var ownClasses: [(name: String, own: AnyClass)] {
        [
            ("NSComparisonPredicate", NSComparisonPredicate.self), ("NSCompoundPredicate", FormatCompoundPredicate.self),
            ("NSTruePredicate", TruePredicate.self), ("NSFalsePredicate", FalsePredicate.self), ("NSExpression", NSExpression.self),
        ] + ArchivedNode.expressionClasses + ArchivedNode.operatorClasses
    }

    /// What a constant may be.
    static let constantClasses: [AnyClass] = [
        NSString.self, NSNumber.self, NSDate.self, NSData.self, NSURL.self, NSUUID.self, NSArray.self, NSSet.self, NSOrderedSet.self,
        NSNull.self, NSDecimalNumber.self,
    ]

    /// Apple's names of the classes, by all that archives may have: those, and ours in archives that Foundation's archiver made by itself.
    static let appleNames: [String: String] = {
        var names: [String: String] = [:]
        for (name, own): (String, AnyClass) in ownClasses {
            names[name] = name
            names[NSStringFromClass(own)] = name
        }
        return names
    }()

    // MARK: Reading and writing

    private static func data(root: ArchivedTree) throws -> Data {
        register()
        let node = try root.encodable(depth: 0)
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode(node, forKey: NSKeyedArchiveRootObjectKey)
        archiver.finishEncoding()
        return try renamed(archiver.encodedData)
    }

    /// The archive with Apple's names in the place of ours.
    private static func renamed(_ data: Data) throws -> Data {
        guard var archive = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any],
            var objects = archive["$objects"] as? [Any]
        else { throw unreadable("The archive could not be written") }
        let names = Dictionary(ownClasses.map { (NSStringFromClass($0.own), $0.name) }) { first, _ in first }
        for (index, object) in objects.enumerated() {
            guard let own = (object as? [String: Any])?["$classname"] as? String, let name = names[own] else { continue }
            var chain = [name]
            if name.hasSuffix("Predicate") { chain += ["NSPredicate"] }
            if name == "NSKeyPathExpression" { chain += ["NSFunctionExpression"] }
            if name.hasSuffix("Expression"), name != "NSExpression" { chain += ["NSExpression"] }
            if name.hasSuffix("Operator") { chain += ["NSPredicateOperator"] }
            objects[index] = ["$classname": name, "$classes": chain + ["NSObject"]] as [String: Any]
        }
        archive["$objects"] = objects
        return try PropertyListSerialization.data(fromPropertyList: archive, format: .binary, options: 0)
    }

    private static func root<Tree>(of data: Data, _ read: (ArchiveReader, Int) throws -> Tree) throws -> Tree {
        do {
            let archive = try KeyedArchive(data)
            return try read(ArchiveReader(archive), archive.rootIndex)
        } catch let mistake as BinaryPropertyList.Mistake {
            throw unreadable("The archive cannot be read: \(mistake.reason)")
        }
    }

    static func unreadable(_ message: String) -> InvalidPredicateError {
        InvalidPredicateError(kind: .unconvertibleValue, message: message)
    }
}

/// `TRUEPREDICATE`, which has a class of its own in archives.
final class TruePredicate: FormatPredicate {}

/// `FALSEPREDICATE`, which has a class of its own in archives.
final class FalsePredicate: FormatPredicate {}
