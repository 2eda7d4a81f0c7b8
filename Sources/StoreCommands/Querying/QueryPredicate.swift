package import Foundation
package import ObjectGraph
internal import Predicates

/// Parses the predicate of a query, in the format language.
///
/// A text that is compared with an attribute of another type stands for a value of that type, as in files: `born > '1970-01-01'` contains a date. The
/// format language itself has no literals for dates, UUIDs and URIs.
package enum QueryPredicate {
    /// Returns the predicate of a format.
    ///
    /// - Throws: `InvalidPredicateError`, with the place in the format, including a text that is invalid for the type of the compared attribute.
    package static func parse(_ format: String, of entity: NSEntityDescription) throws -> NSPredicate {
        let predicate = try NSPredicate(parsing: format)
        let tree = try predicate.tree()
        let read = try ComparedTexts(format: format, entity: entity).predicate(tree)
        return read == tree ? predicate : NSPredicate(tree: read)
    }
}

/// Converts the texts in a predicate to values of the attributes that they are compared with.
private struct ComparedTexts {
    let format: String
    let entity: NSEntityDescription
    /// The entities of the variables of a `SUBQUERY`.
    var variables: [String: NSEntityDescription] = [:]

    func predicate(_ tree: PredicateTree) throws -> PredicateTree {
        switch tree {
        case .true, .false, .block: tree
        case .and(let parts): .and(try parts.map(predicate))
        case .or(let parts): .or(try parts.map(predicate))
        case .not(let part): .not(try predicate(part))
        case .comparison(let comparison): .comparison(try self.comparison(comparison))
        }
    }

    private func comparison(_ comparison: PredicateComparison) throws -> PredicateComparison {
        var read = comparison
        read.left = try comparison.left.replacing(subquery)
        read.right = try comparison.right.replacing(subquery)
        switch comparison.operator {
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .equal, .notEqual, .isIn, .between:
            if let attribute = attribute(read.left) {
                read.right = try value(read.right, of: attribute)
            } else if let attribute = attribute(read.right) {
                read.left = try value(read.left, of: attribute)
            }
        // Operators for texts.
        case .matches, .like, .beginsWith, .endsWith, .contains, .custom, .comparator: break
        }
        return read
    }

    /// Converts the texts in the predicate of a `SUBQUERY`.
    private func subquery(_ expression: ExpressionTree) throws -> ExpressionTree? {
        guard case .subquery(let collection, let variable, let condition) = expression else { return nil }
        var inner = self
        inner.variables[variable] = (path(collection)?.last as? NSRelationshipDescription)?.destinationEntity
        return .subquery(try collection.replacing(subquery), variable: variable, try inner.predicate(condition))
    }

    // MARK: Attributes

    private func attribute(_ expression: ExpressionTree) -> NSAttributeDescription? { path(expression)?.last as? NSAttributeDescription }

    /// Returns the properties of a key path; nil for other expressions, and for a path that is not in the model.
    private func path(_ expression: ExpressionTree) -> [NSPropertyDescription]? {
        switch expression {
        case .keyPath(let keys), .navigation(.evaluatedObject, let keys): properties(keys, of: entity)
        case .navigation(.variable(let name), let keys): variables[name].flatMap { properties(keys, of: $0) }
        default: nil
        }
    }

    private func properties(_ keys: [String], of entity: NSEntityDescription) -> [NSPropertyDescription]? {
        var properties: [NSPropertyDescription] = []
        for key in keys {
            let next: NSPropertyDescription? =
                switch properties.last {
                case nil: entity.propertiesByName[key]
                case let relationship as NSRelationshipDescription: relationship.destinationEntity?.propertiesByName[key]
                case let composite as NSCompositeAttributeDescription: composite.elements.first { $0.name == key }
                default: nil
                }
            guard let next else { return nil }
            properties.append(next)
        }
        return properties
    }

    // MARK: Texts

    private func value(_ expression: ExpressionTree, of attribute: NSAttributeDescription) throws -> ExpressionTree {
        switch expression {
        case .constant(let constant): .constant(try value(constant, of: attribute))
        case .numberedConstant(let constant, let number): .numberedConstant(try value(constant, of: attribute), number: number)
        case .aggregate(let elements): .aggregate(try elements.map { try value($0, of: attribute) })
        default: expression
        }
    }

    private func value(_ constant: PropertyValue, of attribute: NSAttributeDescription) throws -> PropertyValue {
        switch constant {
        case .string(let text):
            switch attribute.attributeType {
            case .stringAttributeType, .transformableAttributeType, .undefinedAttributeType, .objectIDAttributeType,
                .compositeAttributeType:
                return constant
            default: break
            }
            do { return try PropertyValue(any: AttributeValue.value(text, of: attribute)) } catch let mistake as AttributeValue.Mistake {
                let place = format.range(of: text).map { format.distance(from: format.startIndex, to: $0.lowerBound) }
                throw InvalidPredicateError(
                    kind: .unsupported, message: "“\(attribute.name)” is no text. \(mistake.message)", format: format, position: place)
            }
        case .array(let elements): return .array(try elements.map { try value($0, of: attribute) })
        case .set(let elements): return .set(Set(try elements.map { try value($0, of: attribute) }))
        default: return constant
        }
    }
}
