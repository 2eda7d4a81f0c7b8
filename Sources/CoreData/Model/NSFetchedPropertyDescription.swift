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

extension NSManagedObject {
    /// Returns the objects of a fetched property: the cached result, or that of a new fetch.
    ///
    /// The context keeps an error of the fetch, like that of a fault; the value is empty then.
    func fetchedObjects(_ property: NSFetchedPropertyDescription) -> [NSManagedObject] {
        if let known = rarities?.fetched[property.name] { return known }
        guard let context = registry?.context else { return [] }
        do {
            let found = try context.fetchObjects(of: property, for: self)
            if rarities == nil { rarities = Rarities() }
            rarities?.fetched[property.name] = found
            return found
        } catch {
            context.noteFaultError(error, of: self)
            return []
        }
    }
}

extension NSManagedObjectContext {
    fileprivate func fetchObjects(of property: NSFetchedPropertyDescription, for source: NSManagedObject) throws -> [NSManagedObject] {
        guard let template = property.fetchRequest else { return [] }
        let request = template.copy() as! NSFetchRequest<any NSFetchRequestResult>
        request.resultType = .managedObjectResultType
        request.predicate = try template.predicate.map { predicate in
            NSPredicate(
                tree: try predicate.tree().substituting([
                    "FETCH_SOURCE": .constant(.object(ObjectReference(source))),
                    "FETCHED_PROPERTY": .constant(.object(ObjectReference(property))),
                ]))
        }
        return try fetch(request).compactMap { $0 as? NSManagedObject }
    }
}
