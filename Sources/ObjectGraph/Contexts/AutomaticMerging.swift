internal import Foundation
internal import Platform
internal import Predicates

extension MergeListeners {
    /// Has each context except one merge a save, asynchronously on its own queue.
    func notify(of saved: @autoclosure () -> SavedIDs, isRemote: Bool, except saver: ObjectRegistry?) {
        func others(_ listeners: [any SaveListener]) -> some Sequence<MergeListener> {
            // Only contexts add listeners, and they add listeners of this class.
            listeners.lazy.map { unsafeDowncast($0, to: MergeListener.self) }.filter { $0.registry !== saver }
        }
        if !withListeners({ others($0).contains { _ in true } }) { return }
        let saved = saved()
        if saved.isEmpty { return }
        let save = MergeableSave(saved, isRemote: isRemote)
        let idle = withListeners { others($0).filter { $0.enqueue(save) } }
        for listener in idle { listener.enqueueMerge() }
    }
}

/// A save to merge.
// Immutable.
final class MergeableSave: Sendable {
    let saved: SavedIDs
    /// Whether cached rows are older than the save.
    let isRemote: Bool

    init(_ saved: SavedIDs, isRemote: Bool) {
        self.saved = saved
        self.isRemote = isRemote
    }
}

/// A context that is notified of saves; it is not kept alive by pending saves.
// The notified saves are in a `LockedBox`; the lock of the listeners guards `position`.
final class MergeListener: SaveListener, @unchecked Sendable {
    let registry: ObjectRegistry
    private let queue: ContextQueue
    private struct State {
        /// The saves that the context was notified of and has not merged.
        var pendingSaves: [MergeableSave] = []
        var isMergeEnqueued = false
    }
    private let state = LockedBox(State())
    var position = 0

    init(_ context: NSManagedObjectContext) {
        registry = context.registry
        queue = context.contextQueue
    }

    /// Adds a save to the pending ones.
    ///
    /// - Returns: Whether to enqueue a merge; false if an enqueued merge will include the save.
    fileprivate func enqueue(_ save: MergeableSave) -> Bool {
        state.withLock { state in
            state.pendingSaves.append(save)
            defer { state.isMergeEnqueued = true }
            return !state.isMergeEnqueued
        }
    }

    /// Enqueues a merge of all saves that are pending when it runs on the context's queue.
    fileprivate func enqueueMerge() {
        queue.async(canBeDeferred: true) {
            let pendingSaves = self.takePendingSaves()
            guard let context = self.registry.livingContext else { return }
            context.runEvent {
                for (saved, isRemote) in SavedIDs.coalesced(pendingSaves) { context.merge(saved, isRemote: isRemote) }
            }
        }
    }

    private func takePendingSaves() -> [MergeableSave] {
        state.withLock { state in
            defer { state = State() }
            return state.pendingSaves
        }
    }
}

extension SavedIDs {
    /// Combines consecutive saves so that merging the result equals merging them one by one.
    ///
    /// A deletion by a later save replaces insertions and updates by earlier ones. An object that is saved again after its deletion is a
    /// new object to a context, which must merge the deletion first; and cached rows may be stale for one save and current for another.
    /// Both start a separate merge.
    static func coalesced(_ pendingSaves: [MergeableSave]) -> [(saved: SavedIDs, isRemote: Bool)] {
        if pendingSaves.count == 1 { return [(pendingSaves[0].saved, pendingSaves[0].isRemote)] }
        var merges: [(saved: SavedIDs, isRemote: Bool)] = []
        var sum = Sum()
        var isRemote = false
        for save in pendingSaves {
            if save.isRemote != isRemote || !sum.takes(save.saved) {
                if !sum.isEmpty { merges.append((sum.saved, isRemote)) }
                sum = Sum()
                isRemote = save.isRemote
            }
            sum.add(save.saved)
        }
        if !sum.isEmpty { merges.append((sum.saved, isRemote)) }
        return merges
    }

    /// The combined effect of several saves.
    private struct Sum {
        private enum Fate { case inserted, updated, refreshed, deleted }
        private var fates: [NSManagedObjectID: Fate] = [:]
        private var order: [NSManagedObjectID] = []

        var isEmpty: Bool { order.isEmpty }

        /// Returns whether the save does not touch objects that were deleted before.
        func takes(_ saved: SavedIDs) -> Bool {
            !(saved.inserted + saved.updated + saved.refreshed).contains { fates[$0] == .deleted }
        }

        mutating func add(_ saved: SavedIDs) {
            for id in saved.inserted { note(.inserted, of: id) }
            for id in saved.updated where fates[id] != .inserted { note(.updated, of: id) }
            for id in saved.refreshed where fates[id] == nil { note(.refreshed, of: id) }
            for id in saved.deleted { note(.deleted, of: id) }
        }

        private mutating func note(_ fate: Fate, of id: NSManagedObjectID) {
            if fates.updateValue(fate, forKey: id) == nil { order.append(id) }
        }

        var saved: SavedIDs {
            var saved = SavedIDs(inserted: [], updated: [], deleted: [])
            for id in order {
                switch fates[id] {
                case .inserted: saved.inserted.append(id)
                case .updated: saved.updated.append(id)
                case .refreshed: saved.refreshed.append(id)
                case .deleted: saved.deleted.append(id)
                case nil: break
                }
            }
            return saved
        }
    }
}

extension NSManagedObjectContext {
    /// Registers with the parent or the coordinator, or unregisters, as ``automaticallyMergesChangesFromParent`` requires.
    func updateListening() {
        stopListening()
        guard automaticallyMergesChangesFromParent else { return }
        guard let source = parent?.mergeListeners ?? persistentStoreCoordinator?.mergeListeners else { return }
        let listener = MergeListener(self)
        source.add(listener)
        listensTo = (source, listener)
    }

    /// Unregisters from the parent or the coordinator.
    func stopListening() {
        if let (source, listener) = listensTo { source.remove(listener) }
        listensTo = nil
    }

    /// Notifies the contexts that merge automatically of a save: siblings of this context and its children.
    func notifyMergingContexts(of changes: ChangeSet) {
        func notify(_ listeners: MergeListeners?, except saver: ObjectRegistry?) {
            listeners?.notify(of: SavedIDs(changes), isRemote: false, except: saver)
        }
        if parent == nil { notify(persistentStoreCoordinator?.mergeListeners, except: registry) }
        notify(mergeListeners, except: nil)
    }
}
