import CoreData
import RandomPrograms

/// A model in which objects give way to others: things of two kinds share the values of an inherited constraint, and have relationships of every kind.
enum GivingWayModel {
    struct Relationship: Hashable {
        let name: String
        let inverseName: String?
        let isToMany: Bool
        var isOrdered = false

        var inverse: Relationship? { inverseName.map(GivingWayModel.relationship) }
    }

    static let relationships = [
        Relationship(name: "children", inverseName: "parent", isToMany: true),
        Relationship(name: "parent", inverseName: "children", isToMany: false),
        Relationship(name: "next", inverseName: "previous", isToMany: false),
        Relationship(name: "previous", inverseName: "next", isToMany: false),
        Relationship(name: "likes", inverseName: "likedBy", isToMany: true),
        Relationship(name: "likedBy", inverseName: "likes", isToMany: true),
        Relationship(name: "queue", inverseName: "queueOf", isToMany: true, isOrdered: true),
        Relationship(name: "queueOf", inverseName: "queue", isToMany: false),
        Relationship(name: "lists", inverseName: "listed", isToMany: true, isOrdered: true),
        Relationship(name: "listed", inverseName: "lists", isToMany: true),
        Relationship(name: "friends", inverseName: "friends", isToMany: true),
        Relationship(name: "pointer", inverseName: nil, isToMany: false),
        Relationship(name: "pointers", inverseName: nil, isToMany: true),
    ]

    static func relationship(_ name: String) -> Relationship { relationships.first { $0.name == name }! }

    static func make() -> NSManagedObjectModel {
        let thing = NSEntityDescription(name: "Thing")
        let region = NSEntityDescription(name: "Region")
        let place = NSEntityDescription(name: "Place")
        let described = relationships.map {
            NSRelationshipDescription(name: $0.name, destination: thing, toMany: $0.isToMany, isOrdered: $0.isOrdered)
        }
        for (relationship, description) in zip(relationships, described) {
            description.inverseRelationship = described.first { $0.name == relationship.inverseName }
        }
        thing.properties =
            [
                NSAttributeDescription(name: "label", type: .integer64), NSAttributeDescription(name: "code", type: .integer32),
                NSAttributeDescription(name: "name", type: .string),
            ] + described
        let capital = NSRelationshipDescription(name: "capital", destination: place)
        let capitalOf = NSRelationshipDescription(name: "capitalOf", destination: region, toMany: true)
        capital.inverse(to: capitalOf)
        region.properties = [capital]
        place.properties = [capitalOf]
        thing.subentities = [region, place]
        thing.uniquenessConstraints = [["code"]]
        return NSManagedObjectModel(entities: [thing, region, place])
    }

    /// The coordinators of an empty store of a kind: both share one.
    static func coordinator(_ store: ProgramStore) throws -> NSPersistentStoreCoordinator { try store.coordinators(make())[0] }

    static func context(_ coordinator: NSPersistentStoreCoordinator, _ policy: NSMergePolicyType) -> NSManagedObjectContext {
        let context = Music.context(coordinator)
        context.mergePolicy = NSMergePolicy(merge: policy)
        return context
    }
}
