public import Foundation
public import ObjectGraph
internal import Platform
internal import Predicates
internal import Synchronization

/// Migrates a store to another version of its model, by a mapping model.
///
/// The manager opens the source store read-only, fills a new store in batches, and moves it into place when it is complete and synced: until then,
/// only the source exists. Memory does not grow with the number of objects beyond the pairs of their numbers, 16 bytes each. A killed migration into
/// a SQLite store is resumed by the next call with equal arguments and an unchanged source; see ``NSEntityMigrationPolicy/canResume``.
///
/// Use a manager on one thread at a time; ``cancelMigrationWithError(_:)``, ``migrationProgress`` and ``progress`` may be used on any thread.
///
/// Source: [NSMigrationManager](https://developer.apple.com/documentation/coredata/nsmigrationmanager).
open class NSMigrationManager: NSObject {
    /// The model of the source store.
    public let sourceModel: NSManagedObjectModel
    /// The model of the destination store.
    public let destinationModel: NSManagedObjectModel
    /// The context of the source objects. Its entities are copies of those of ``sourceModel`` whose objects are of `NSManagedObject`.
    public let sourceContext: NSManagedObjectContext
    /// The context of the destination objects. Its entities are copies of those of ``destinationModel`` whose objects are of `NSManagedObject`.
    public let destinationContext: NSManagedObjectContext

    /// The mapping model of the migration; empty before the first one.
    open var mappingModel: NSMappingModel { currentMappingModel }
    final var currentMappingModel = NSMappingModel()

    /// The current entity mapping; a nameless one if there is none.
    open var currentEntityMapping: NSEntityMapping { workingMapping ?? NSEntityMapping() }
    final var workingMapping: NSEntityMapping?

    /// How much of the migration is done, from 0 to 1. Key-value observing does not exist: observe ``progress``.
    open var migrationProgress: Float { Float(progress.fractionCompleted) }
    /// The progress of the migration. Cancelling it cancels the migration.
    public let progress = Progress(totalUnitCount: 1)

    /// Information of the program, for policies. `$manager.userInfo` in value expressions.
    open var userInfo: [AnyHashable: Any]?

    /// Whether the manager lets another one migrate if the class of the source store has one of its own, `NSPersistentStore.migrationManagerClass()`.
    /// The default is true.
    open var usesStoreSpecificMigrationManager = true

    /// Whether the migration continues where an earlier one was killed.
    public package(set) final var isResuming = false

    final var run: MigrationRun?
    /// The number of objects of a batch, which are saved together.
    final var batchSize = 2000
    /// How many objects are held for policies that look for them among registered objects.
    final var heldLimit = 100_000
    /// After how many seconds a batch ends in any case.
    final var batchTime: TimeInterval = 0.5
    private let isCancelled = Atomic<Bool>(false)
    private let cancellation = LockedBox<(any Error)?>(nil)

    /// Creates a manager for stores of two models.
    ///
    /// Models with errors stop the program with a message, as in a coordinator.
    public required init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
        (self.sourceModel, self.destinationModel) = (sourceModel, destinationModel)
        // Confined: policies use both contexts on the thread that migrates.
        let confined = NSManagedObjectContextConcurrencyType(rawValue: 0).known("confinement is a type of context")
        sourceContext = NSManagedObjectContext(concurrencyType: confined)
        destinationContext = MigrationDestinationContext(concurrencyType: confined)
        Self.prepare(sourceContext, for: sourceModel, "migration source")
        Self.prepare(destinationContext, for: destinationModel, "migration destination")
        super.init()
    }

    /// Gives a context plain objects of a model: a program has the classes of one version only.
    private static func prepare(_ context: NSManagedObjectContext, for model: NSManagedObjectModel, _ name: String) {
        let plain = model.copy() as! NSManagedObjectModel
        for entity in plain.entities { entity.managedObjectClassName = "NSManagedObject" }
        // Bounded: a program has chosen the models, and Apple's initializer takes them without an error.
        context.persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: plain)
        context.name = name
        context.undoManager = nil
    }

    // MARK: Migrating

    /// Migrates a store by a mapping model.
    ///
    /// - Parameters:
    ///   - sourceURL: The place of the source store, which is not changed.
    ///   - sStoreType: The type of the source store.
    ///   - sOptions: The options to open the source store with.
    ///   - mappings: The mapping model.
    ///   - dURL: The place of the new store, where no store may exist.
    ///   - dStoreType: The type of the new store, which may differ from that of the source.
    ///   - dOptions: The options to open the new store with.
    /// - Throws: Code 134140 without a mapping model, 134110 if it does not fit the models or an object cannot be migrated, 134150 if the source
    ///   store cannot be read, 134160 if the new one cannot be written, 134111 for values that must be unique and are not, 134170 for the error of a
    ///   policy, 134120 if the migration was cancelled. There is no store at the new place then.
    open func migrateStore(
        from sourceURL: URL, sourceType sStoreType: String, options sOptions: [AnyHashable: Any]? = nil, with mappings: NSMappingModel?,
        toDestinationURL dURL: URL, destinationType dStoreType: String, destinationOptions dOptions: [AnyHashable: Any]? = nil
    ) throws {
        guard let mappings else {
            throw CoreDataError.make(
                NSMigrationMissingMappingModelError, "The store at \(sourceURL.path) cannot be migrated.",
                reason: "There is no mapping model.",
                next: "Infer one with NSMappingModel.inferredMappingModel(forSourceModel:destinationModel:), or find one in the bundles.")
        }
        if let other = storeSpecificManager(for: sStoreType) {
            progress.addChild(other.progress, withPendingUnitCount: 1)
            return try other.migrateStore(
                from: sourceURL, sourceType: sStoreType, options: sOptions, with: mappings, toDestinationURL: dURL,
                destinationType: dStoreType,
                destinationOptions: dOptions)
        }
        isCancelled.store(false, ordering: .relaxed)
        cancellation.set(nil)
        currentMappingModel = mappings.resolved(from: sourceModel, to: destinationModel)
        try MappingCheck(currentMappingModel, from: sourceModel, to: destinationModel).run()
        let run = try MigrationRun(
            self, from: sourceURL, type: sStoreType, options: sOptions,
            to: MigrationDestination(url: dURL, type: dStoreType, options: dOptions))
        try run.execute()
    }

    /// Migrates a store by a mapping model; see
    /// ``migrateStore(from:sourceType:options:with:toDestinationURL:destinationType:destinationOptions:)``.
    public func migrateStore(
        from sourceURL: URL, type sourceType: NSPersistentStore.StoreType, options sourceOptions: [AnyHashable: Any]? = nil,
        mapping: NSMappingModel, to destinationURL: URL, type destinationType: NSPersistentStore.StoreType,
        options destinationOptions: [AnyHashable: Any]? = nil
    ) throws {
        try migrateStore(
            from: sourceURL, sourceType: sourceType.rawValue, options: sourceOptions, with: mapping, toDestinationURL: destinationURL,
            destinationType: destinationType.rawValue, destinationOptions: destinationOptions)
    }

    private func storeSpecificManager(for type: String) -> NSMigrationManager? {
        guard usesStoreSpecificMigrationManager, let storeClass = NSPersistentStoreCoordinator.registeredStoreTypes[type],
            let managerClass = storeClass.migrationManagerClass() as? NSMigrationManager.Type, managerClass != NSMigrationManager.self,
            managerClass != Swift.type(of: self)
        else { return nil }
        let other = managerClass.init(sourceModel: sourceModel, destinationModel: destinationModel)
        other.usesStoreSpecificMigrationManager = false
        other.userInfo = userInfo
        return other
    }

    /// Forgets the associations and the progress of the last migration.
    open func reset() {
        run?.forgetAssociations()
        workingMapping = nil
        progress.completedUnitCount = 0
        isCancelled.store(false, ordering: .relaxed)
        cancellation.set(nil)
    }

    /// Cancels the migration: it ends with code 134120, which has `error` as its cause. Call it on any thread.
    open func cancelMigrationWithError(_ error: any Error) {
        cancellation.set(error)
        isCancelled.store(true, ordering: .releasing)
    }

    /// Throws if the migration is cancelled.
    final func checkCancellation() throws {
        guard isCancelled.load(ordering: .acquiring) || progress.isCancelled else { return }
        throw CoreDataError.make(
            NSMigrationCancelledError, "The migration was cancelled.", next: "Migrate again; what is done already need not be done again.",
            cause: cancellation.withLock { $0 })
    }

    // MARK: Expressions

    /// Answers a function of the manager that value expressions call, `FUNCTION($manager, "name:", …)`, in addition to the built-in ones.
    ///
    /// - Returns: The value; nil for a name that it does not know, which is reported as an error.
    open func function(named name: String, arguments: [Any?]) throws -> MigrationFunctionValue? { nil }
}
