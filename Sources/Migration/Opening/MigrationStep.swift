internal import Foundation
internal import ObjectGraph

/// One step of a migration: from a version to another.
struct MigrationStep {
    /// What brings the store from one version to the other.
    enum Way {
        /// The store itself, by an inferred mapping.
        case store(any ModelMigratingStore.Type, InferredMapping)
    }

    let source: KnownVersion
    let destination: KnownVersion
    let way: Way
}
