internal import Foundation
internal import ObjectGraph
internal import Predicates

/// The expressions of this module; Foundation has a class of that name, too.
typealias ValueExpression = Predicates.NSExpression

/// The names of the variables, as ``NSMigrationManagerKey`` and the other keys have them.
enum MappingVariable {
    static let manager = NSMigrationManagerKey
    static let source = NSMigrationSourceObjectKey
    static let destination = NSMigrationDestinationObjectKey
    static let entityMapping = NSMigrationEntityMappingKey
    static let propertyMapping = NSMigrationPropertyMappingKey
    static let entityPolicy = NSMigrationEntityPolicyKey
}

/// The methods of a migration manager that expressions call.
enum MappingSelector {
    static let destinationInstances = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    static let sourceInstances = "sourceInstancesForEntityMappingNamed:destinationInstances:"
    static let fetchRequest = "fetchRequestForSourceEntityNamed:predicateString:"
}

/// Makes and recognizes the expressions that tools write.
enum MappingExpressions {
    /// `$source.name`
    static func path(_ path: [String]) -> ValueExpression {
        ValueExpression(tree: .navigation(.variable(MappingVariable.source), path))
    }

    /// `FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "AToB", $source.name)`
    static func destinationInstances(of mapping: String, path: [String]) -> ValueExpression {
        ValueExpression(
            tree: .method(
                .variable(MappingVariable.manager), MappingSelector.destinationInstances,
                [.constant(.string(mapping)), .navigation(.variable(MappingVariable.source), path)]))
    }

    /// The same for objects of several entities: `FUNCTION($manager, "…", {"AToB", "CToD"}, $source.name)`, whose mappings are tried in turn.
    static func destinationInstances(ofAny mappings: [String], path: [String]) -> ValueExpression {
        ValueExpression(
            tree: .method(
                .variable(MappingVariable.manager), MappingSelector.destinationInstances,
                [.constant(.array(mappings.map { .string($0) })), .navigation(.variable(MappingVariable.source), path)]))
    }

    /// Returns the path of `$source.name`; nil for any other expression.
    static func path(of tree: ExpressionTree) -> [String]? {
        switch tree {
        case .navigation(.variable(MappingVariable.source), let keys): return keys
        case .method(.variable(MappingVariable.source), "valueForKey:", let arguments) where arguments.count == 1:
            return key(arguments[0]).map { [$0] }
        case .method(.variable(MappingVariable.source), "valueForKeyPath:", let arguments) where arguments.count == 1:
            return key(arguments[0])?.split(separator: ".").map(String.init)
        default: return nil
        }
    }

    private static func key(_ tree: ExpressionTree) -> String? {
        if case .constant(.string(let text)) = tree { return text }
        return nil
    }

    /// Returns the mappings and the path of an expression for the counterparts of other objects; nil for any other expression.
    static func destinationInstances(in tree: ExpressionTree) -> (mappings: [String], path: [String])? {
        guard case .method(.variable(MappingVariable.manager), MappingSelector.destinationInstances, let arguments) = tree,
            arguments.count == 2, let path = path(of: arguments[1])
        else { return nil }
        switch arguments[0] {
        case .constant(.string(let name)): return ([name], path)
        case .constant(.array(let names)):
            let texts = names.compactMap { if case .string(let text) = $0 { text } else { nil } }
            return texts.count == names.count ? (texts, path) : nil
        default: return nil
        }
    }
}
