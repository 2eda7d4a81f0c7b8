import Foundation

extension PredicateArchive {
    private static let depthKey = "Predicates.PredicateArchive.depth"

    /// Runs one level deeper: a hostile archive nests as it likes, and Foundation reads it by recursion.
    private static func nested<Value>(with coder: NSCoder, _ body: () throws -> Value) -> Value? {
        let storage = Thread.current.threadDictionary
        let depth = storage[depthKey] as? Int ?? 0
        defer { storage[depthKey] = depth == 0 ? nil : depth }
        storage[depthKey] = depth + 1
        do {
            // A key path has two levels of its own that the tree has not.
            guard depth <= PredicateLimits.archiveNesting + 2 else {
                throw InvalidPredicateError(
                    kind: .tooDeep, message: "The archive nests deeper than \(PredicateLimits.archiveNesting) levels")
            }
            return try body()
        } catch {
            coder.failWithError(error)
            return nil
        }
    }

    /// Reads the fields of a predicate that is being decoded.
    static func decodePredicate(with coder: NSCoder, isTrue: Bool? = nil) -> PredicateTree? {
        nested(with: coder) {
            if coder.containsValue(forKey: "NSPredicateOperator") { return .comparison(try comparison(coder)) }
            if coder.containsValue(forKey: "NSCompoundPredicateType") { return try compound(coder) }
            guard let isTrue else { throw unreadable("The archive holds a predicate of an unknown kind") }
            return isTrue ? .true : .false
        }
    }

    /// Reads the fields of an expression that is being decoded.
    static func decodeExpression(with coder: NSCoder) -> ExpressionTree? {
        nested(with: coder) { try expression(coder) }
    }

    private static func comparison(_ coder: NSCoder) throws -> PredicateComparison {
        guard let operation = coder.decodeObject(of: [ArchivedOperator.self], forKey: "NSPredicateOperator") as? ArchivedOperator,
            let type = NSComparisonPredicate.Operator(rawValue: UInt(bitPattern: operation.type)), type != .customSelector
        else { throw unreadable("The archive holds a comparison with an unknown operator") }
        let modifiers: [PredicateComparison.Modifier] = [.direct, .all, .any]
        guard modifiers.indices.contains(operation.modifier) else {
            throw unreadable("The archive holds a comparison with an unknown modifier")
        }
        return PredicateComparison(
            left: try child("NSLeftExpression", coder), operator: operation.isNegated && type == .equalTo ? .notEqual : type.treeOperator,
            right: try child("NSRightExpression", coder), modifier: modifiers[operation.modifier],
            options: PredicateComparison.Options(rawValue: operation.options))
    }

    private static func compound(_ coder: NSCoder) throws -> PredicateTree {
        let classes: [AnyClass] = [NSArray.self, FormatPredicate.self, FormatCompoundPredicate.self]
        guard let parts = coder.decodeObject(of: classes, forKey: "NSSubpredicates") as? [Any] else {
            throw unreadable("The archive holds a compound predicate without parts")
        }
        let trees = try parts.map { part in
            guard let predicate = part as? NSPredicate else { throw unreadable("A part of a compound predicate is no predicate") }
            return try predicate.tree()
        }
        switch (coder.decodeInteger(forKey: "NSCompoundPredicateType"), trees.count) {
        case (0, 1): return .not(trees[0])
        case (1, _): return .and(trees)
        case (2, _): return .or(trees)
        default: throw unreadable("The archive holds a compound predicate of an unknown kind")
        }
    }

    private static func expression(_ coder: NSCoder) throws -> ExpressionTree {
        guard coder.containsValue(forKey: "NSExpressionType") else { throw unreadable("The archive holds an expression without a type") }
        switch coder.decodeInteger(forKey: "NSExpressionType") {
        case ArchivedTree.Kind.constant: return try constant(coder)
        case ArchivedTree.Kind.evaluatedObject: return .evaluatedObject
        case ArchivedTree.Kind.variable: return .variable(try text("NSVariable", coder))
        case ArchivedTree.Kind.keyPath, ArchivedTree.Kind.function: return try call(coder)
        case ArchivedTree.Kind.union:
            return .setOperation(.union, try child("NSLeftExpression", coder), try child("NSRightExpression", coder))
        case ArchivedTree.Kind.intersect:
            return .setOperation(.intersect, try child("NSLeftExpression", coder), try child("NSRightExpression", coder))
        case ArchivedTree.Kind.minus:
            return .setOperation(.minus, try child("NSLeftExpression", coder), try child("NSRightExpression", coder))
        case ArchivedTree.Kind.keyPathSpecifier: return .keyPath(keys(try text("NSKeyPath", coder)))
        case ArchivedTree.Kind.symbol: return .keyPath([try text("NSSymbol", coder)])
        case ArchivedTree.Kind.assignment: return .assignment(try text("NSVariable", coder), try child("NSSubexpression", coder))
        case ArchivedTree.Kind.subquery:
            return .subquery(
                try child("NSCollection", coder), variable: try text("NSVariable", coder), try predicate("NSPredicate", coder))
        case ArchivedTree.Kind.aggregate:
            let elements = try list("NSCollection", coder)
            let constants = elements.compactMap { if case .constant(let value) = $0 { value } else { nil } }
            return constants.count == elements.count ? .constant(.array(constants)) : .aggregate(elements)
        case ArchivedTree.Kind.anyKey: return .anyKey
        case ArchivedTree.Kind.conditional:
            return .conditional(
                try predicate("NSPredicate", coder), try child("NSTrueExpression", coder), try child("NSFalseExpression", coder))
        case ArchivedTree.Kind.fetch:
            return .fetch(
                try child("NSFetchRequest", coder), context: try child("NSContext", coder),
                countOnly: coder.decodeBool(forKey: "NSCountOnly"))
        case let kind: throw unreadable("The archive holds an expression of the unknown type \(kind)")
        }
    }

    private static func constant(_ coder: NSCoder) throws -> ExpressionTree {
        // A key that is not there is an error to Foundation's unarchiver.
        if coder.containsValue(forKey: "NSConstantValueClassName") {
            return .constant(.string(try text("NSConstantValueClassName", coder)))
        }
        guard coder.containsValue(forKey: "NSConstantValue") else { return .constant(.null) }
        if coder.containsValue(forKey: "PredicatesDecimal") {
            guard let number = Decimal(string: try text("PredicatesDecimal", coder)) else {
                throw unreadable("The archive holds a decimal number that cannot be read")
            }
            return .constant(.decimal(number))
        }
        let value = try PropertyValue(any: coder.decodeObject(of: constantClasses, forKey: "NSConstantValue"))
        return .constant(value.number(ofType: coder.decodeInteger(forKey: "PredicatesNumberType")))
    }

    /// A key path is a call as well: of `valueForKeyPath:`, with a path that is no constant.
    private static func call(_ coder: NSCoder) throws -> ExpressionTree {
        let operand = try child("NSOperand", coder)
        let name = try text("NSSelectorName", coder)
        let arguments = try list("NSArguments", coder)
        if name == "valueForKey:" || name == "valueForKeyPath:", arguments.count == 1 {
            switch arguments[0] {
            case .keyPath(let keys), .navigation(_, let keys): return operand.appending(keys)
            case .constant(.string(let path)): return operand.appending(keys(path))
            default: break
            }
        }
        guard operand == .constant(.string("_NSPredicateUtilities")) else { return .method(operand, name, arguments) }
        return .function(named: name, arguments)
    }

    private static func keys(_ path: String) -> [String] {
        path.split(separator: ".").map(String.init)
    }

    // MARK: Fields

    private static func child(_ key: String, _ coder: NSCoder) throws -> ExpressionTree {
        guard let expression = coder.decodeObject(of: [NSExpression.self], forKey: key) as? NSExpression else {
            throw unreadable("The archive lacks an expression for \(key)")
        }
        return try expression.tree()
    }

    private static func list(_ key: String, _ coder: NSCoder) throws -> [ExpressionTree] {
        guard let elements = coder.decodeObject(of: [NSArray.self, NSExpression.self], forKey: key) as? [Any] else {
            throw unreadable("The archive lacks a list for \(key)")
        }
        return try elements.map { element in
            guard let expression = element as? NSExpression else { throw unreadable("The archive holds no expression in \(key)") }
            return try expression.tree()
        }
    }

    private static func predicate(_ key: String, _ coder: NSCoder) throws -> PredicateTree {
        let classes: [AnyClass] = [FormatPredicate.self, FormatCompoundPredicate.self]
        guard let predicate = coder.decodeObject(of: classes, forKey: key) as? NSPredicate else {
            throw unreadable("The archive lacks a predicate for \(key)")
        }
        return try predicate.tree()
    }

    private static func text(_ key: String, _ coder: NSCoder) throws -> String {
        guard let text = coder.decodeObject(of: [NSString.self], forKey: key) as? String else {
            throw unreadable("The archive lacks a string for \(key)")
        }
        return text
    }
}
