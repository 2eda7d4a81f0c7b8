package import CoreData

/// The model that random programs work on: every kind of relationship and delete rule, and entities that inherit.
package enum ProgramModel {
    /// A relationship, described without the product: the naive graph goes by this, the model is made from it.
    package struct Relationship: Hashable {
        package enum DeleteRule { case nullify, cascade, deny }
        package let name: String
        package let inverseName: String
        package let isToMany: Bool
        package var isOrdered = false
        package var deleteRule = DeleteRule.nullify
        package var owner = Kind.node
        package var destination = Kind.node

        package var inverse: Relationship { ProgramModel.relationship(named: inverseName) }
        /// Whether this is the end by which a pair of relationships is walked.
        var isFirst: Bool { name == inverseName || ProgramModel.relationships.firstIndex(of: self)! % 2 == 0 }
    }

    package enum Kind: String, CaseIterable {
        case node = "Node"
        case leaf = "Leaf"
        case branch = "Branch"

        func isKind(of other: Kind) -> Bool { other == .node || other == self }
    }

    /// In pairs; the last is its own inverse.
    package static let relationships = [
        Relationship(name: "children", inverseName: "parent", isToMany: true),
        Relationship(name: "parent", inverseName: "children", isToMany: false),
        Relationship(name: "next", inverseName: "previous", isToMany: false),
        Relationship(name: "previous", inverseName: "next", isToMany: false),
        Relationship(name: "likes", inverseName: "likedBy", isToMany: true),
        Relationship(name: "likedBy", inverseName: "likes", isToMany: true),
        Relationship(name: "queue", inverseName: "queueOf", isToMany: true, isOrdered: true),
        Relationship(name: "queueOf", inverseName: "queue", isToMany: false),
        Relationship(name: "guards", inverseName: "guardedBy", isToMany: true, deleteRule: .deny),
        Relationship(name: "guardedBy", inverseName: "guards", isToMany: false),
        Relationship(name: "twigs", inverseName: "twigOf", isToMany: true, deleteRule: .cascade, owner: .branch, destination: .leaf),
        Relationship(name: "twigOf", inverseName: "twigs", isToMany: false, owner: .leaf, destination: .branch),
        Relationship(name: "friends", inverseName: "friends", isToMany: true),
    ]

    private static let byName = Dictionary(uniqueKeysWithValues: relationships.map { ($0.name, $0) })
    package static func relationship(named name: String) -> Relationship { byName[name]! }

    private static let byKind = Dictionary(
        uniqueKeysWithValues: Kind.allCases.map { kind in (kind, relationships.filter { kind.isKind(of: $0.owner) }) })
    static func relationships(of kind: Kind) -> [Relationship] { byKind[kind]! }

    /// The attributes that programs set; all hold small numbers, `name` as text.
    static func attributes(of kind: Kind) -> [String] { kind == .leaf ? ["name", "number", "weight"] : ["name", "number"] }

    package static func make() -> NSManagedObjectModel {
        let node = NSEntityDescription(name: Kind.node.rawValue)
        let leaf = NSEntityDescription(name: Kind.leaf.rawValue)
        let branch = NSEntityDescription(name: Kind.branch.rawValue)
        let entities: [Kind: NSEntityDescription] = [.node: node, .leaf: leaf, .branch: branch]
        let rules: [Relationship.DeleteRule: NSDeleteRule] = [
            .nullify: .nullifyDeleteRule, .cascade: .cascadeDeleteRule, .deny: .denyDeleteRule,
        ]
        let described = relationships.map { relationship in
            NSRelationshipDescription(
                name: relationship.name, destination: entities[relationship.destination]!, toMany: relationship.isToMany,
                isOrdered: relationship.isOrdered, deleteRule: rules[relationship.deleteRule]!)
        }
        for (relationship, description) in zip(relationships, described) {
            description.inverseRelationship = described.first { $0.name == relationship.inverseName }
        }
        let attributes: [Kind: [NSAttributeDescription]] = [
            .node: [
                NSAttributeDescription(name: "label", type: .integer64), NSAttributeDescription(name: "name", type: .string),
                NSAttributeDescription(name: "number", type: .integer32, defaultValue: 0),
            ],
            .leaf: [NSAttributeDescription(name: "weight", type: .integer16)],
        ]
        for (kind, entity) in entities {
            entity.properties = (attributes[kind] ?? []) + zip(relationships, described).filter { $0.0.owner == kind }.map(\.1)
        }
        node.subentities = [leaf, branch]
        return NSManagedObjectModel(entities: [node, leaf, branch])
    }
}
