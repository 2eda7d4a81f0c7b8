#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// A save that changes attributes of one object, and waits on the server only for the row of that object.
struct SmallSave: Sendable {
    /// Writes the row of the object, and the commit's own row, by which a lost answer is resolved; or neither, if another transaction holds the row
    /// of the object or has changed it.
    let statement: Call
    let commit: UUID
    let entity: SQLEntity

    /// Creates the save; nil if the changes do not form such a save.
    ///
    /// - Throws: Code 134070 for an entity that the store does not hold; the errors of values that the database cannot hold.
    init?(_ changes: StoreChangeSet, _ content: StoreContent) throws {
        guard content.combinesSaves, changes.updated.count == 1, changes.inserted.isEmpty, changes.deleted.isEmpty, changes.locked.isEmpty,
            changes.returning.isEmpty,
            // The history's records and the transaction's settings belong to one context. Constraints make one save wait for another.
            !content.history.isKept, content.settings.prelude == nil, !content.hasUniqueness,
            // A recording of statements reports those of its own saves only.
            SQLRecording.current == nil
        else { return nil }
        let change = changes.updated[0]
        guard let row = change.row, change.baseVersion != nil, change.lists.isEmpty, !change.wasMissing,
            let key = content.key(of: change.objectID)
        else { return nil }
        let writer = try content.writer(change.entity)
        guard let update = try writer.unwaitingUpdate(change, row, key: key) else { return nil }
        (commit, entity) = (UUID.ofNow(), writer.entity)
        statement = HistoryNotes.checkedMark(commit, after: update, content.history)
    }
}
#endif
