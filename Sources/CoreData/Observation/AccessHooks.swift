internal import Foundation
internal import Synchronization

/// Whether accesses to properties are to be noticed: by Swift's Observation, or to debug concurrency.
///
/// While they are not, nothing on the way of an access asks. Objects that come to life while they are look their properties up in a table
/// that stays empty, so that each access takes the slow way, where what is to notice it is asked.
enum AccessHooks {
    private static let active = Atomic<Bool>(false)

    @inline(__always) static var isActive: Bool { active.load(ordering: .relaxed) }

    /// From now on objects notice accesses.
    static func activate() { active.store(true, ordering: .releasing) }
}

extension NSManagedObject {
    /// Stops the program where concurrency is debugged and the caller is not on the queue of the object's context.
    @inline(__always) final func checkQueue(_ what: @autoclosure () -> String) {
        if AccessHooks.isActive { checkQueueSlowly(what) }
    }

    @inline(never) private final func checkQueueSlowly(_ what: () -> String) {
        registry?.context?.checkQueue("\(what()) of \(identifierForMessage) is called")
    }

    /// Whether accesses to the object's properties come by ``noteRead(at:)`` and ``noteWrite(at:)``.
    final var noticesAccesses: Bool { places == owningEntity.frozen!.layout.watchedPlaces.entries }

    /// A property is about to be read.
    @inline(never) final func noteRead(at index: Int) {
        if flags.contains(.partial) { completeUnknown(at: index) }
        guard let context = registry?.context else { return }
        context.checkQueue("“\(owningEntity.frozen!.properties[index])” of \(identifierForMessage) is read")
        context.observation?.willRead(self, index)
    }

    /// A property is about to be written, or has just been.
    @inline(never) final func noteWrite(at index: Int) {
        guard let context = registry?.context else { return }
        context.checkQueue("“\(owningEntity.frozen!.properties[index])” of \(identifierForMessage) is written")
        context.observation?.willChange(self, index)
    }

    /// The ID, without making one: the caller may be on a queue that must not change the object.
    private var identifierForMessage: String { identifier.map { "\($0)" } ?? "a new <\(owningEntity.name ?? "?")>" }
}
