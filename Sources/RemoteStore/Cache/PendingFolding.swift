@_spi(Stores) internal import ObjectGraph

/// Keeps what the backend has confirmed of objects with pending changes, and folds the changes over it.
protocol PendingFolding: Sendable {
    /// Takes the values of an object that has a pending change, as a backend's answer has them. The receiver writes the row.
    ///
    /// - Parameters:
    ///   - confirmed: The values, as a row of the file's entity with references to rows of the file. What is unknown in the answer is unknown.
    ///   - lists: The whole lists of the answer, by the names of the relationships.
    ///   - version: The version of the answer; nil where the backend has none.
    ///   - askedAt: When it was asked for, in the file's ``CacheFile/order``.
    func receive(
        confirmed: Row, lists: [String: [CacheKey]], version: ResourceVersion?, askedAt: UInt64, key: CacheKey,
        in transaction: CacheTransaction
    ) throws

    /// Takes notice that the backend does not have an object any more that has a pending change. The receiver writes the row.
    func receiveDeletion(askedAt: UInt64, key: CacheKey, in transaction: CacheTransaction) throws

    /// Returns whether a pending change of an object takes another one out of a relationship.
    func removes(_ member: CacheKey, from name: String, of key: CacheKey, in transaction: CacheTransaction) throws -> Bool
}
