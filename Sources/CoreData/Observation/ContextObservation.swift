internal import Foundation
internal import Logging
public import Observation

/// The reads and changes of a context's objects, as Swift's Observation knows them.
///
/// One registrar serves all objects of a context: an object that nobody observes costs nothing.
// Used on the context's queue; the registrar has a lock of its own.
final class ContextObservation: Observable, @unchecked Sendable {
    /// One property of one object.
    private struct Place: Hashable {
        let object: ObjectIdentifier
        let property: Int
    }

    private let registrar = ObservationRegistrar()

    /// Gives each place a key path of its own, which is what observers are filed under.
    private subscript(place: Place) -> Bool { false }

    func willRead(_ object: NSManagedObject, _ property: Int) {
        registrar.access(self, keyPath: \.[Place(object: ObjectIdentifier(object), property: property)])
    }

    func willChange(_ object: NSManagedObject, _ property: Int) {
        registrar.willSet(self, keyPath: \.[Place(object: ObjectIdentifier(object), property: property)])
    }

    /// Objects have changed in ways that no accessor knows of, such as a refresh.
    func didChange(_ changes: ObjectChanges) {
        for object in changes.updated.union(changes.refreshed).union(changes.deleted) {
            for index in object.owningEntity.frozen!.properties.indices { willChange(object, index) }
        }
    }
}

/// Accesses to properties take part in Swift's Observation where the context says so: see
/// ``NSManagedObjectContext/isObservationEnabled``.
extension NSManagedObject: Observable {}

extension NSManagedObjectContext {
    /// Whether reading and changing properties of the context's objects takes part in Swift's Observation: `withObservationTracking { album.title }
    /// onChange: { … }`. False unless set; set it before the first object comes.
    ///
    /// Typed accessors, ``NSManagedObject/value(forKey:)`` and ``NSManagedObject/willAccessValue(forKey:)`` count as reads. `onChange` is called on
    /// the context's queue when a property is set, by whatever accessor or inverse, and when its object is refreshed, rolled back or deleted.
    ///
    /// Once a context of the program has it set, objects that come to life take a slower way to their properties, those of other contexts too.
    /// Programs that never set it pay nothing. Not in Apple's API.
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
    /// The ``NSManagedObject/objectID``, for a class that is declared `Identifiable` and has no `id` of its own.
    public var id: NSManagedObjectID { objectID }
}
