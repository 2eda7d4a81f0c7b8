import CoreData

/// What contexts show, by the labels of things.
extension GivingWayProgram {
    func things(_ context: NSManagedObjectContext) throws -> [Int: NSManagedObject] {
        let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing"))
        return Dictionary(found.map { (label($0), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Without an inverse, what leads to a deleted thing still does: to one with the label -1.
    func links(_ things: [Int: NSManagedObject]) -> Set<Link> {
        var links: Set<Link> = []
        for (label, object) in things {
            for relationship in Self.relationships {
                for other in labels(object.value(forKey: relationship.name)) {
                    links.insert(Link(from: label, relationship: relationship.name, to: other))
                }
            }
        }
        return links
    }

    /// The codes and the relationships of what is stored.
    func stored() throws -> (codes: [Int: Int?], links: Set<Link>) {
        let reader = Music.context(coordinator)
        reader.stalenessInterval = 0
        return try reader.performAndWait {
            let things = try things(reader)
            return (things.mapValues { $0.value(forKey: "code") as? Int }, links(things))
        }
    }

    func labels(_ value: Any?) -> [Int] {
        switch value {
        case let object as NSManagedObject: [label(object)]
        case let set as Set<NSManagedObject>: set.map(label).sorted()
        case let ordered as NSOrderedSet: ordered.array.map { label($0 as! NSManagedObject) }
        default: []
        }
    }

    /// The label of a thing; -1 for one that is deleted.
    func label(_ object: NSManagedObject) -> Int {
        if object.managedObjectContext == nil || object.isDeleted { return -1 }
        // What a fault without a row shows is nothing.
        if !object.isInserted, (try? object.managedObjectContext?.existingObject(with: object.objectID)) == nil { return -1 }
        return savedLabels[object.objectID] ?? newLabels[ObjectIdentifier(object)] ?? -1
    }
}
