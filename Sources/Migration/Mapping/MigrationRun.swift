internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// One migration: the stores, the entity mappings worked out, the associations, and the three passes.
final class MigrationRun {
    unowned let manager: NSMigrationManager
    let source: MigrationSource
    let destination: MigrationDestination
    private(set) var store: NSPersistentStore?
    private(set) var plans: [MappingPlan] = []
    /// The numbers of the entity mappings by name.
    private(set) var tables: [String: Int] = [:]
    var associations: [AssociationTable] = []
    private var journal: MigrationJournal?
    private var sequence = 0
    /// Where an earlier migration was killed.
    private var resumed: MigrationStep?
    /// The number of objects of a batch.
    static let batchSize = 2000
    /// The metadata key for the number of the last record of the journal that the destination contains.
    static let sequenceKey = "OpenCoreDataMigrationSequence"

    init(
        _ manager: NSMigrationManager, from url: URL, type: String, options: [AnyHashable: Any]?, to destination: MigrationDestination
    ) throws {
        self.manager = manager
        self.destination = destination
        source = MigrationSource(url: url, type: type, options: options)
    }

    /// Migrates everything.
    func execute() throws {
        let isMoved = try isMovedAlready()
        if isMoved { return }
        guard !destination.isTaken else {
            throw CoreDataError.make(
                NSMigrationManagerDestinationStoreError, "The store cannot be migrated.",
                reason: "There is a store at \(destination.url.path) already.",
                next: "Choose another place, or destroy the store there.", info: [NSFilePathErrorKey: destination.url.path])
        }
        manager.run = self
        defer { end() }
        try source.open(in: manager.sourceContext)
        let fingerprint = source.fingerprint + "\n" + Self.fingerprint(of: manager, destination)
        do {
            try openDestination(fingerprint)
            try plan()
            try migrate()
        } catch {
            // What a cancelled or killed migration has done is kept.
            if (error as NSError).code != NSMigrationCancelledError { discard() }
            throw error
        }
    }

    // MARK: Stores

    /// Returns whether an earlier migration was killed after the store was moved into place; what it left is removed then.
    private func isMovedAlready() throws -> Bool {
        guard destination.isResumable, destination.isTaken, let contents = MigrationJournal.read(destination.journal),
            contents.records.last?.step.pass == .complete
        else { return false }
        let uuids = [destination.url, destination.unfinished].map { url in
            (try? NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: destination.type, at: url))?[NSStoreUUIDKey] as? String
        }
        guard uuids[0] != nil, uuids[0] == uuids[1] else { return false }
        try destination.removeUnfinished()
        manager.progress.completedUnitCount = manager.progress.totalUnitCount
        return true
    }

    private func openDestination(_ fingerprint: String) throws {
        do {
            if try resume(fingerprint) { return }
            try destination.prepare()
            try openStore()
            if destination.isResumable { journal = try MigrationJournal.create(at: destination.journal, fingerprint: fingerprint) }
        } catch {
            throw MigrationError.wrapped(error, NSMigrationManagerDestinationStoreError, nil, nil, "The new store cannot be written.")
        }
    }

    private func openStore() throws {
        guard let coordinator = manager.destinationContext.persistentStoreCoordinator else { return }
        store = try coordinator.addPersistentStore(
            ofType: destination.type, configurationName: nil, at: destination.unfinished, options: destination.options)
    }

    /// Opens the store of a migration that was killed, if there is one of the same source and mapping.
    private func resume(_ fingerprint: String) throws -> Bool {
        guard destination.isResumable, let contents = MigrationJournal.read(destination.journal), contents.fingerprint == fingerprint else {
            return false
        }
        do { try openStore() } catch {
            Log.store.notice("The unfinished migration at \(destination.folder.path) begins again: \(error.localizedDescription)")
            return false
        }
        var sequence = (store?.metadata?[Self.sequenceKey] as? NSNumber)?.intValue ?? 0
        // The last save removes the number, and gives the store the UUID of the source.
        if sequence == 0, let last = contents.records.last, last.step.pass == .complete, store?.identifier == source.store?.identifier {
            sequence = last.sequence
        }
        guard sequence > 0, let last = contents.records.lastIndex(where: { $0.sequence == sequence }) else {
            try closeStore()
            return false
        }
        self.sequence = sequence
        resumed = contents.records[last].step
        restored = Array(contents.records[...last])
        journal = try MigrationJournal.open(destination.journal, length: contents.ends[last])
        manager.isResuming = true
        return true
    }
    /// The records to restore the associations from, until the plans are made.
    private var restored: [MigrationJournal.Record] = []

    private func closeStore() throws {
        manager.destinationContext.reset()
        guard let store else { return }
        self.store = nil
        try manager.destinationContext.persistentStoreCoordinator?.remove(store)
    }

    private func end() {
        do {
            try journal?.close()
            try closeStore()
            try source.close(in: manager.sourceContext)
        } catch { Log.store.error("A store of the migration could not be closed: \(error)") }
        manager.destinationContext.validatesWhenSaving = true
        manager.isResuming = false
        manager.workingMapping = nil
        journal = nil
        plans = []
        associations = []
        manager.run = nil
    }

    /// Removes the unfinished store after a failure, which would happen again.
    private func discard() {
        do {
            try closeStore()
            try destination.removeUnfinished()
        } catch { Log.store.error("The unfinished store at \(destination.folder.path) could not be removed: \(error)") }
    }

    /// What must be the same for a migration to be resumed, beside the source.
    private static func fingerprint(of manager: NSMigrationManager, _ destination: MigrationDestination) -> String {
        let hashes = manager.destinationModel.entityVersionHashesByName.sorted { $0.key < $1.key }.map {
            "\($0.key) \($0.value.base64EncodedString())"
        }
        let mappings = manager.mappingModel.entityMappings.map { mapping in
            "\(mapping) \(mapping.mappingType.rawValue) \(mapping.sourceExpression?.description ?? "-") "
                + "\(mapping.entityMigrationPolicyClassName ?? "-") "
                + (mapping.propertyMappings.map(\.description)).joined(separator: "; ")
        }
        return ([destination.url.path, destination.type] + hashes + mappings).joined(separator: "\n")
    }

    // MARK: Planning

    private func plan() throws {
        guard let origin = source.store, let store else { return }
        let mappings = manager.mappingModel.entityMappings ?? []
        tables = Dictionary(mappings.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        plans = try mappings.enumerated().map { index, mapping in
            try MappingPlan(
                mapping, index: index, source: manager.sourceEntity(for: mapping), destination: manager.destinationEntity(for: mapping),
                tables: tables)
        }
        associations = plans.map { _ in AssociationTable(source: origin, destination: store) }
        if resumed != nil, let stubborn = plans.first(where: { !$0.isStandard && !$0.policy.canResume }) {
            Log.store.notice("The migration begins again: \(Swift.type(of: stubborn.policy)) cannot resume.")
            try startAgain()
        }
        try restore()
    }

    private func startAgain() throws {
        try journal?.close()
        journal = nil
        let fingerprint = MigrationJournal.read(destination.journal)?.fingerprint ?? ""
        try closeStore()
        (resumed, restored, sequence) = (nil, [], 0)
        manager.isResuming = false
        try destination.prepare()
        try openStore()
        journal = try MigrationJournal.create(at: destination.journal, fingerprint: fingerprint)
        guard let origin = source.store, let store else { return }
        associations = plans.map { _ in AssociationTable(source: origin, destination: store) }
    }

    private func restore() throws {
        let records = restored
        restored = []
        guard let sources = manager.sourceContext.persistentStoreCoordinator,
            let destinations = manager.destinationContext.persistentStoreCoordinator
        else { return }
        for pairs in records.flatMap(\.pairs) where associations.indices.contains(pairs.mapping) {
            switch pairs.ids {
            case .numbers(let source, let destination, let sourceNumbers, let destinationNumbers):
                guard let sourceEntity = sources.managedObjectModel.entitiesByName[source],
                    let destinationEntity = destinations.managedObjectModel.entitiesByName[destination]
                else { continue }
                for (source, destination) in zip(sourceNumbers, destinationNumbers) {
                    associations[pairs.mapping].append(source: source, of: sourceEntity, destination: destination, of: destinationEntity)
                }
            case .uris(let sourceURIs, let destinationURIs):
                for (source, destination) in zip(sourceURIs, destinationURIs) {
                    guard let source = URL(string: source).flatMap({ sources.managedObjectID(forURIRepresentation: $0) }),
                        let destination = URL(string: destination).flatMap({ destinations.managedObjectID(forURIRepresentation: $0) })
                    else { continue }
                    associations[pairs.mapping].append(source, destination)
                }
            }
        }
    }

    func plan(of mapping: NSEntityMapping) -> MappingPlan? {
        if let index = currentIndex, plans[index].mapping === mapping { return plans[index] }
        return tables[mapping.name].map { plans[$0] }
    }
    private var currentIndex: Int?

    // MARK: The passes

    private func migrate() throws {
        manager.destinationContext.validatesWhenSaving = false
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
        try source.close(in: manager.sourceContext)
        try closeStore()
        do { try destination.moveIntoPlace() } catch {
            throw MigrationError.wrapped(
                error, NSMigrationManagerDestinationStoreError, nil, nil, "The new store cannot be moved into place.")
        }
        manager.progress.completedUnitCount = manager.progress.totalUnitCount
    }

    private func hasBegun(_ plan: MappingPlan) -> Bool {
        guard let resumed else { return false }
        return resumed.pass != .instances || plan.index <= resumed.mapping
    }

    private func countWork() throws {
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
    private func work(_ plan: MappingPlan, _ body: () throws -> Void) throws {
        manager.workingMapping = plan.mapping
        currentIndex = plan.index
        do { try body() } catch {
            throw MigrationError.wrapped(
                error, plan.isStandard ? NSMigrationError : NSEntityMigrationPolicyError, plan.mapping, nil, "The store cannot be migrated."
            )
        }
    }

    private func makeInstances(_ plan: MappingPlan) throws {
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
                let range = step.position..<min(step.position + Self.batchSize, objects.count)
                try source.withObjects(objects[range], of: plan, [], in: manager.sourceContext) { batch in
                    try work(plan) {
                        for object in batch {
                            try manager.checkCancellation()
                            try plan.policy.createDestinationInstances(forSource: object, in: plan.mapping, manager: manager)
                        }
                    }
                    step.position = range.upperBound
                    try checkpoint(step)
                }
                refresh(range.count)
            }
        }
        try work(plan) { try plan.policy.endInstanceCreation(forMapping: plan.mapping, manager: manager) }
        step.isEnded = true
        try checkpoint(step)
        refresh(0)
    }

    private func makeRelationships(_ plan: MappingPlan) throws {
        var step = MigrationStep(pass: .relationships, mapping: plan.index, position: 0, isEnded: false)
        if let resumed, resumed.pass == .relationships, resumed.mapping == plan.index {
            if resumed.isEnded { return }
            step = resumed
        }
        // Pairs that are added now have their relationships.
        let count = plan.isStandard && plan.relationships.isEmpty ? 0 : associations[plan.index].count
        while step.position < count {
            let range = step.position..<min(step.position + Self.batchSize, count)
            let (sources, destinations) = (associations[plan.index].sources[range], associations[plan.index].destinations[range])
            try source.withObjects(sources, of: plan, plan.prefetched, in: manager.sourceContext) { sources in
                try Self.withObjects(destinations, in: manager.destinationContext) { destinations in
                    try work(plan) {
                        for (offset, object) in destinations.enumerated() {
                            guard associations[plan.index].isFirst(range.lowerBound + offset) else { continue }
                            try manager.checkCancellation()
                            currentPair = (object, sources[offset])
                            try plan.policy.createRelationships(forDestination: object, in: plan.mapping, manager: manager)
                        }
                        currentPair = nil
                    }
                    step.position = range.upperBound
                    try checkpoint(step)
                }
            }
            refresh(range.count)
        }
        try work(plan) { try plan.policy.endRelationshipCreation(forMapping: plan.mapping, manager: manager) }
        step.isEnded = true
        try checkpoint(step)
        refresh(0)
    }
    /// The destination object whose relationships are being set, and its source.
    private(set) var currentPair: (destination: NSManagedObject, source: NSManagedObject)?

    private func finish() throws {
        for plan in plans {
            try work(plan) {
                try plan.policy.performCustomValidation(forMapping: plan.mapping, manager: manager)
                try plan.policy.end(plan.mapping, manager: manager)
            }
        }
        try checkpoint(MigrationStep(pass: .validation, mapping: plans.count, position: 0, isEnded: true))
        try MigrationValidation(manager).run()
        try manager.checkCancellation()
        if let store { source.copyMetadata(to: store) }
        try checkpoint(MigrationStep(pass: .complete, mapping: plans.count, position: 0, isEnded: true), isLast: true)
    }

    /// Turns what is not held any more into faults, so that objects that refer to each other are released.
    private func refresh(_ count: Int) {
        manager.progress.completedUnitCount = min(manager.progress.totalUnitCount, manager.progress.completedUnitCount + Int64(count))
        manager.sourceContext.refreshAllObjects()
        if destination.savesInParts { manager.destinationContext.refreshAllObjects() }
    }

    // MARK: Saving

    /// Saves what the destination has got, and notes how far the migration is.
    private func checkpoint(_ step: MigrationStep, isLast: Bool = false) throws {
        let context = manager.destinationContext
        do {
            let new = associations.flatMap { $0.pending.map(\.destination) }.filter {
                $0.objectID.isTemporaryID && $0.managedObjectContext != nil
            }
            if !new.isEmpty { try context.obtainPermanentIDs(for: new) }
            var record = MigrationJournal.Record(sequence: sequence + 1, step: step)
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
            try context.save()
        } catch {
            throw MigrationError.wrapped(
                error, NSMigrationManagerDestinationStoreError, manager.workingMapping, nil, "The new store cannot be written.")
        }
    }

    private func pairs(_ index: Int, _ range: Range<Int>) -> MigrationJournal.Pairs {
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

    /// Calls `body` with the objects of a batch, loaded together.
    private static func withObjects(
        _ ids: [NSManagedObjectID], in context: NSManagedObjectContext, _ body: ([NSManagedObject]) throws -> Void
    ) throws {
        let loaded = try MigrationSource.load(ids, [], in: context)
        try withExtendedLifetime(loaded) { try body(ids.map { context.object(with: $0) }) }
    }
}

// MARK: - Associations

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
