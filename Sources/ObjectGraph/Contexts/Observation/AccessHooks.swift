internal import Foundation
internal import Synchronization

/// Hooks for property accesses, for Swift's Observation and for concurrency debugging.
///
/// While the hooks are inactive, accesses do not check them. Objects created while they are active look up their properties in an empty
/// table, so that each access takes the slow path, which calls the hooks.
enum AccessHooks {
    private static let active = Atomic<Bool>(false)

    @inline(__always) static var isActive: Bool { active.load(ordering: .relaxed) }

    /// Activates the hooks for objects created from now on.
    static func activate() { active.store(true, ordering: .releasing) }
}

extension NSManagedObject {
    /// Stops the program if concurrency debugging is enabled and the caller is not on the queue of the object's context.
    @inline(__always) final func checkQueue(_ what: @autoclosure () -> String) {
        if AccessHooks.isActive { checkQueueSlowly(what) }
    }

    @inline(never) private final func checkQueueSlowly(_ what: () -> String) {
        registry?.context?.stopOffQueue("\(what()) of \(identifierForMessage) is called")
    }

    /// Whether accesses to the object's properties call ``noteRead(at:)`` and ``noteWrite(at:)``.
    final var noticesAccesses: Bool { places == owningEntity.frozen!.layout.watchedPlaces.entries }

    /// Called before a property is read.
    @inline(never) final func noteRead(at index: Int) {
        // Relationships that a row leaves out are loaded by their own queries.
        if flags.contains(.partial), owningEntity.frozen!.properties[index] is NSAttributeDescription { completeUnknown(at: index) }
        guard let context = registry?.context else { return }
        context.stopOffQueue("“\(owningEntity.frozen!.properties[index])” of \(identifierForMessage) is read")
        context.observation?.willRead(self, index)
    }

    /// Called before a property is written, or right after.
    @inline(never) final func noteWrite(at index: Int) {
        guard let context = registry?.context else { return }
        context.stopOffQueue("“\(owningEntity.frozen!.properties[index])” of \(identifierForMessage) is written")
        context.observation?.willChange(self, index)
    }

    /// The ID, not created on demand: the caller may be on a queue that must not change the object.
    private var identifierForMessage: String { identifier.map { "\($0)" } ?? "a new <\(owningEntity.name ?? "?")>" }
}
