internal import Foundation
internal import ObjectGraph

/// One step of a migration: from a version to another.
struct VersionStep {
    /// The way in which a step migrates the store from one version to the other.
    enum Way {
        /// The store itself, by an inferred mapping.
        case store(any ModelMigratingStore.Type, InferredMapping)
        /// A migration manager, by a mapping model called so.
        case mappingModel(NSMappingModel, String)
        /// A migration manager, by an inferred mapping: the class of the store has no migration of its own.
        case inferred(NSMappingModel)
    }

    let source: KnownVersion
    let destination: KnownVersion
    let way: Way
}
