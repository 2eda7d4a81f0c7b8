internal import Foundation
internal import Logging

extension NSPersistentStoreCoordinator {
    /// Returns the current end of the stores' history.
    ///
    /// - Parameter stores: The stores; nil for all of the coordinator.
    /// - Returns: The token; nil if no store tracks history or the history cannot be read.
    public func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
        let wanted = stores?.compactMap { $0 as? NSPersistentStore } ?? persistentStores
        var positions: [String: HistoryPosition] = [:]
        for store in wanted where store.persistentStoreCoordinator === self {
            do {
                if let position = try (store.interface as? any HistoryStore)?.lastHistoryPosition(), let id = store.identifier {
                    positions[id] = position
                }
            } catch {
                Log.store.error("The history of \(store.identifier ?? "?") cannot be read: \(error)")
                return nil
            }
        }
        return positions.isEmpty ? nil : NSPersistentHistoryToken(positions)
    }
}
