public import Foundation
internal import Predicates

/// A stage of a migration: the base class of ``NSLightweightMigrationStage`` and ``NSCustomMigrationStage``.
///
/// Set a stage up before a store is opened with it; the migration then only reads it.
///
/// Source: [NSMigrationStage](https://developer.apple.com/documentation/coredata/nsmigrationstage).
open class NSMigrationStage: NSObject {
    /// The purpose of the stage, in errors and logs.
    open var label: String?

    /// The stage for messages.
    var name: String { label.map { "“\($0)”" } ?? "\(Swift.type(of: self))" }
}

/// A stage of versions that follow each other, each of which can be inferred from the one before.
///
/// Source: [NSLightweightMigrationStage](https://developer.apple.com/documentation/coredata/nslightweightmigrationstage).
open class NSLightweightMigrationStage: NSMigrationStage {
    /// The checksums of the versions, in order. Their models are searched for in the program's bundles.
    public let versionChecksums: [String]

    /// Creates a stage.
    ///
    /// - Parameter versionChecksums: The checksums of the versions, in order.
    public init(_ versionChecksums: [String]) { self.versionChecksums = versionChecksums }
}

/// A stage from one version to the next, before and after which handlers of the program change the objects.
///
/// A handler that was interrupted, as by the end of the process, is called again: it must tolerate that its work is partly done. A handler that has
/// returned is not called again, even if the process ends right after it.
///
/// Source: [NSCustomMigrationStage](https://developer.apple.com/documentation/coredata/nscustommigrationstage).
open class NSCustomMigrationStage: NSMigrationStage {
    /// The version that the stage begins with.
    public let currentModel: NSManagedObjectModelReference
    /// The version that the stage leads to.
    public let nextModel: NSManagedObjectModelReference
    /// Called before the stage runs, with the store open in ``currentModel``: prepare the objects for the next version. Called on the thread that
    /// opens the store. If it throws, opening the store fails with that error.
    open var willMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?
    /// Called after the stage has run, with the store open in ``nextModel``; see ``willMigrateHandler``.
    open var didMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?

    /// Creates a stage.
    public init(migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference) {
        (self.currentModel, self.nextModel) = (currentModel, nextModel)
    }
}
