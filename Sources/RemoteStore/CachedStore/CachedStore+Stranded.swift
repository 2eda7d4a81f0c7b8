internal import ObjectGraph

/// The pending changes of entities that the model no longer has, for the application.
extension CachedStore {
    /// A pending change of an entity that a new version of the model no longer has. It has no object, and is not sent.
    public struct StrandedChange: Identifiable, Sendable {
        /// The identifier of the change in the cache.
        public let id: Int64
        /// The former name of the entity.
        public let entity: String
        /// The kind of change.
        public let kind: Resource.Saving.Kind
        /// The backend's identifier of the object; nil for a new one.
        public let resourceID: ResourceID?
        /// The changed values, or all values of a new object; without large values, and values of transformable attributes.
        public let values: [String: ResourceValue]
    }

    /// Returns the pending changes that cannot be sent because the model no longer has their entities. They are kept until they are dropped. Call it on any
    /// thread.
    ///
    /// - Throws: The error of a file that cannot be read.
    public func strandedChanges() throws -> [StrandedChange] {
        try StrandedRecord.all(of: file).map { key, record in
            StrandedChange(id: key, entity: record.entity, kind: record.kind, resourceID: record.resource, values: record.values)
        }
    }

    /// Drops a change whose entity the model no longer has. Call it on any thread.
    ///
    /// - Throws: The error of a file that cannot be written.
    public func drop(_ change: StrandedChange) throws {
        guard let settings = file.entity(named: file.names.setting) else { return }
        try file.write { try $0.delete(CacheKey(entity: settings, number: change.id)) }
    }
}
