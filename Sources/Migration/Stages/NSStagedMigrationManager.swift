public import Foundation
public import ObjectGraph
internal import Platform
internal import Predicates

/// The stages that migrate a store from older versions of a model to the current one.
///
/// ```swift
/// let split = NSCustomMigrationStage(
///     migratingFrom: NSManagedObjectModelReference(name: "People", in: .main, versionChecksum: "…"),
///     to: NSManagedObjectModelReference(name: "People 2", in: .main, versionChecksum: "…"))
/// split.didMigrateHandler = { manager, stage in
///     guard let container = manager.container else { return }
///     …
/// }
/// description.setOption(NSStagedMigrationManager([split]), forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
/// ```
///
/// One manager migrates one store at a time.
///
/// Source: [NSStagedMigrationManager](https://developer.apple.com/documentation/coredata/nsstagedmigrationmanager).
// The stage and the container are in a `LockedBox`.
open class NSStagedMigrationManager: NSObject {
    /// The stages, in order.
    public let stages: [NSMigrationStage]
    private let state = LockedBox<(stage: NSMigrationStage?, container: NSPersistentContainer?)>((nil, nil))

    /// Creates a manager.
    ///
    /// - Parameter stages: The stages in the order of the versions.
    public init(_ stages: [NSMigrationStage]) { self.stages = stages }

    /// The stage that is running; nil while none is.
    open var currentStage: NSMigrationStage? { state.withLock { $0.stage } }

    /// A container whose only store is the one being migrated, open in the version of the running handler; nil while no handler runs.
    open var container: NSPersistentContainer? { state.withLock { $0.container } }

    /// Runs `body` as a stage.
    func running<Result>(_ stage: NSMigrationStage?, _ body: () throws -> Result) rethrows -> Result {
        state.set((stage, nil))
        defer { state.set((nil, nil)) }
        return try body()
    }

    /// Runs `body` with a container.
    func with<Result>(_ container: NSPersistentContainer, _ body: () throws -> Result) rethrows -> Result {
        let stage = currentStage
        state.set((stage, container))
        defer { state.set((stage, nil)) }
        return try body()
    }
}
