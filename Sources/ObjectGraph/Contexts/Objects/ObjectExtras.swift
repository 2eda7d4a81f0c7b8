internal import Foundation

/// Holds the state that few objects have.
final class ObjectExtras {
    /// The errors of values that a property could not hold, by key; validation reports them.
    var rejectedValues: [String: NSError]?
    /// The results of fetched properties.
    var fetched: [String: (objects: [NSManagedObject], edits: Int)] = [:]
    /// The objects of relationships before a custom accessor changes them.
    var objectsBeforeCustomChange: [String: [NSManagedObject]] = [:]
    /// The object that this one has given way to.
    var successor: NSManagedObject?
    /// The state that an undo needs to restore the object after it has left its context.
    weak var undoState: UndoState?
}

extension NSManagedObject {
    /// The errors of values that properties could not hold, by key; nil for none.
    package final var refusedValues: [String: NSError]? { extras?.rejectedValues }

    final var rejectedValues: [String: NSError]? {
        get { extras?.rejectedValues }
        set {
            if newValue != nil, extras == nil { extras = ObjectExtras() }
            extras?.rejectedValues = newValue
        }
    }
}
