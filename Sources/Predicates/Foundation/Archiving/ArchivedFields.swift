import Foundation

/// The fields of an archived object, from either source: this framework's ``ArchiveReader``, or the coder of Foundation's unarchiver.
protocol ArchivedFields {
    func has(_ key: String) -> Bool
    /// Returns the integer of a field, 0 for a missing one.
    func integer(_ key: String) throws -> Int
    /// Returns the Boolean of a field, false for a missing one.
    func flag(_ key: String) throws -> Bool
    func text(_ key: String) throws -> String
    func constant(_ key: String) throws -> PropertyValue
    func comparisonOperator(_ key: String) throws -> ArchivedComparisonOperator
    func expression(_ key: String) throws -> ExpressionTree
    func expressions(_ key: String) throws -> [ExpressionTree]
    func predicate(_ key: String) throws -> PredicateTree
    func predicates(_ key: String) throws -> [PredicateTree]
}

/// The archived form of a comparison operator.
struct ArchivedComparisonOperator {
    let type: Int
    let modifier: Int
    let options: Int
    let isNegated: Bool
}

extension ArchivedFields {
    /// Returns the comparison or compound predicate of the object, nil for an object with the fields of neither.
    func predicateTree() throws -> PredicateTree? {
        if has("NSPredicateOperator") { return .comparison(try comparison()) }
        if has("NSCompoundPredicateType") { return try compound() }
        return nil
    }

    private func comparison() throws -> PredicateComparison {
        let operation = try comparisonOperator("NSPredicateOperator")
        guard let type = NSComparisonPredicate.Operator(rawValue: UInt(bitPattern: operation.type)), type != .customSelector else {
            throw PredicateArchive.unreadable("The archive holds a comparison with an unknown operator")
        }
        let modifiers: [PredicateComparison.Modifier] = [.direct, .all, .any]
        guard modifiers.indices.contains(operation.modifier) else {
            throw PredicateArchive.unreadable("The archive holds a comparison with an unknown modifier")
        }
        return PredicateComparison(
            left: try expression("NSLeftExpression"), operator: operation.isNegated && type == .equalTo ? .notEqual : type.treeOperator,
            right: try expression("NSRightExpression"), modifier: modifiers[operation.modifier],
            options: PredicateComparison.Options(rawValue: operation.options))
    }

    private func compound() throws -> PredicateTree {
        let trees = try predicates("NSSubpredicates")
        switch (try integer("NSCompoundPredicateType"), trees.count) {
        case (0, 1): return .not(trees[0])
        case (1, _): return .and(trees)
        case (2, _): return .or(trees)
        default: throw PredicateArchive.unreadable("The archive holds a compound predicate of an unknown kind")
        }
    }

    /// Returns the expression of the object.
    func expressionTree() throws -> ExpressionTree {
        guard has("NSExpressionType") else { throw PredicateArchive.unreadable("The archive holds an expression without a type") }
        switch try integer("NSExpressionType") {
        case ArchivedTree.Kind.constant: return .constant(try constant())
        case ArchivedTree.Kind.evaluatedObject: return .evaluatedObject
        case ArchivedTree.Kind.variable: return .variable(try text("NSVariable"))
        case ArchivedTree.Kind.keyPath, ArchivedTree.Kind.function: return try call()
        case ArchivedTree.Kind.union: return try setOperation(.union)
        case ArchivedTree.Kind.intersect: return try setOperation(.intersect)
        case ArchivedTree.Kind.minus: return try setOperation(.minus)
        case ArchivedTree.Kind.keyPathSpecifier: return .keyPath(try keys(text("NSKeyPath")))
        case ArchivedTree.Kind.symbol:
            let symbol = try text("NSSymbol")
            guard ExpressionTree.ElementIndex(selector: symbol) != nil else {
                throw PredicateArchive.unreadable("The archive holds an element by a symbol that is not known")
            }
            return .keyPath([symbol])
        case ArchivedTree.Kind.assignment: return .assignment(try text("NSVariable"), try expression("NSSubexpression"))
        case ArchivedTree.Kind.subquery:
            return .subquery(try expression("NSCollection"), variable: try text("NSVariable"), try predicate("NSPredicate"))
        case ArchivedTree.Kind.aggregate:
            let elements = try expressions("NSCollection")
            let constants = elements.compactMap { if case .constant(let value) = $0 { value } else { nil } }
            return constants.count == elements.count ? .constant(.array(constants)) : .aggregate(elements)
        case ArchivedTree.Kind.anyKey: return .anyKey
        case ArchivedTree.Kind.conditional:
            return .conditional(try predicate("NSPredicate"), try expression("NSTrueExpression"), try expression("NSFalseExpression"))
        case ArchivedTree.Kind.fetch:
            return .fetch(try expression("NSFetchRequest"), context: try expression("NSContext"), countOnly: try flag("NSCountOnly"))
        case let kind: throw PredicateArchive.unreadable("The archive holds an expression of the unknown type \(kind)")
        }
    }

    private func setOperation(_ operation: ExpressionTree.SetOperator) throws -> ExpressionTree {
        .setOperation(operation, try expression("NSLeftExpression"), try expression("NSRightExpression"))
    }

    private func constant() throws -> PropertyValue {
        // Foundation's unarchiver reports an error for a missing key.
        if has("NSConstantValueClassName") { return .string(try text("NSConstantValueClassName")) }
        guard has("NSConstantValue") else { return .null }
        if has("PredicatesDecimal") {
            let digits = try text("PredicatesDecimal")
            // Foundation's parser ignores invalid characters at the end.
            let isShort = digits.utf8.count <= 200
            guard digits == "NaN" || isShort && digits.utf8.allSatisfy({ (0x2D...0x39).contains($0) && $0 != 0x2F }),
                let number = Decimal(string: digits)
            else {
                throw PredicateArchive.unreadable("The archive holds a decimal number that cannot be read")
            }
            return .decimal(number)
        }
        let value = try constant("NSConstantValue")
        return value.number(ofType: try integer("PredicatesNumberType"))
    }

    /// Returns a call; a key path is also a call, of `valueForKeyPath:`, whose path need not be a constant.
    private func call() throws -> ExpressionTree {
        let operand = try expression("NSOperand")
        let name = try text("NSSelectorName")
        let arguments = try expressions("NSArguments")
        if name == "valueForKey:" || name == "valueForKeyPath:", arguments.count == 1 {
            switch arguments[0] {
            case .keyPath(let keys), .navigation(_, let keys): return operand.appending(keys)
            case .constant(.string(let path)): return operand.appending(try keys(path))
            default: break
            }
        }
        guard operand == .constant(.string("_NSPredicateUtilities")) else { return .method(operand, name, arguments) }
        return .function(named: name, arguments)
    }

    private func keys(_ path: String) throws -> [String] {
        let keys = path.split(separator: ".").map(String.init)
        guard !keys.isEmpty else { throw PredicateArchive.unreadable("The archive holds an empty key path") }
        if let error = InvalidPredicateError.ofPath(with: keys.count) { throw error }
        return keys
    }
}
