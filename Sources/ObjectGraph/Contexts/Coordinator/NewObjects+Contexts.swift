extension NewObjects {
    /// Creates a collection of new objects of a context.
    init(objects: [NSManagedObject]) {
        var runs: [(entity: NSEntityDescription, count: Int)] = []
        var start = 0
        while start < objects.count {
            let end = objects.run(from: start) { $0.owningEntity === $1.owningEntity }.upperBound
            runs.append((objects[start].owningEntity, end - start))
            start = end
        }
        // A conversion by the language would cast each object.
        self.init(
            elements: uncheckedArray(objects, of: AnyObject.self), entityRuns: runs,
            member: { NewObject(entity: objects[$0].owningEntity, row: objects[$0].row) }, identity: { objects[$0].objectID },
            related: { index, relationship in
                guard case .toOne(let target) = objects[index].state(of: relationship) else { return nil }
                return target?.objectID
            })
    }

    /// The objects with their type.
    // Only the initializer above sets `elements`, from its objects.
    var objects: [NSManagedObject] { elements.mapUncounted { unsafeDowncast($0, to: NSManagedObject.self) } }
}
