internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// One migration: the stores, the resolved entity mappings, the associations, and the three passes.
final class MigrationRun {
    unowned let manager: NSMigrationManager
    let source: MigrationSource
    let destination: MigrationDestination
    var store: NSPersistentStore?
    var plans: [MappingPlan] = []
    /// The numbers of the entity mappings by name.
    var tables: [String: Int] = [:]
    var associations: [AssociationTable] = []
    var journal: MigrationJournal?
    /// The contents of an earlier migration's journal.
    lazy var kept = MigrationJournal.read(destination.journal)
    var sequence = 0
    /// The validation, and its schedule.
    lazy var validation = MigrationValidation(manager, plans)
    /// The objects that policies have made and look for.
    private(set) lazy var made = PolicyObjects(self)
    /// Whether the destination has everything.
    var isComplete = false
    /// The step at which an earlier migration was killed.
    var resumed: MigrationStep?
    /// The destination object whose relationships are being set, and its source.
    var currentPair: (destination: NSManagedObject, source: NSManagedObject)?
    /// The records to restore the associations from, until the plans are made.
    var restored: [MigrationJournal.Record] = []
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
            // The work of a cancelled migration is kept, and so is a complete store that could not be moved.
            if (error as NSError).code != NSMigrationCancelledError, !(isComplete && destination.isResumable) { discard() }
            throw error
        }
    }

    // MARK: Stores

    func closeStore() throws {
        manager.destinationContext.reset()
        guard let store else { return }
        self.store = nil
        try manager.destinationContext.persistentStoreCoordinator?.remove(store)
    }

    func end() {
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
    func discard() {
        do {
            try closeStore()
            try destination.removeUnfinished()
        } catch { Log.store.error("The unfinished store at \(destination.folder.path) could not be removed: \(error)") }
    }

    /// Returns the conditions that must be the same for a migration to be resumed, apart from the source.
    static func fingerprint(of manager: NSMigrationManager, _ destination: MigrationDestination) -> String {
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

    func plan() throws {
        guard let origin = source.store, let store else { return }
        let mappings = manager.mappingModel.entityMappings ?? []
        tables = Dictionary(mappings.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        plans = try mappings.enumerated().map { index, mapping in
            try MappingPlan(
                mapping, index: index, source: manager.sourceEntity(for: mapping), destination: manager.destinationEntity(for: mapping),
                tables: tables)
        }
        for plan in plans { plan.setAtOnce() }
        for plan in plans { plan.leaveToInverses(plans) }
        associations = plans.map { _ in AssociationTable(source: origin, destination: store) }
        if resumed != nil, let stubborn = plans.first(where: { !$0.isStandard && !$0.policy.canResume }) {
            Log.store.notice("The migration begins again: \(Swift.type(of: stubborn.policy)) cannot resume.")
            try startAgain()
        }
        try restore()
    }

    func plan(of mapping: NSEntityMapping) -> MappingPlan? {
        if let index = currentIndex, plans[index].mapping === mapping { return plans[index] }
        return tables[mapping.name].map { plans[$0] }
    }
    var currentIndex: Int?
}
