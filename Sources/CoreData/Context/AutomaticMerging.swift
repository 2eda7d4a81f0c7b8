internal import Foundation

/// The contexts that are told of saves in a coordinator or a parent context.
// `lock` guards `listeners`.
final class MergeListeners: @unchecked Sendable {
    private let lock = NSLock()
    // A weak reference would make every count of a registry's references slow; each context takes itself out when it goes.
    private var listeners: [ObjectRegistry] = []

    func add(_ registry: ObjectRegistry) {
        lock.withLock { listeners = listeners.filter { $0 !== registry } + [registry] }
    }

    func remove(_ registry: ObjectRegistry) {
        lock.withLock { listeners.removeAll { $0 === registry } }
    }

    /// Lets each context but one merge a save, on its own queue, when it gets to it.
    func tell(_ saved: @autoclosure () -> SavedIDs, isRemote: Bool, except saver: ObjectRegistry?) {
        let told = lock.withLock { listeners }.filter { $0 !== saver }
        if told.isEmpty { return }
        let saved = saved()
        if saved.isEmpty { return }
        for context in told.compactMap(\.livingContext) {
            // The block keeps the context until it has run, as Apple's does.
            context.perform { context.merge(saved, isRemote: isRemote) }
        }
    }
}

extension NSManagedObjectContext {
    /// Registers with the parent or the coordinator, or takes leave of them, as ``automaticallyMergesChangesFromParent`` says.
    func updateListening() {
        listensTo?.remove(registry)
        listensTo = nil
        guard automaticallyMergesChangesFromParent else { return }
        listensTo = parent?.mergeListeners ?? persistentStoreCoordinator?.mergeListeners
        listensTo?.add(registry)
    }

    /// Tells those who merge by themselves what this context has saved: contexts beside this one, and its children.
    func announceSave(_ changes: ChangeSet) {
        func tell(_ listeners: MergeListeners?, except saver: ObjectRegistry?) {
            listeners?.tell(SavedIDs(changes), isRemote: false, except: saver)
        }
        if parent == nil { tell(persistentStoreCoordinator?.mergeListeners, except: registry) }
        tell(mergeListeners, except: nil)
    }
}
