internal import Foundation
package import Predicates

/// The properties that evaluation in memory reads: those of the objects, and those of related objects.
package struct Needs: Equatable {
    /// The names of attributes and to-one relationships.
    package var properties: Set<String> = []
    /// The relationships that are followed, and the properties that are read there.
    package var relationships: [String: Needs] = [:]

    package init() {}

    package var isEmpty: Bool { properties.isEmpty && relationships.isEmpty }

    /// The key paths of all relationships, the shorter ones first.
    package var relationshipPaths: [String] {
        relationships.sorted { $0.key < $1.key }.flatMap { name, needs in [name] + needs.relationshipPaths.map { "\(name).\($0)" } }
    }

    package mutating func formUnion(_ other: Needs) {
        properties.formUnion(other.properties)
        relationships.merge(other.relationships) { first, second in
            var both = first
            both.formUnion(second)
            return both
        }
    }
}

/// Collects the properties that a predicate, sort keys and columns read of an entity.
package struct NeedsReader {
    private let entity: NSEntityDescription
    package private(set) var needs = Needs()

    package init(_ entity: NSEntityDescription) { self.entity = entity }

    package mutating func add(_ tree: PredicateTree, _ scope: [String: [[String]]] = [:]) {
        switch tree {
        case .true, .false: return
        case .and(let parts), .or(let parts): for part in parts { add(part, scope) }
        case .not(let part): add(part, scope)
        case .block: addEverything()
        case .comparison(let comparison):
            // If only the identity of an object is compared, none of its properties is read.
            _ = visit(comparison.left, scope)
            _ = visit(comparison.right, scope)
        }
    }

    package mutating func add(_ expression: ExpressionTree) { _ = visit(expression, [:]) }

    package mutating func add(path: String) { add(path.split(separator: ".").map(String.init)) }

    /// Blocks may read any attribute.
    private mutating func addEverything() {
        for property in entity.frozenParts.properties where !property.isTransient && !property.isToManyRelationship {
            needs.properties.insert(property.name)
        }
    }

    /// Notes the properties that an expression reads.
    ///
    /// - Parameter scope: The paths of variables.
    /// - Returns: The paths of the objects that the expression may be.
    private mutating func visit(_ expression: ExpressionTree, _ scope: [String: [[String]]]) -> [[String]] {
        switch expression {
        case .constant, .numberedConstant, .anyKey: return []
        case .evaluatedObject: return [[]]
        case .variable(let name): return scope[name] ?? []
        case .keyPath(let keys): return add(keys).map { [$0] } ?? []
        case .navigation(let base, let keys):
            return visit(base, scope).compactMap { add($0 + keys) }
        case .aggregate(let elements): return elements.flatMap { visit($0, scope) }
        case .arithmetic(_, let left, let right), .setOperation(_, let left, let right):
            return visit(left, scope) + visit(right, scope)
        case .negated(let part), .complement(let part), .cast(let part, _), .assignment(_, let part): return visit(part, scope)
        case .function(_, let arguments): return arguments.flatMap { visit($0, scope) }
        case .method(let operand, _, let arguments): return visit(operand, scope) + arguments.flatMap { visit($0, scope) }
        case .element(let collection, .at(let index)): return visit(collection, scope) + visit(index, scope)
        case .element(let collection, _): return visit(collection, scope)
        case .subquery(let collection, let variable, let predicate):
            let paths = visit(collection, scope)
            var inner = scope
            inner[variable] = paths
            add(predicate, inner)
            return paths
        case .conditional(let predicate, let value, let otherwise):
            add(predicate, scope)
            return visit(value, scope) + visit(otherwise, scope)
        case .fetch(let request, let context, _): return visit(request, scope) + visit(context, scope)
        case .block(_, let arguments):
            addEverything()
            return arguments.flatMap { visit($0, scope) }
        }
    }

    /// Notes a path, and returns it without collection operators if it leads to objects.
    @discardableResult private mutating func add(_ keys: [String]) -> [String]? {
        let names = keys.filter { !$0.hasPrefix("@") }
        var current = entity
        var path: [String] = []
        var isMany = false
        for (index, name) in names.enumerated() {
            guard let property = current.allKinds.lazy.compactMap({ $0.frozenParts.byName[name] }).first, !property.isTransient else {
                // The identity of an object, or a key of a value.
                return path.count == index ? path : nil
            }
            guard let relationship = property as? NSRelationshipDescription, let destination = relationship.destinationEntity else {
                insert(property: name, at: path)
                return nil
            }
            let isLast = index == names.count - 1
            if !relationship.isToMany { insert(property: name, at: path) }
            isMany = isMany || relationship.isToMany
            // The object at the end of a to-one path is compared by its identity, while a collection is iterated.
            if !isLast || isMany { insert(relationship: name, at: path) }
            path.append(name)
            current = destination
        }
        return path
    }

    private mutating func insert(property: String, at path: [String]) {
        change(&needs, path[...]) { $0.properties.insert(property) }
    }

    private mutating func insert(relationship: String, at path: [String]) {
        change(&needs, path[...]) { if $0.relationships[relationship] == nil { $0.relationships[relationship] = Needs() } }
    }

    private func change(_ needs: inout Needs, _ path: ArraySlice<String>, _ body: (inout Needs) -> Void) {
        guard let first = path.first else { return body(&needs) }
        change(&needs.relationships[first, default: Needs()], path.dropFirst(), body)
    }
}

extension NSPropertyDescription {
    /// Whether the property is a to-many relationship.
    package var isToManyRelationship: Bool { (self as? NSRelationshipDescription)?.isToMany ?? false }
}
