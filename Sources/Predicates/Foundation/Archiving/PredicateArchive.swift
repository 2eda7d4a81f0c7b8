public import Foundation
package import PropertyLists

/// Encodes and decodes archives of predicates and expressions, in the layout of Apple's keyed archives as far as compiled models show it.
///
/// ``FormatPredicate``, its subclasses and ``NSExpression`` support `NSKeyedArchiver` and `NSKeyedUnarchiver` directly. Foundation's own
/// predicates on Linux do not: ``data(of:)-(NSPredicate)`` archives all predicates except blocks.
///
/// Foundation's unarchiver stops the program when a secure archive contains an unexpected class, and at some damaged archives;
/// ``predicate(from:)`` and ``expression(from:)`` decode archives without it and throw errors. Both support binary archives and XML.
public enum PredicateArchive {
    /// Archives a predicate.
    ///
    /// - Parameter predicate: A predicate that is, or consists of, trees.
    /// - Returns: A binary keyed archive with the predicate as its root.
    /// - Throws: ``InvalidPredicateError`` for a predicate with code, or with a constant that archives do not support.
    public static func data(of predicate: NSPredicate) throws -> Data {
        try data(root: .predicate(predicate.tree()))
    }

    /// Archives an expression.
    ///
    /// - Parameter expression: The expression.
    /// - Returns: A binary keyed archive with the expression as its root.
    /// - Throws: ``InvalidPredicateError`` for an expression with code, or with a constant that archives do not support.
    public static func data(of expression: NSExpression) throws -> Data {
        try data(root: .expression(expression.tree()))
    }

    /// Decodes a predicate.
    ///
    /// - Parameter data: A keyed archive whose root is a predicate.
    /// - Returns: The predicate.
    /// - Throws: ``InvalidPredicateError`` when the archive contains anything else, or an unknown value.
    public static func predicate(from data: Data) throws -> NSPredicate {
        NSPredicate.made(from: .success(try root(of: data) { try $0.predicate($1) }))
    }

    /// Decodes a predicate within another archive.
    ///
    /// - Parameters:
    ///   - archive: The archive.
    ///   - index: The index of the object.
    /// - Returns: The predicate.
    /// - Throws: ``InvalidPredicateError`` when the object is anything else, or contains an unknown value.
    package static func predicate(in archive: KeyedArchive, at index: Int) throws -> NSPredicate {
        NSPredicate.made(from: .success(try ArchiveReader(archive).predicate(index)))
    }

    /// Decodes an expression within another archive; see ``predicate(in:at:)``.
    package static func expression(in archive: KeyedArchive, at index: Int) throws -> NSExpression {
        NSExpression(tree: try ArchiveReader(archive).expression(index))
    }

    /// Decodes an expression.
    ///
    /// - Parameter data: A keyed archive whose root is an expression.
    /// - Returns: The expression.
    /// - Throws: ``InvalidPredicateError`` when the archive contains anything else, or an unknown value.
    public static func expression(from data: Data) throws -> NSExpression {
        NSExpression(tree: try root(of: data) { try $0.expression($1) })
    }

    /// Registers the classes of this framework with Foundation's archivers, under Apple's names.
    ///
    /// Creating a predicate or expression does so too; call it before you use `NSKeyedUnarchiver` in a program that has created none.
    public static func register() {
        _ = registered
    }

    // MARK: Registration

    /// For the unarchiver only: Foundation's archiver on Linux has no class names, so ``data(of:)`` replaces them afterwards.
    static let registered: Void = {
        for (name, own): (String, AnyClass) in ownClasses {
            let reader: AnyClass =
                own is ArchivedNode.Type ? (name.hasSuffix("Operator") ? ArchivedOperator.self : NSExpression.self) : own
            NSKeyedUnarchiver.setClass(reader, forClassName: name)
            NSKeyedUnarchiver.setClass(reader, forClassName: NSStringFromClass(own))
        }
    }()

    /// The classes of this framework, and their names in Apple's archives.
    private static var ownClasses: [(name: String, own: AnyClass)] {
        [
            ("NSComparisonPredicate", NSComparisonPredicate.self), ("NSCompoundPredicate", FormatCompoundPredicate.self),
            ("NSTruePredicate", TruePredicate.self), ("NSFalsePredicate", FalsePredicate.self), ("NSExpression", NSExpression.self),
        ] + ArchivedNode.expressionClasses + ArchivedNode.operatorClasses
    }

    /// The classes of constants.
    static let constantClasses: [AnyClass] = [
        NSString.self, NSNumber.self, NSDate.self, NSData.self, NSURL.self, NSUUID.self, NSArray.self, NSSet.self, NSOrderedSet.self,
        NSNull.self, NSDecimalNumber.self,
    ]

    /// Apple's class names, by all names in archives: Apple's, and this framework's in archives by Foundation's archiver alone.
    static let appleNames: [String: String] = {
        var names: [String: String] = [:]
        for (name, own): (String, AnyClass) in ownClasses {
            names[name] = name
            names[NSStringFromClass(own)] = name
        }
        return names
    }()

    // MARK: Reading and writing

    private static func data(root: ArchivedTree) throws -> Data { try PredicateArchiveWriter.data(of: root) }

    private static func root<Tree>(of data: Data, _ read: (ArchiveReader, Int) throws -> Tree) throws -> Tree {
        do {
            let archive = try KeyedArchive(data)
            return try read(ArchiveReader(archive), archive.rootIndex)
        } catch let mistake as BinaryPropertyList.FormatError {
            throw unreadable("The archive cannot be read: \(mistake.reason)")
        }
    }

    static func unreadable(_ message: String) -> InvalidPredicateError {
        InvalidPredicateError(kind: .unconvertibleValue, message: message)
    }
}

/// `TRUEPREDICATE`, which has a separate class in archives.
final class TruePredicate: FormatPredicate {}

/// `FALSEPREDICATE`, which has a separate class in archives.
final class FalsePredicate: FormatPredicate {}
