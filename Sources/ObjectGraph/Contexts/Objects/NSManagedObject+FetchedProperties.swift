internal import Foundation
internal import Predicates

extension NSManagedObject {
    /// Returns the objects of a fetched property: the cached result, or that of a new fetch.
    ///
    /// The context keeps an error of the fetch, like that of a fault; the value is empty then.
    func fetchedObjects(_ property: NSFetchedPropertyDescription) -> [NSManagedObject] {
        let edits = property.information.edits
        if let known = extras?.fetched[property.name], known.edits == edits { return known.objects }
        guard let context = registry?.context else { return [] }
        do {
            let found = try context.fetchObjects(of: property, for: self)
            if extras == nil { extras = ObjectExtras() }
            extras?.fetched[property.name] = (found, edits)
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
