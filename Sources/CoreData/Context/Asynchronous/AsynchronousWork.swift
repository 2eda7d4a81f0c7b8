internal import Foundation

/// What goes on in a context while asynchronous calls are suspended.
// Used on the context's queue.
final class AsynchronousWork {
    /// The save that the stores have now.
    var save: SaveInFlight?
    /// Whether an asynchronous save has its turn.
    private var isTaken = false
    /// The asynchronous saves that wait for it, in the order in which they came.
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// What others have saved since the stores were given a save: it is merged when that is done.
    var merges: [(saved: SavedIDs, isRemote: Bool)] = []
    /// The asynchronous fetches that are suspended: each holds its mark.
    private var marks: [WeakMark] = []
    /// What the context has saved, and what has been deleted by others, since the first of them began.
    private var saved: [NSManagedObject] = []
    private var deleted: [NSManagedObjectID] = []

    /// What bears on a fetch besides what is pending.
    struct Changes {
        /// Objects that have been saved, or are being saved.
        var changed: [NSManagedObject] = []
        /// Objects that are being deleted.
        var deleted: [NSManagedObject] = []
        /// The IDs of objects that have been deleted.
        var gone: Set<NSManagedObjectID> = []

        var isEmpty: Bool { changed.isEmpty && deleted.isEmpty && gone.isEmpty }
    }

    // MARK: Fetches

    /// How far the notes have come when a fetch begins.
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

    /// Notes serve the fetches that are suspended.
    private func forgetUnneeded() {
        marks.removeAll { $0.mark == nil }
        guard marks.isEmpty else { return }
        saved = []
        deleted = []
    }

    /// What is being saved and, for a fetch that began before, what was saved since.
    func changes(since mark: Mark?) -> Changes {
        var changes = Changes()
        if let mark {
            changes.changed = Array(saved[mark.saved...])
            changes.gone = Set(deleted[mark.deleted...])
        }
        if let save {
            changes.changed += save.taken.lazy.map(\.object)
            changes.deleted = save.changes.deleted
        }
        return changes
    }

    /// The context has saved.
    func noteSave(_ changes: ChangeSet) {
        forgetUnneeded()
        if marks.isEmpty { return }
        saved += changes.inserted + changes.updated
        deleted += changes.deleted.map(\.objectID)
    }

    /// Others have deleted objects.
    func noteDeletions(_ ids: [NSManagedObjectID]) { if !marks.isEmpty { deleted += ids } }

    // MARK: Saves

    /// Gives a save its turn, at once or when those before it are done.
    func takeTurn(_ continuation: CheckedContinuation<Void, Never>) {
        if isTaken { return waiting.append(continuation) }
        isTaken = true
        continuation.resume()
    }

    /// A save is done: the next has its turn.
    func passTurn() {
        if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
    }
}

extension NSManagedObjectContext {
    /// What goes on while asynchronous calls are suspended. Made with the first such call.
    var ongoingWork: AsynchronousWork {
        if let asynchronousWork { return asynchronousWork }
        let work = AsynchronousWork()
        asynchronousWork = work
        return work
    }
}
