internal import Foundation

/// What few objects have.
final class Rarities {
    /// Values that a property could not hold, by key; validation reports them.
    var refusedValues: [String: NSError]?
    /// What fetched properties have found.
    var fetched: [String: [NSManagedObject]] = [:]
    /// What relationships led to when a custom accessor announced that it changes them.
    var announced: [String: [NSManagedObject]] = [:]
    /// What an undo needs to bring the object back, once it is gone from its context.
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
