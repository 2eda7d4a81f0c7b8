import CoreData

public func isKept(_ request: NSPersistentStoreRequest) -> Bool {
    request as? NSFetchRequest<NSFetchRequestResult> != nil
}
