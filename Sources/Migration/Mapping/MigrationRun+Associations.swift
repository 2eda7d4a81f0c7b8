@_spi(Stores) internal import ObjectGraph

// Which objects became which.

extension MigrationRun {
    func associate(_ source: NSManagedObject, _ destination: NSManagedObject, _ mapping: NSEntityMapping) {
        guard let index = tables[mapping.name] else { return }
        associate(source, destination, index)
    }

    func associate(_ source: NSManagedObject, _ destination: NSManagedObject, _ index: Int) {
        associations[index].associate(source, destination)
    }

    func forgetAssociations() {
        guard let origin = source.store, let store else { return }
        associations = plans.map { _ in AssociationTable(source: origin, destination: store) }
    }

    /// Returns the source of the object whose relationships are being set.
    func source(of destination: NSManagedObject, _ index: Int) -> NSManagedObject? {
        if let current = currentPair, current.destination === destination { return current.source }
        var first: NSManagedObject?
        associations[index].forEachSource(of: destination, in: manager.sourceContext) { if first == nil { first = $0 } }
        return first
    }

    func setRelationships(
        of object: NSManagedObject, from source: NSManagedObject?, _ plan: MappingPlan, _ scope: ExpressionScope
    ) throws {
        try plan.setRelationships(of: object, from: source, scope, self)
    }

    func destinations(_ name: String, of sources: [NSManagedObject]?) -> [NSManagedObject] {
        guard let index = tables[name] else { return [] }
        var found: [NSManagedObject] = []
        guard let sources else {
            return all(associations[index].destinations, manager.destinationContext) + associations[index].pending.map(\.destination)
        }
        for source in sources { associations[index].forEachDestination(of: source, in: manager.destinationContext) { found.append($0) } }
        return found.count < 2 ? found : distinct(found)
    }

    func sources(_ name: String, of destinations: [NSManagedObject]?) -> [NSManagedObject] {
        guard let index = tables[name] else { return [] }
        var found: [NSManagedObject] = []
        guard let destinations else {
            return all(associations[index].sources, manager.sourceContext) + associations[index].pending.map(\.source)
        }
        for destination in destinations {
            associations[index].forEachSource(of: destination, in: manager.sourceContext) { found.append($0) }
        }
        return found.count < 2 ? found : distinct(found)
    }

    private func all(_ ids: CompactIDs, _ context: NSManagedObjectContext) -> [NSManagedObject] {
        distinct((0..<ids.count).map { context.object(with: ids[$0]) })
    }

    private func distinct(_ objects: [NSManagedObject]) -> [NSManagedObject] {
        var seen: Set<ObjectIdentifier> = []
        return objects.filter { seen.insert(ObjectIdentifier($0)).inserted }
    }
}
