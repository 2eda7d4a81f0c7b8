internal import Foundation

/// A mapping of the entities and properties of one version of a model to those of another, as Core Data infers it from their names, renaming
/// identifiers and types.
///
/// It contains no transient, derived and fetched properties: no store keeps their values.
package struct InferredMapping: Sendable {
    /// The kind of change of an entity.
    package enum Kind: Sendable {
        /// The entity is new: it has no objects.
        case add
        /// The entity is removed, with its objects.
        case remove
        /// The objects are as before.
        case copy
        /// The objects get other properties.
        case transform
    }

    /// An entity with its counterpart in the other version.
    package struct Entity: Sendable {
        package let kind: Kind
        /// The entity in the older version; nil for a new one.
        package let source: NSEntityDescription?
        /// The entity in the newer version; nil for a removed one.
        package let destination: NSEntityDescription?
        /// The attributes of the newer version, also the inherited ones, by name.
        package let attributes: [Attribute]
        /// The relationships of the newer version, also the inherited ones, by name.
        package let relationships: [Relationship]
    }

    /// An attribute of the newer version, and the source of its values.
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

        /// The attribute of the older version; nil if there was none.
        package var source: NSAttributeDescription? {
            switch origin {
            case .copied(let source), .converted(let source): source
            case .defaultValue: nil
            }
        }
    }

    /// A relationship of the newer version, and the one of the older version whose objects it gets; nil if it is new.
    package struct Relationship: Sendable {
        package let destination: NSRelationshipDescription
        package let source: NSRelationshipDescription?
    }

    /// The older version.
    package let source: NSManagedObjectModel
    /// The newer version.
    package let destination: NSManagedObjectModel
    /// The entities of the newer version, ordered by name, and then the removed ones.
    package let entities: [Entity]

    /// Returns the mapping to an entity of the newer version.
    package func entity(to destination: NSEntityDescription) -> Entity? { entities.first { $0.destination === destination } }

    /// Returns the mapping from an entity of the older version.
    package func entity(from source: NSEntityDescription) -> Entity? { entities.first { $0.source === source } }
}
