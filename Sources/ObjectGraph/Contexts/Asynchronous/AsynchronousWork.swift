internal import Foundation

/// Tracks the asynchronous fetches and saves of a context while they are suspended.
// Used on the context's queue.
final class AsynchronousWork {
    /// The save that the stores are performing.
    var save: SaveInFlight?
    /// Whether an asynchronous save is running.
    private var isTaken = false
    /// The asynchronous saves that wait for the running one, in the order of their calls.
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// Saves by other contexts since the running save was sent; they are merged when it finishes.
    var merges: [(saved: SavedIDs, isRemote: Bool)] = []
    /// The marks of the suspended asynchronous fetches.
    private var marks: [WeakMark] = []
    /// The objects that the context has saved, and the IDs that others have deleted, since the first suspended fetch began.
    private var saved: [NSManagedObject] = []
    private var deleted: [NSManagedObjectID] = []

    /// Changes, beyond the pending ones, that affect a fetch.
    struct Changes {
        /// Objects that were saved or are being saved.
        var changed: [NSManagedObject] = []
        /// Objects that are being deleted.
        var deleted: [NSManagedObject] = []
        /// The IDs of objects that were deleted.
        var deletedIDs: Set<NSManagedObjectID> = []

        var isEmpty: Bool { changed.isEmpty && deleted.isEmpty && deletedIDs.isEmpty }
    }

    // MARK: Fetches

    /// The length of the recorded changes at the time a fetch began.
    final class Mark {
        fileprivate let saved: Int
        fileprivate let deleted: Int

        fileprivate init(saved: Int, deleted: Int) {
            self.saved = saved
            self.deleted = deleted
        }
    }
    private struct WeakMark { weak var mark: Mark? }

    func beginFetch() -> Mark {
        forgetUnneeded()
        let mark = Mark(saved: saved.count, deleted: deleted.count)
        marks.append(WeakMark(mark: mark))
        return mark
    }

    /// Drops the recorded changes once no fetch is suspended.
    private func forgetUnneeded() {
        marks.removeAll { $0.mark == nil }
        guard marks.isEmpty else { return }
        saved = []
        deleted = []
    }

    /// Returns the changes that are being saved and, for a fetch with a mark, those saved since it began.
    func changes(since mark: Mark?) -> Changes {
        var changes = Changes()
        if let mark {
            changes.changed = Array(saved[mark.saved...])
            changes.deletedIDs = Set(deleted[mark.deleted...])
        }
        if let save {
            changes.changed += save.objects.lazy.map(\.object)
            changes.deleted = save.changes.deleted
        }
        return changes
    }

    /// Records a save of the context.
    func noteSave(_ changes: ChangeSet) {
        forgetUnneeded()
        if marks.isEmpty { return }
        saved += changes.inserted + changes.updated
        deleted += changes.deleted.map(\.objectID)
    }

    /// Records deletions by others.
    func noteDeletions(_ ids: [NSManagedObjectID]) { if !marks.isEmpty { deleted += ids } }

    // MARK: Saves

    /// Starts a save at once, or when the saves before it are done.
    func beginSave(_ continuation: CheckedContinuation<Void, Never>) {
        if isTaken { return waiting.append(continuation) }
        isTaken = true
        continuation.resume()
    }

    /// Ends the running save and starts the next one.
    func endSave() {
        if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
    }
}

extension NSManagedObjectContext {
    /// The context's asynchronous work, created with the first asynchronous call.
    var ongoingWork: AsynchronousWork {
        if let asynchronousWork { return asynchronousWork }
        let work = AsynchronousWork()
        asynchronousWork = work
        return work
    }
}
