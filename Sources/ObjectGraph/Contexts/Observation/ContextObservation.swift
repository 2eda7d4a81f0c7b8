internal import Foundation
internal import Logging
public import Observation

/// Reports reads and changes of a context's objects to Swift's Observation.
///
/// One registrar serves all objects of a context: an object without observers costs nothing.
// Used on the context's queue; the registrar has its own lock.
final class ContextObservation: Observable, @unchecked Sendable {
    /// A property of an object.
    private struct Place: Hashable {
        let object: ObjectIdentifier
        let property: Int
    }

    private let registrar = ObservationRegistrar()

    /// Gives each place a distinct key path, by which observers are registered.
    private subscript(place: Place) -> Bool { false }

    func willRead(_ object: NSManagedObject, _ property: Int) {
        registrar.access(self, keyPath: \.[Place(object: ObjectIdentifier(object), property: property)])
    }

    func willChange(_ object: NSManagedObject, _ property: Int) {
        registrar.willSet(self, keyPath: \.[Place(object: ObjectIdentifier(object), property: property)])
    }

    /// Reports changes that no accessor makes, such as a refresh.
    func didChange(_ changes: ObjectChanges) {
        for object in changes.updated.union(changes.refreshed).union(changes.deleted) {
            for index in object.owningEntity.frozen!.properties.indices { willChange(object, index) }
        }
    }
}

/// Reports property accesses to Swift's Observation if the context enables it: see ``NSManagedObjectContext/isObservationEnabled``.
extension NSManagedObject: Observable {}

extension NSManagedObjectContext {
    /// Whether Swift's Observation tracks the properties of the context's objects: `withObservationTracking { album.title } onChange: { …
    /// }`. The default is false; set it before the context has objects.
    ///
    /// Typed accessors, ``NSManagedObject/value(forKey:)`` and ``NSManagedObject/willAccessValue(forKey:)`` are tracked as reads.
    /// `onChange` is called on the context's queue when a property is set, by any accessor or inverse, and when its object is refreshed,
    /// rolled back or deleted.
    ///
    /// Once a context enables it, objects that are created later access their properties more slowly, in other contexts, too. Programs that never
    /// enable it pay nothing. Not in Apple's API.
    public var isObservationEnabled: Bool {
        get { observation != nil }
        set {
            if newValue == isObservationEnabled { return }
            observation = newValue ? ContextObservation() : nil
            guard newValue else { return }
            AccessHooks.activate()
            if !registry.all.isEmpty || !insertedList.isEmpty {
                Log.context.warning(
                    "Observation was enabled after objects came into the context: those are observed only through value(forKey:).")
            }
        }
    }
}

extension Identifiable where Self: NSManagedObject {
    /// The ``NSManagedObject/objectID``, for classes that conform to `Identifiable` without declaring `id`.
    public var id: NSManagedObjectID { objectID }
}
