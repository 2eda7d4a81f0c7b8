internal import Foundation
public import Predicates

/// A set of attributes and to-one relationships whose combined values must be unique among the objects of a store. Objects with a nil
/// among them never conflict.
@_spi(Stores)
// Immutable.
public final class UniquenessConstraint: Sendable {
    /// The names of the attributes and relationships.
    public let names: [String]
    /// The slot indexes of the properties in the declaring entity and its subentities.
    package let slotIndexes: [Int]

    init(names: [String], slotIndexes: [Int]) {
        self.names = names
        self.slotIndexes = slotIndexes
    }

    /// Returns the constrained values of a row, for ``ConflictFinding/owners(of:_:)``; nil if one of them is nil.
    public func key(of row: Row) -> [PropertyValue]? { key(of: row, row.entity.frozenParts) }

    /// Returns the constrained values of a row; nil if one of them is nil.
    package func key(of row: Row, _ frozen: FrozenEntity) -> [PropertyValue]? {
        var key: [PropertyValue] = []
        for index in slotIndexes {
            let slot = row.layout.slots[index]
            if slot.kind == .objectID, row.objectID(at: slot) === NSManagedObjectID.unresolved { return nil }
            guard let value = row.any(at: slot, of: frozen.properties[index] as? NSAttributeDescription) else { return nil }
            guard let comparable = try? PropertyValue(any: value) else { return nil }
            key.append(comparable)
        }
        return key
    }
}

/// The constrained values of a row, as stores compare them: texts by their bytes, as a unique index of a database does.
///
/// Of `PropertyValue`, “é” as one scalar and as two are equal.
package struct UniqueValues: Hashable, Sendable {
    package let values: [PropertyValue]

    package init(_ values: [PropertyValue]) { self.values = values }

    package static func == (left: UniqueValues, right: UniqueValues) -> Bool { areSame(left.values, right.values) }

    // Canonically equal texts have one hash.
    package func hash(into hasher: inout Hasher) { hasher.combine(values) }

    private static func areSame(_ left: [PropertyValue], _ right: [PropertyValue]) -> Bool {
        left.count == right.count
            && zip(left, right).allSatisfy { left, right in
                switch (left, right) {
                case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
                case (.array(let left), .array(let right)): areSame(left, right)
                default: left == right
                }
            }
    }
}

extension NSEntityDescription {
    /// Returns the attribute names of an element of ``uniquenessConstraints``, which may hold names or attribute descriptions.
    package static func names(in constraint: [Any]) -> [String?] {
        constraint.map { element in
            switch element {
            case let name as String: name
            case let property as NSPropertyDescription: property.name
            default: nil
            }
        }
    }

    /// Returns the declared constraints, once the properties have slot indexes.
    func frozenConstraints(_ properties: [NSPropertyDescription]) -> [UniquenessConstraint] {
        let byName = Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        return uniquenessConstraints.map { constraint in
            let names = Self.names(in: constraint).compactMap { $0 }
            return UniquenessConstraint(names: names, slotIndexes: names.compactMap { byName[$0]?.slotIndex })
        }
    }

    /// Returns the errors of the constraints, as sentences.
    func errorsOfConstraints(called entityName: String) -> [String] {
        let byName = Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        return uniquenessConstraints.flatMap { constraint -> [String] in
            if constraint.isEmpty { return ["A uniqueness constraint of “\(entityName)” names no attribute."] }
            return Self.names(in: constraint).compactMap { name in
                guard let name else {
                    return "A uniqueness constraint of “\(entityName)” holds something that is neither a name nor an attribute."
                }
                let property = byName[name]
                let isValue = property is NSAttributeDescription || (property as? NSRelationshipDescription)?.isToMany == false
                guard let property, isValue, !property.isTransient else {
                    return
                        "A uniqueness constraint of “\(entityName)” names “\(name)”, which is not an attribute or to-one relationship that "
                        + "stores keep."
                }
                return nil
            }
        }
    }
}
