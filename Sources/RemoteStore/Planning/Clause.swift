internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// A comparison that an endpoint may be able to apply.
struct Clause {
    let keyPath: String
    let comparison: Parameter.Operator
    /// The values; empty if ``ids`` are compared.
    var values: [PropertyValue] = []
    /// The objects; nil if values are compared.
    var ids: [ResourceID]?
    /// The options for comparing strings; empty for values of other types.
    var options: PredicateComparison.Options = []

    /// The number of values or objects.
    var count: Int { ids?.count ?? values.count }
}

/// Reads comparisons of an entity's properties.
struct ClauseReader {
    private let entity: NSEntityDescription
    private let decoding: AnswerDecoding?

    init(_ entity: NSEntityDescription, _ decoding: AnswerDecoding? = nil) {
        self.entity = entity
        self.decoding = decoding
    }

    /// Returns the attribute at the end of keys over to-one relationships; nil for anything else.
    func attribute(at keys: [String]) -> NSAttributeDescription? { property(at: keys, overMany: false) as? NSAttributeDescription }

    private func property(at keys: [String], overMany: Bool) -> NSPropertyDescription? {
        var current = entity
        for (index, key) in keys.enumerated() {
            guard let property = current.propertiesByName[key], !property.isTransient else { return nil }
            if index == keys.count - 1 { return property }
            guard let relationship = property as? NSRelationshipDescription, overMany || !relationship.isToMany,
                let destination = relationship.destinationEntity
            else { return nil }
            current = destination
        }
        return nil
    }

    /// Returns whether a value that a part of a predicate compares may be nil.
    func mayLeadToNil(_ tree: PredicateTree) -> Bool {
        switch tree {
        case .true, .false: return false
        case .block: return true
        case .not(let part): return mayLeadToNil(part)
        case .and(let parts), .or(let parts): return parts.contains(where: mayLeadToNil)
        case .comparison(let comparison):
            guard comparison.left.isOneKeyPath else { return true }
            var current: NSEntityDescription? = entity
            for key in comparison.left.keys {
                guard let property = current?.propertiesByName[key] else { return key != "self" && key != "objectID" }
                let relationship = property as? NSRelationshipDescription
                if property.isOptional, !(relationship?.isToMany ?? false) { return true }
                current = relationship?.destinationEntity
            }
            return false
        }
    }

    /// Returns a part of a predicate as a comparison; nil if it has another form.
    func clause(_ tree: PredicateTree) -> Clause? {
        guard case .comparison(let comparison) = tree, comparison.modifier != .all, comparison.left.isOneKeyPath,
            let constant = comparison.right.constantValue
        else { return nil }
        let isAny = comparison.modifier == .any
        let keys = comparison.left.keys
        let prefix = isAny ? "ANY " : ""
        if keys.isEmpty || keys == ["objectID"] || keys == ["self"] {
            return isAny ? nil : identity("SELF", comparison, constant, isSelf: true)
        }
        guard let property = property(at: keys, overMany: isAny) else { return nil }
        let path = prefix + keys.joined(separator: ".")
        switch property {
        case let attribute as NSAttributeDescription: return value(path, attribute, comparison, constant, isAny: isAny)
        case let relationship as NSRelationshipDescription:
            guard !relationship.isToMany || isAny else { return nil }
            return identity(path, comparison, constant, isSelf: false)
        default: return nil
        }
    }

    // MARK: Objects

    private func identity(_ path: String, _ comparison: PredicateComparison, _ constant: PropertyValue, isSelf: Bool) -> Clause? {
        switch (comparison.operator, constant) {
        case (.equal, .null) where !isSelf: return Clause(keyPath: path, comparison: .isNil)
        case (.notEqual, .null) where !isSelf: return Clause(keyPath: path, comparison: .isNotNil)
        case (.equal, _): return ids([constant]).map { Clause(keyPath: path, comparison: .equal, ids: $0) }
        case (.notEqual, _):
            guard let ids = ids([constant]), ids.count == 1 else { return nil }
            return Clause(keyPath: path, comparison: .notEqual, ids: ids)
        case (.isIn, let collection):
            return collection.elements.flatMap(ids).map { Clause(keyPath: path, comparison: .isIn, ids: $0) }
        default: return nil
        }
    }

    /// Returns the identifiers of objects, without those of other stores, which equal no object here; nil for other values.
    private func ids(_ values: [PropertyValue]) -> [ResourceID]? {
        guard let decoding else { return nil }
        var ids: [ResourceID] = []
        for value in values {
            guard case .object(let reference) = value else { return nil }
            let id = reference.object as? NSManagedObjectID ?? (reference.object as? NSManagedObject)?.objectID
            guard let id else { return nil }
            if let known = decoding.resourceID(id.current) { ids.append(known) }
        }
        return ids
    }

    // MARK: Values

    private func value(
        _ path: String, _ attribute: NSAttributeDescription, _ comparison: PredicateComparison, _ constant: PropertyValue, isAny: Bool
    ) -> Clause? {
        guard let kind = AttributeKind(attribute), let operation = Self.operation(comparison.operator, constant) else { return nil }
        if operation == .isNil || operation == .isNotNil {
            return isAny ? nil : Clause(keyPath: path, comparison: operation)
        }
        var values: [PropertyValue] = []
        for value in operation == .isIn ? constant.elements ?? [] : [constant] {
            guard AttributeKind(value) == kind, let converted = Self.converted(value, attribute) else { return nil }
            values.append(converted)
        }
        // Nothing is in an empty collection, not even nil, but services differ.
        if values.isEmpty { return nil }
        let isText = kind == .text
        switch operation {
        case .beginsWith, .endsWith, .contains, .like:
            // No string begins with, ends with or contains an empty string, but services differ.
            guard isText, values != [.string("")] else { return nil }
        default: break
        }
        return Clause(keyPath: path, comparison: operation, values: values, options: isText ? comparison.options : [])
    }

    private static func operation(_ operation: PredicateComparison.Operator, _ constant: PropertyValue) -> Parameter.Operator? {
        switch operation {
        case .equal: constant.isNull ? .isNil : .equal
        case .notEqual: constant.isNull ? .isNotNil : .notEqual
        case .lessThan: .lessThan
        case .lessThanOrEqual: .lessThanOrEqual
        case .greaterThan: .greaterThan
        case .greaterThanOrEqual: .greaterThanOrEqual
        case .isIn: constant.elements == nil ? nil : .isIn
        case .beginsWith: .beginsWith
        case .endsWith: .endsWith
        case .contains: .contains
        case .like: .like
        case .matches, .between, .custom, .comparator: nil
        }
    }

    /// Returns a value converted to the attribute's type; nil if that would change it.
    private static func converted(_ value: PropertyValue, _ attribute: NSAttributeDescription) -> PropertyValue? {
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            switch value {
            case .int64: return value
            case .bool(let flag): return .int64(flag ? 1 : 0)
            case .double(let number): return Int64(exactly: number).map { .int64($0) }
            default: return nil
            }
        case .booleanAttributeType:
            switch value {
            case .bool: return value
            case .int64(0), .double(0): return .bool(false)
            case .int64(1), .double(1): return .bool(true)
            default: return nil
            }
        case .doubleAttributeType, .floatAttributeType:
            switch value {
            case .double: return value
            case .int64(let number): return Double(exactly: number).map { .double($0) }
            case .bool(let flag): return .double(flag ? 1 : 0)
            default: return nil
            }
        case .decimalAttributeType:
            switch value {
            case .decimal: return value
            case .int64(let number): return .decimal(Decimal(number))
            default: return nil
            }
        default: return value
        }
    }
}
