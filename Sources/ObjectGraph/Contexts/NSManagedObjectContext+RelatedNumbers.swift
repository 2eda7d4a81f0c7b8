extension NSManagedObjectContext {
    /// Returns the objects of the row numbers: registered objects, and new faults for the rest.
    func materialize(_ found: RelatedNumbers) -> [NSManagedObject] {
        notifySourceOfRelease()
        adoptPermanentIDs()
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(found.numbers.count)
        // In parts, like rows.
        var rest = found.numbers
        while !rest.isEmpty {
            let part = rest.prefix(256)
            rest = rest.dropFirst(256)
            let known = registry.objects(with: part, of: found.origin)
            let missing = known.reduce(0) { $1 == nil ? $0 + 1 : $0 }
            objects += completed(known, missing, count: part.count) { fault(part[part.startIndex + $0], of: found.origin) }
        }
        return objects
    }
}
