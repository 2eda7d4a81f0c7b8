internal import Foundation
internal import Predicates

/// Describes a property whose value is the result of a fetch: a weak, one-way relationship.
///
/// The request may use `$FETCH_SOURCE`, the object of the property, and `$FETCHED_PROPERTY`, this description. The value,
/// `[NSManagedObject]` from ``NSManagedObject/value(forKey:)``, is fetched when it is first read and kept until the object is refreshed
/// or becomes a fault. It is read-only and not stored.
///
/// Source: [NSFetchedPropertyDescription](https://developer.apple.com/documentation/coredata/nsfetchedpropertydescription).
// See NSPropertyDescription: immutable once its model is in use.
open class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {
    /// The request to fetch.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { willSet { requireMutable() } }

    override func copyFields(to copy: NSPropertyDescription) {
        super.copyFields(to: copy)
        guard let copy = copy as? NSFetchedPropertyDescription else { return }
        copy.fetchRequest = fetchRequest.map { $0.copy() as! NSFetchRequest<any NSFetchRequestResult> }
    }
}
