internal import Foundation

/// What is at the other end of a to-many relationship of one row.
enum SQLRelated {
    /// Rows of one table: a part of what was read for many.
    case numbers(SQLRelatedPart, Range<Int>)
    case ids([NSManagedObjectID])

    var numbers: RelatedNumbers? {
        guard case .numbers(let part, let range) = self else { return nil }
        return RelatedNumbers(numbers: part.numbers[range], origin: part.origin)
    }

    var ids: [NSManagedObjectID] {
        switch self {
        case .numbers(let part, let range): part.numbers[range].map(part.origin.id)
        case .ids(let ids): ids
        }
    }
}

/// The numbers of related rows that one question has found for many.
// Immutable once the question is answered.
final class SQLRelatedPart {
    let origin: RowOrigin
    let numbers: [Int64]

    init(_ numbers: [Int64], of origin: RowOrigin) {
        self.numbers = numbers
        self.origin = origin
    }
}

/// Relationships that were read for many objects at once.
// Used under the lock of its store.
struct SQLRelatedCache {
    private struct Key: Hashable {
        let relationship: ObjectIdentifier
        /// ``NSManagedObjectID/key``, which no two IDs of a store share that counts its rows.
        let key: Int64
    }
    private var lists: [Key: (related: SQLRelated, time: UInt64)] = [:]

    /// - Parameter age: in seconds; any will do for a negative number.
    func related(of relationship: NSRelationshipDescription, for key: Int64, notOlderThan age: TimeInterval) -> SQLRelated? {
        if lists.isEmpty { return nil }
        guard let known = lists[Key(relationship: ObjectIdentifier(relationship), key: key)] else { return nil }
        if age >= 0, Double(DispatchTime.now().uptimeNanoseconds &- known.time) >= age * 1e9 { return nil }
        return known.related
    }

    mutating func set(_ related: SQLRelated, of relationship: NSRelationshipDescription, for key: Int64, time: UInt64) {
        // Long walks through a large graph leave lists behind that nobody asks for again.
        if lists.count > 200_000 { lists = [:] }
        lists[Key(relationship: ObjectIdentifier(relationship), key: key)] = (related, time)
    }

    mutating func removeAll() { lists = [:] }

    mutating func removeAll(of id: NSManagedObjectID) {
        if lists.isEmpty { return }
        for relationship in id.owningEntity.frozen?.relationships ?? [] {
            lists[Key(relationship: ObjectIdentifier(relationship), key: id.key)] = nil
        }
    }
}
