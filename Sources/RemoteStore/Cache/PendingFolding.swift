@_spi(Stores) internal import ObjectGraph

/// Keeps the confirmed values of objects with pending changes, and merges the changes with them.
protocol PendingFolding: Sendable {
    /// Receives the values of an object with a pending change from a backend's answer. The receiver writes the row.
    ///
    /// - Parameters:
    ///   - confirmed: The values, as a row of the file's entity with references to rows of the file. Properties that the answer lacks are unknown.
    ///   - lists: The complete lists of the answer, by the names of the relationships.
    ///   - version: The version of the answer; nil if the backend has none.
    ///   - askedAt: The time of the request, in the file's ``CacheFile/order``.
    func receive(
        confirmed: Row, lists: [String: [CacheKey]], version: ResourceVersion?, askedAt: UInt64, key: CacheKey,
        in transaction: CacheTransaction
    ) throws

    /// Notes that the backend no longer has an object with a pending change. The receiver writes the row.
    func receiveDeletion(askedAt: UInt64, key: CacheKey, in transaction: CacheTransaction) throws

    /// Returns whether a pending change of an object removes another one from a relationship.
    func removes(_ member: CacheKey, from name: String, of key: CacheKey, in transaction: CacheTransaction) throws -> Bool
}
