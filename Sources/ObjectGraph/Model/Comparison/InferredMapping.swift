internal import Foundation

/// What becomes of the entities and properties of one version of a model in another, as Core Data infers it from their names, renaming
/// identifiers and types.
///
/// Transient, derived and fetched properties are in none: no store keeps what they have.
package struct InferredMapping: Sendable {
    /// What becomes of an entity.
    package enum Kind: Sendable {
        /// The entity is new: it has no objects.
        case add
        /// The entity is gone, with its objects.
        case remove
        /// The objects are as before.
        case copy
        /// The objects get other properties.
        case transform
    }

    /// What becomes of an entity, or what it comes from.
    package struct Entity: Sendable {
        package let kind: Kind
        /// The entity in the older version; nil for a new one.
        package let source: NSEntityDescription?
        /// The entity in the newer version; nil for one that is gone.
        package let destination: NSEntityDescription?
        /// The attributes of the newer version, also the inherited ones, by name.
        package let attributes: [Attribute]
        /// The relationships of the newer version, also the inherited ones, by name.
        package let relationships: [Relationship]
    }

    /// An attribute of the newer version, and where its values come from.
    package struct Attribute: Sendable {
        package enum Origin: Sendable {
            /// The values of an attribute of the older version.
            case copied(NSAttributeDescription)
            /// The values of an attribute of the older version, of another type.
            case converted(NSAttributeDescription)
            /// The attribute is new: every object gets its default value.
            case defaultValue
        }
        package let destination: NSAttributeDescription
        package let origin: Origin

        /// The attribute of the older version; nil where there was none.
        package var source: NSAttributeDescription? {
            switch origin {
            case .copied(let source), .converted(let source): source
            case .defaultValue: nil
            }
        }
    }

    /// A relationship of the newer version, and that of the older one whose objects it gets; none where it is new.
    package struct Relationship: Sendable {
        package let destination: NSRelationshipDescription
        package let source: NSRelationshipDescription?
    }

    /// The older version.
    package let source: NSManagedObjectModel
    /// The newer version.
    package let destination: NSManagedObjectModel
    /// The entities of the newer version in the order of their names, and then those that are gone.
    package let entities: [Entity]

    /// Returns what an entity of the newer version comes from.
    package func entity(to destination: NSEntityDescription) -> Entity? { entities.first { $0.destination === destination } }

    /// Returns what becomes of an entity of the older version.
    package func entity(from source: NSEntityDescription) -> Entity? { entities.first { $0.source === source } }
}
