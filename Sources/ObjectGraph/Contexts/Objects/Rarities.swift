internal import Foundation

/// Holds the state that few objects have.
final class Rarities {
    /// The errors of values that a property could not hold, by key; validation reports them.
    var refusedValues: [String: NSError]?
    /// The results of fetched properties.
    var fetched: [String: [NSManagedObject]] = [:]
    /// The objects of relationships before a custom accessor changes them.
    var announced: [String: [NSManagedObject]] = [:]
    /// The object that this one has given way to.
    var successor: NSManagedObject?
    /// The state that an undo needs to restore the object after it has left its context.
    weak var remains: ObjectRemains?
}

extension NSManagedObject {
    final var refusedValues: [String: NSError]? {
        get { rarities?.refusedValues }
        set {
            if newValue != nil, rarities == nil { rarities = Rarities() }
            rarities?.refusedValues = newValue
        }
    }
}
