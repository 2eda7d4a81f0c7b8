internal import ArchiveStores
internal import Migration
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import SQLiteStore

// Swift runs nothing when a program starts: a constructor in C (CoreDataRegistration) hands this function over, and the first question for the
// classes of stores calls it.

/// Registers the stores that ship beside the object graph.
@_cdecl("coredata_register_what_ships")
func registerWhatShips() {
    NSPersistentStoreCoordinator.registerShippedStoreClass(SQLiteStore.self, forStoreType: NSSQLiteStoreType)
    NSPersistentStoreCoordinator.registerShippedStoreClass(ExistingSQLiteStore.self, forStoreType: ExistingSQLiteStoreType)
    NSPersistentStoreCoordinator.registerStoreMigrator(AutomaticMigrator())
    MigrationClasses.manager.set(NSMigrationManager.self)
    NSPersistentStoreCoordinator.registerShippedStoreClass(XMLStore.self, forStoreType: NSXMLStoreType)
    NSPersistentStoreCoordinator.registerShippedStoreClass(BinaryStore.self, forStoreType: NSBinaryStoreType)
}
