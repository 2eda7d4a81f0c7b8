@_spi(Stores) package import ObjectGraph
internal import SQLQueries

extension SQLiteStore {
    /// Returns some of the objects of a to-many relationship, in its order; no others are read.
    ///
    /// - Parameters:
    ///   - page: Their places in the relationship.
    /// - Throws: The errors of reading.
    package func relatedIDs(
        of relationship: NSRelationshipDescription, for id: NSManagedObjectID, page: Range<Int>
    ) throws -> [NSManagedObjectID] {
        guard let place = place(of: id) else { return [] }
        return try reading { try $0.readRelated(relationship, place.entity, place.key, page: page) }
    }

    /// Counts the objects of a to-many relationship.
    ///
    /// - Parameter limit: The number at which counting ends.
    /// - Throws: The errors of reading.
    package func relatedCount(of relationship: NSRelationshipDescription, for id: NSManagedObjectID, limit: Int) throws -> Int {
        guard let place = place(of: id) else { return 0 }
        return try reading { try $0.countRelated(relationship, place.entity, place.key, limit: limit) }
    }
}
