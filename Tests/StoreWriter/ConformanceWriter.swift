import CoreData
import StoreConformance

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Saves to a store in a folder until it is killed, as the kit wants it.
func saveForTheKit(_ name: String, in folder: String) throws {
    let types = ["SQLite": (NSSQLiteStoreType, "Store.sqlite"), "XML": (NSXMLStoreType, "Store"), "Binary": (NSBinaryStoreType, "Store")]
    guard let (type, file) = types[name] else { exit(2) }
    let store = StoreUnderTest(name: type, capabilities: .everything) { place in
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: ConformanceModel.make())
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: place.directory.appendingPathComponent(file))
        return coordinator
    }
    try ConformanceChild.saveUntilKilled(to: store, in: URL(fileURLWithPath: folder))
}
