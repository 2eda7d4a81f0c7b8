internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

// The three passes of a migration, in batches.

extension MigrationRun {
    func migrate() throws {
        manager.destinationContext.validatesWhenSaving = false
        validation = MigrationValidation(manager, plans)
        try countWork()
        if manager.isResuming {
            for plan in plans where !plan.isStandard && hasBegun(plan) {
                try work(plan) { try plan.policy.begin(plan.mapping, with: manager) }
                manager.destinationContext.rollback()
            }
        }
        if resumed?.pass ?? .instances == .instances { for plan in plans[(resumed?.mapping ?? 0)...] { try makeInstances(plan) } }
        if resumed?.pass ?? .instances != .validation, resumed?.pass != .complete {
            let first = resumed?.pass == .relationships ? resumed?.mapping ?? 0 : 0
            for plan in plans[first...] { try makeRelationships(plan) }
        }
        if resumed?.pass != .complete { try finish() }
        isComplete = true
        try source.close(in: manager.sourceContext)
        try closeStore()
        do { try destination.moveIntoPlace() } catch {
            throw MigrationError.wrapped(
                error, NSMigrationManagerDestinationStoreError, nil, nil, "The new store cannot be moved into place.")
        }
        manager.progress.completedUnitCount = manager.progress.totalUnitCount
    }

    func hasBegun(_ plan: MappingPlan) -> Bool {
        guard let resumed else { return false }
        return resumed.pass != .instances || plan.index <= resumed.mapping
    }

    func countWork() throws {
        var total = 0
        for plan in plans {
            guard let entity = plan.sourceEntity, plan.mapping.mappingType != .removeEntityMappingType else { continue }
            let request = NSFetchRequest<any NSFetchRequestResult>()
            request.entity = entity
            request.includesSubentities = false
            total += try source.reading { try manager.sourceContext.count(for: request) } * 2
        }
        manager.progress.totalUnitCount = Int64(max(1, total))
        manager.progress.completedUnitCount = 0
    }

    /// Calls the policy of a mapping, whose error is the cause of one of the migration.
    func work(_ plan: MappingPlan, _ body: () throws -> Void) throws {
        manager.workingMapping = plan.mapping
        currentIndex = plan.index
        let context = manager.destinationContext as? MigrationDestinationContext
        if !plan.isStandard, destination.savesInParts { context?.made = made }
        defer { context?.made = nil }
        do {
            try body()
            try made.check()
        } catch {
            throw MigrationError.wrapped(
                error, plan.isStandard ? NSMigrationError : NSEntityMigrationPolicyError, plan.mapping, nil, "The store cannot be migrated."
            )
        }
    }

    func makeInstances(_ plan: MappingPlan) throws {
        var step = MigrationStep(pass: .instances, mapping: plan.index, position: 0, isEnded: false)
        if let resumed, resumed.pass == .instances, resumed.mapping == plan.index {
            if resumed.isEnded { return }
            step = resumed
        } else {
            try work(plan) { try plan.policy.begin(plan.mapping, with: manager) }
        }
        if plan.mapping.mappingType != .removeEntityMappingType || !plan.isStandard {
            let objects = try source.objects(of: plan, manager)
            while step.position < objects.count {
                let range = step.position..<min(step.position + manager.batchSize, objects.count)
                try source.withObjects(objects[range], of: plan, [], in: manager.sourceContext) { batch in
                    let time = BatchTime(manager.batchTime)
                    try work(plan) {
                        for object in batch {
                            if time.isOver(after: step.position - range.lowerBound) { break }
                            try manager.checkCancellation()
                            try plan.policy.createDestinationInstances(forSource: object, in: plan.mapping, manager: manager)
                            step.position += 1
                        }
                    }
                    try checkpoint(step)
                }
                refresh(step.position - range.lowerBound)
            }
        }
        try work(plan) { try plan.policy.endInstanceCreation(forMapping: plan.mapping, manager: manager) }
        step.isEnded = true
        try checkpoint(step)
        refresh(0)
    }

    func makeRelationships(_ plan: MappingPlan) throws {
        var step = MigrationStep(pass: .relationships, mapping: plan.index, position: 0, isEnded: false)
        if let resumed, resumed.pass == .relationships, resumed.mapping == plan.index {
            if resumed.isEnded { return }
            step = resumed
        }
        // Pairs that are added now have their relationships.
        let count = plan.needsSecondPass ? associations[plan.index].count : 0
        while step.position < count {
            let range = step.position..<min(step.position + manager.batchSize, count)
            let (sources, destinations) = (associations[plan.index].sources[range], associations[plan.index].destinations[range])
            try source.withObjects(sources, of: plan, plan.prefetched, in: manager.sourceContext) { sources in
                try Self.withObjects(destinations, in: manager.destinationContext) { destinations in
                    let time = BatchTime(manager.batchTime)
                    try work(plan) {
                        for (offset, object) in destinations.enumerated() {
                            if time.isOver(after: offset) { break }
                            step.position = range.lowerBound + offset + 1
                            guard associations[plan.index].isFirst(range.lowerBound + offset) else { continue }
                            try manager.checkCancellation()
                            currentPair = (object, sources[offset])
                            try plan.policy.createRelationships(forDestination: object, in: plan.mapping, manager: manager)
                        }
                        currentPair = nil
                    }
                    try checkpoint(step)
                }
            }
            refresh(step.position - range.lowerBound)
        }
        try work(plan) { try plan.policy.endRelationshipCreation(forMapping: plan.mapping, manager: manager) }
        step.isEnded = true
        try checkpoint(step)
        refresh(0)
    }

    func finish() throws {
        for plan in plans {
            try work(plan) {
                try plan.policy.performCustomValidation(forMapping: plan.mapping, manager: manager)
                try plan.policy.end(plan.mapping, manager: manager)
            }
        }
        // Objects that a policy has changed now are validated again.
        let isGoingOn = resumed?.pass == .validation && resumed?.isEnded == false && !manager.destinationContext.hasChanges
        let start = isGoingOn ? (entity: resumed?.mapping ?? 0, position: resumed?.position ?? 0) : (0, 0)
        if !isGoingOn { try checkpoint(MigrationStep(pass: .validation, mapping: plans.count, position: 0, isEnded: true)) }
        let validation = validation
        try validation.run(from: start) { entity, position in
            try checkpoint(MigrationStep(pass: .validation, mapping: entity, position: position, isEnded: false))
        }
        try manager.checkCancellation()
        if let store { source.copyMetadata(to: store, withUUID: destination.hasFiles) }
        try checkpoint(MigrationStep(pass: .complete, mapping: plans.count, position: 0, isEnded: true), isLast: true)
    }

    /// Turns objects that are no longer held into faults, so that objects that refer to each other are released.
    func refresh(_ count: Int) {
        manager.progress.completedUnitCount = min(manager.progress.totalUnitCount, manager.progress.completedUnitCount + Int64(count))
        manager.sourceContext.refreshAllObjects()
        guard destination.savesInParts else { return }
        let context = manager.destinationContext
        if made.isHolding {
            for object in context.registeredObjects where !made.holds(object) { context.refresh(object, mergeChanges: object.hasChanges) }
        } else {
            context.refreshAllObjects()
        }
    }

    /// Calls `body` with the objects of a batch, loaded together.
    private static func withObjects(
        _ ids: [NSManagedObjectID], in context: NSManagedObjectContext, _ body: ([NSManagedObject]) throws -> Void
    ) throws {
        let loaded = try MigrationSource.load(ids, [], in: context)
        try withExtendedLifetime(loaded) { try body(ids.map { context.object(with: $0) }) }
    }
}

/// The time limit of a batch: a process that is killed loses its unsaved work, however slow a policy or the computer is.
private struct BatchTime {
    private let end: UInt64

    // Bounded: the time of a batch is a constant.
    init(_ seconds: TimeInterval) { end = DispatchTime.now().uptimeNanoseconds + UInt64(seconds * 1e9) }

    /// Returns whether the batch is to end after so many objects; it has one at least.
    func isOver(after count: Int) -> Bool { count > 0 && count % 16 == 0 && DispatchTime.now().uptimeNanoseconds > end }
}

extension MigrationRun {
    // MARK: Saving

    /// Saves the changes of the destination, and records the progress of the migration.
    func checkpoint(_ step: MigrationStep, isLast: Bool = false) throws {
        let context = manager.destinationContext
        do {
            let new = associations.flatMap { $0.pending.map(\.destination) }.filter {
                $0.objectID.isTemporaryID && $0.managedObjectContext != nil
            }
            if !new.isEmpty { try context.obtainPermanentIDs(for: new) }
            try validation.note(associations.flatMap(\.pending).map(\.destination), context)
            var record = MigrationJournal.Record(sequence: sequence + 1, step: step)
            record.ownObjects = plans.indices.filter { plans[$0].hasOwnObjects }
            for index in associations.indices where !associations[index].pending.isEmpty {
                let range = associations[index].settle()
                if journal != nil, !range.isEmpty { record.pairs.append(pairs(index, range)) }
            }
            guard destination.savesInParts || isLast else { return }
            if journal != nil, let store {
                sequence += 1
                try journal?.append(record)
                var metadata = store.metadata ?? [:]
                metadata[Self.sequenceKey] = isLast ? nil : NSNumber(value: sequence)
                if isLast { try journal?.synchronize() }
                context.persistentStoreCoordinator?.setMetadata(metadata, for: store)
            }
            // No policy looks for the objects of a mapping with the standard policy.
            let isOfPolicy = currentIndex.map { !plans[$0].isStandard } ?? false
            made.note(inserted: isOfPolicy ? context.insertedObjects : [], deleted: context.deletedObjects)
            try context.save()
        } catch {
            throw MigrationError.wrapped(
                error, NSMigrationManagerDestinationStoreError, manager.workingMapping, nil, "The new store cannot be written.")
        }
    }

    func pairs(_ index: Int, _ range: Range<Int>) -> MigrationJournal.Pairs {
        let table = associations[index]
        if table.sources.ids == nil, table.destinations.ids == nil, let source = table.sources.entity?.name,
            let destination = table.destinations.entity?.name
        {
            return .init(
                mapping: index,
                ids: .numbers(
                    source: source, destination: destination, Array(table.sources.numbers[range]), Array(table.destinations.numbers[range]))
            )
        }
        func uris(_ ids: CompactIDs) -> [String] { ids[range].map { $0.uriRepresentation().absoluteString } }
        return .init(mapping: index, ids: .uris(uris(table.sources), uris(table.destinations)))
    }
}
