internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform

/// The contents that a store has read from its file, or written to it.
struct ArchiveContents {
    var rows: StoredRows
    /// The state of the file; nil before there is one.
    var stamp: FileStamp?
    /// The metadata in the file, with the UUID and the type.
    var metadata: [String: Any]
    /// The largest number that any object has had. Objects of all entities share the numbers.
    var lastNumber: Int64
    /// The places of the objects in the file, for formats that copy unchanged objects.
    var map: (any Sendable)?
    /// The values that are archives, which could not be decoded.
    var rawArchives: Set<RawArchive> = []

    /// The largest number that is accepted: rows are in pages by their numbers, so a larger one would waste memory.
    static let largestNumber: Int64 = 1 << 31

    /// The place of a value: the number of its object, and the index of its property.
    struct RawArchive: Hashable {
        let number: Int64
        let slotIndex: Int
    }
}

/// The changes of a save that a format writes.
struct ArchiveChanges {
    /// The rows of changed objects by number.
    var changed: [Int64: Row] = [:]
    /// The rows of new objects, in the order of their numbers.
    var inserted: [Row] = []
    /// The numbers of deleted objects.
    var deleted: Set<Int64> = []

    init(_ changes: StoreChangeSet) {
        for part in [changes.updated, changes.locked] {
            for change in part { if let row = change.row, let number = change.objectID.number { changed[number] = row } }
        }
        inserted = changes.inserted.compactMap(\.row).sorted { ($0.knownObjectID.number ?? 0) < ($1.knownObjectID.number ?? 0) }
        deleted = Set(changes.deleted.compactMap(\.objectID.number))
    }

    /// No changes.
    init() {}

    var isEmpty: Bool { changed.isEmpty && inserted.isEmpty && deleted.isEmpty }
}
