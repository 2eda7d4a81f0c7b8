internal import Foundation
internal import ObjectGraph
internal import Predicates

/// An entity mapping resolved for the entities of both models. It recognizes the expressions that tools write, which then need no evaluation for each
/// object.
final class MappingPlan {
    enum Value {
        /// The value of a source attribute of the same type.
        case copied(String)
        /// Any expression.
        case computed(ExpressionTree)
    }
    struct Attribute {
        let mapping: NSPropertyMapping
        let attribute: NSAttributeDescription
        let value: Value
        /// Whether the expression is a path from the source object.
        let isPath: Bool
    }
    enum Related {
        /// The counterparts of a source relationship's objects, made by an entity mapping.
        case migrated(tables: [Int], relationship: String)
        case computed(ExpressionTree)
    }
    struct Relationship {
        let mapping: NSPropertyMapping
        let relationship: NSRelationshipDescription
        let value: Related
        var treatment = Treatment.later
    }
    /// When a relationship is set.
    enum Treatment {
        /// In the second pass.
        case later
        /// When the object is made: its destinations exist already.
        case atOnce
        /// By its inverse.
        case implied
    }

    let mapping: NSEntityMapping
    let index: Int
    let sourceEntity: NSEntityDescription?
    let destinationEntity: NSEntityDescription?
    let policy: NSEntityMigrationPolicy
    /// Whether the policy is the standard one, which keeps to the mapping.
    let isStandard: Bool
    /// Whether the relationships are those of the mapping: the policy does not override how they are set.
    let keepsRelationships: Bool
    /// Whether the policy has associated objects itself, whose relationships are set in the second pass.
    var hasOwnObjects = false
    private(set) var attributes: [Attribute] = []
    private(set) var relationships: [Relationship] = []
    /// The source relationships that are read for each object.
    private(set) var prefetched: [String] = []

    init(
        _ mapping: NSEntityMapping, index: Int, source: NSEntityDescription?, destination: NSEntityDescription?, tables: [String: Int]
    ) throws {
        self.mapping = mapping
        self.index = index
        (sourceEntity, destinationEntity) = (source, destination)
        let policyClass = try PolicyClasses.policyClass(of: mapping)
        policy = policyClass.init()
        isStandard = policyClass == NSEntityMigrationPolicy.self
        keepsRelationships = !PolicyOverrides.createsRelationships(policyClass)
        guard let destination else { return }
        let copies = mapping.mappingType == .copyEntityMappingType
        for property in mapping.attributeMappings ?? (copies ? Self.sameAttributes(source, destination) : []) {
            guard let attribute = property.name.flatMap({ destination.attributesByName[$0] }),
                !(attribute is NSDerivedAttributeDescription),
                let tree = try property.valueExpression?.tree()
            else { continue }
            attributes.append(Self.attribute(property, attribute, tree, source))
        }
        for property in mapping.relationshipMappings ?? (copies ? Self.sameRelationships(source, destination, tables) : []) {
            guard let relationship = property.name.flatMap({ destination.relationshipsByName[$0] }), !relationship.isTransient,
                let tree = try property.valueExpression?.tree()
            else { continue }
            let value = Self.related(tree, tables, source)
            if case .migrated(_, let name) = value { prefetched.append(name) }
            relationships.append(Relationship(mapping: property, relationship: relationship, value: value))
        }
    }

    /// Determines which relationships can be set when the objects are made.
    func setAtOnce() {
        guard keepsRelationships else { return }
        for place in relationships.indices {
            guard case .migrated(let tables, _) = relationships[place].value, !relationships[place].relationship.isToMany, !tables.isEmpty,
                tables.allSatisfy({ $0 < index })
            else { continue }
            relationships[place].treatment = .atOnce
        }
    }

    /// Determines which relationships their inverses set: one end is enough, unless it has an order that the other does not know.
    func leaveToInverses(_ plans: [MappingPlan]) {
        guard keepsRelationships else { return }
        for place in relationships.indices {
            let own = relationships[place]
            guard case .migrated(let tables, let key) = own.value, own.relationship.isToMany, !own.relationship.isOrdered, !tables.isEmpty,
                let inverse = own.relationship.inverseRelationship, inverse.inverseRelationship === own.relationship,
                let origin = sourceEntity?.relationshipsByName[key], let back = origin.inverseRelationship,
                back.inverseRelationship === origin
            else { continue }
            let isLeft = tables.allSatisfy { table in
                let other = plans[table]
                guard other.keepsRelationships,
                    let end = other.relationships.first(where: { $0.relationship.name == inverse.name }),
                    case .migrated(let ends, back.name) = end.value,
                    ends.contains(index), Set(ends.compactMap { plans[$0].mapping.sourceEntityName }).count == ends.count
                else { return false }
                return !inverse.isToMany || inverse.isOrdered || (table, inverse.name) < (index, own.relationship.name)
            }
            if isLeft { relationships[place].treatment = .implied }
        }
    }

    /// Whether the second pass has anything to do.
    var needsSecondPass: Bool {
        !keepsRelationships || hasOwnObjects && !relationships.isEmpty || relationships.contains { $0.treatment == .later }
    }

    private static func attribute(
        _ mapping: NSPropertyMapping, _ attribute: NSAttributeDescription, _ tree: ExpressionTree, _ source: NSEntityDescription?
    ) -> Attribute {
        guard let path = MappingExpressions.path(of: tree), path.count == 1, let origin = source?.attributesByName[path[0]] else {
            return Attribute(mapping: mapping, attribute: attribute, value: .computed(tree), isPath: false)
        }
        let isSame = origin.attributeType == attribute.attributeType
        return Attribute(mapping: mapping, attribute: attribute, value: isSame ? .copied(path[0]) : .computed(tree), isPath: true)
    }

    private static func related(_ tree: ExpressionTree, _ tables: [String: Int], _ source: NSEntityDescription?) -> Related {
        guard let (names, path) = MappingExpressions.destinationInstances(in: tree), path.count == 1,
            let relationship = source?.relationshipsByName[path[0]], !relationship.isTransient
        else { return .computed(tree) }
        return .migrated(tables: names.compactMap { tables[$0] }, relationship: relationship.name)
    }

    private static func sameAttributes(_ source: NSEntityDescription?, _ destination: NSEntityDescription) -> [NSPropertyMapping] {
        destination.attributesByName.keys.sorted().filter { source?.attributesByName[$0] != nil }.map {
            NSPropertyMapping(name: $0, valueExpression: MappingExpressions.path([$0]))
        }
    }

    private static func sameRelationships(
        _ source: NSEntityDescription?, _ destination: NSEntityDescription, _ tables: [String: Int]
    ) -> [NSPropertyMapping] {
        destination.relationshipsByName.sorted { $0.key < $1.key }.compactMap { name, relationship in
            guard let origin = source?.relationshipsByName[name]?.destinationEntity?.name,
                let target = relationship.destinationEntity?.name,
                let mapping = NSEntityMapping.standardName(from: origin, to: target), tables[mapping] != nil
            else { return nil }
            return NSPropertyMapping(name: name, valueExpression: MappingExpressions.destinationInstances(of: mapping, path: [name]))
        }
    }
}
