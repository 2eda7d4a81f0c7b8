public import Foundation

/// Archives of predicates and expressions, in the layout of Apple's keyed archives as far as compiled models show it.
///
/// ``FormatPredicate``, its subclasses and ``NSExpression`` can be given to `NSKeyedArchiver` and `NSKeyedUnarchiver` as they are. Foundation's own
/// predicates on Linux cannot: ``data(of:)`` archives predicates of every kind but blocks.
///
/// Foundation's unarchiver stops the program when a secure archive holds a class that was not asked for; ``predicate(from:)`` looks at the names
/// of the classes beforehand, and throws.
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
        let classes: [AnyClass] = [FormatPredicate.self, FormatCompoundPredicate.self]
        guard let predicate = try root(of: classes, from: data) as? NSPredicate else { throw unreadable("The archive holds no predicate") }
        _ = try predicate.tree()
        return predicate
    }

    /// Reads an expression.
    ///
    /// - Parameter data: A keyed archive whose root is an expression.
    /// - Returns: The expression.
    /// - Throws: ``InvalidPredicateError`` when the archive holds anything else, or something that is not known.
    public static func expression(from data: Data) throws -> NSExpression {
        guard let expression = try root(of: [NSExpression.self], from: data) as? NSExpression else {
            throw unreadable("The archive holds no expression")
        }
        return expression
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

    /// The names of all classes that an archive of a predicate may hold.
    private static let knownNames: Set<String> = {
        var names: Set<String> = ["NSMutableArray", "NSMutableSet", "NSMutableString", "NSMutableData", "NSMutableOrderedSet"]
        for (name, own): (String, AnyClass) in ownClasses { names.formUnion([name, NSStringFromClass(own)]) }
        for known in constantClasses { names.insert(NSStringFromClass(known)) }
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

    private static func root(of classes: [AnyClass], from data: Data) throws -> Any? {
        register()
        guard let archive = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any],
            let objects = archive["$objects"] as? [Any]
        else { throw unreadable("The data is no keyed archive") }
        for case let object as [String: Any] in objects {
            guard let name = object["$classname"] as? String else { continue }
            guard knownNames.contains(name) else { throw unreadable("The archive holds an object of class \(name)") }
        }
        do {
            let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
            unarchiver.decodingFailurePolicy = .setErrorAndReturn
            // The names were checked; what Foundation would do with a class in the wrong place is to stop the program.
            unarchiver.requiresSecureCoding = false
            let object = unarchiver.decodeObject(of: classes, forKey: NSKeyedArchiveRootObjectKey)
            if let error = unarchiver.error { throw error }
            return object
        } catch {
            throw unreadable("The archive cannot be read: \(error)")
        }
    }

    static func unreadable(_ message: String) -> InvalidPredicateError {
        InvalidPredicateError(kind: .unconvertibleValue, message: message)
    }

    // MARK: What predicates and expressions do with a coder

    static func encode(_ result: Result<PredicateTree, InvalidPredicateError>, with coder: NSCoder) {
        encode(coder) { try ArchivedTree.predicate(result.get()) }
    }

    static func encode(_ result: Result<ExpressionTree, InvalidPredicateError>, with coder: NSCoder) {
        encode(coder) { try ArchivedTree.expression(result.get()) }
    }

    /// Writes the fields of an object that is being encoded. What cannot be written fails the coder, and so the archiving.
    private static func encode(_ coder: NSCoder, _ tree: () throws -> ArchivedTree) {
        do {
            for (key, value) in try tree().fields(depth: 0) { value.encode(key, with: coder) }
        } catch {
            coder.failWithError(error)
        }
    }
}

/// `TRUEPREDICATE`, which has a class of its own in archives.
final class TruePredicate: FormatPredicate {}

/// `FALSEPREDICATE`, which has a class of its own in archives.
final class FalsePredicate: FormatPredicate {}
