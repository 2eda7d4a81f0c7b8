import Foundation

/// The fields of an object from the coder of Foundation's unarchiver.
struct CoderFields: ArchivedFields {
    let coder: NSCoder

    func has(_ key: String) -> Bool { coder.containsValue(forKey: key) }

    func integer(_ key: String) -> Int { coder.decodeInteger(forKey: key) }

    func flag(_ key: String) -> Bool { coder.decodeBool(forKey: key) }

    func text(_ key: String) throws -> String {
        guard let text = coder.decodeObject(of: [NSString.self], forKey: key) as? String else {
            throw PredicateArchive.unreadable("The archive lacks a string for \(key)")
        }
        return text
    }

    func constant(_ key: String) throws -> PropertyValue {
        try PropertyValue(any: coder.decodeObject(of: PredicateArchive.constantClasses, forKey: key))
    }

    func comparisonOperator(_ key: String) throws -> ArchivedComparisonOperator {
        guard let operation = coder.decodeObject(of: [ArchivedOperator.self], forKey: key) as? ArchivedOperator else {
            throw PredicateArchive.unreadable("The archive holds a comparison with an unknown operator")
        }
        return operation.fields
    }

    func expression(_ key: String) throws -> ExpressionTree {
        guard let expression = coder.decodeObject(of: [NSExpression.self], forKey: key) as? NSExpression else {
            throw PredicateArchive.unreadable("The archive lacks an expression for \(key)")
        }
        return try expression.tree()
    }

    func expressions(_ key: String) throws -> [ExpressionTree] {
        guard let elements = coder.decodeObject(of: [NSArray.self, NSExpression.self], forKey: key) as? [Any] else {
            throw PredicateArchive.unreadable("The archive lacks a list for \(key)")
        }
        return try elements.map { element in
            guard let expression = element as? NSExpression else {
                throw PredicateArchive.unreadable("The archive holds no expression in \(key)")
            }
            return try expression.tree()
        }
    }

    func predicate(_ key: String) throws -> PredicateTree {
        let classes: [AnyClass] = [FormatPredicate.self, FormatCompoundPredicate.self]
        guard let predicate = coder.decodeObject(of: classes, forKey: key) as? NSPredicate else {
            throw PredicateArchive.unreadable("The archive lacks a predicate for \(key)")
        }
        return try predicate.tree()
    }

    func predicates(_ key: String) throws -> [PredicateTree] {
        let classes: [AnyClass] = [NSArray.self, FormatPredicate.self, FormatCompoundPredicate.self]
        guard let parts = coder.decodeObject(of: classes, forKey: key) as? [Any] else {
            throw PredicateArchive.unreadable("The archive holds a compound predicate without parts")
        }
        return try parts.map { part in
            guard let predicate = part as? NSPredicate else {
                throw PredicateArchive.unreadable("A part of a compound predicate is not a predicate")
            }
            return try predicate.tree()
        }
    }
}
