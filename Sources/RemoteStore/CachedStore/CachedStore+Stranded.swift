internal import ObjectGraph

/// What the application is told of pending changes of entities that its model does not have any more.
extension CachedStore {
    /// A pending change of an entity that a new version of the model does not have. It has no object any more, and is not sent.
    public struct StrandedChange: Identifiable, Sendable {
        /// Identifies it in the cache.
        public let id: Int64
        /// The name that the entity had.
        public let entity: String
        /// The kind of change.
        public let kind: Resource.Saving.Kind
        /// What the backend calls the object; nil for a new one.
        public let resourceID: ResourceID?
        /// The values that were changed, or of a new object all; without large values, and values of transformable attributes.
        public let values: [String: ResourceValue]
    }

    /// Returns the pending changes that cannot be sent because the model does not have their entities any more. They are kept until they are
    /// dropped. Call it on any thread.
    ///
    /// - Throws: The error of a file that cannot be read.
    public func strandedChanges() throws -> [StrandedChange] {
        try StrandedRecord.all(of: file).map { key, record in
            StrandedChange(id: key, entity: record.entity, kind: record.kind, resourceID: record.resource, values: record.values)
        }
    }

    /// Gives a change up whose entity the model does not have any more. Call it on any thread.
    ///
    /// - Throws: The error of a file that cannot be written.
    public func drop(_ change: StrandedChange) throws {
        guard let settings = file.entity(named: file.names.setting) else { return }
        try file.write { try $0.delete(CacheKey(entity: settings, number: change.id)) }
    }
}
