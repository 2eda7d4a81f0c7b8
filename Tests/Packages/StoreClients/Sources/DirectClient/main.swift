import CoreData

print(NSPersistentStoreCoordinator.registeredStoreTypes.keys.sorted())
