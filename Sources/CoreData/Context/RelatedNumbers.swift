/// The rows at the other end of a relationship, all of one table: their numbers, and where they come from.
struct RelatedNumbers {
    let numbers: ArraySlice<Int64>
    let origin: RowOrigin

    var ids: [NSManagedObjectID] { numbers.map(origin.id) }
}

extension NSManagedObjectContext {
    /// The objects of numbers: those that live here, and new faults.
    func materialize(_ found: RelatedNumbers) -> [NSManagedObject] {
        reportGone()
        adoptPermanentIDs()
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(found.numbers.count)
        // Part by part, as rows are.
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
