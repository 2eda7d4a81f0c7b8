import CoreData
import Foundation
import RemoteStore

/// The way to the server and back.
extension ToDoStore {
    /// Sends what was changed here, and takes over what others have changed.
    ///
    /// - Returns: The number of changes that the server does not have: those that it has refused.
    /// - Throws: The error of a server that cannot be reached. Nothing is lost then: what was changed waits in the file.
    @discardableResult public func sync() async throws -> Int {
        try await store.sendPending()
        guard let coordinator = context.persistentStoreCoordinator else { return 0 }
        // The feed of changes has no beginning. What was there before it is read once; from then on the file has everything.
        let changes = try await coordinator.mergeRemoteChanges(of: store, into: [context])
        if changes.isWhole {
            for entity in ["List", "Item"] { try await store.pull(NSFetchRequest<NSManagedObject>(entityName: entity), in: context) }
        }
        return try store.pendingCount()
    }

    /// Returns what the server does not have yet, as lines: what was done to what, and what is to be said of its way.
    public func waiting() async throws -> [String] {
        try await context.perform {
            try store.pendingChanges().map { change in
                // What is deleted here has no title any more.
                let object = change.kind == .delete ? nil : context.object(with: change.objectID)
                let name = object.map { "“\(text($0, change.entity == "List" ? "name" : "title"))”" } ?? "a deleted one"
                let properties = change.properties.isEmpty ? "" : " (\(change.properties.sorted().joined(separator: ", ")))"
                return "\(change.kind) \(change.entity) \(name)\(properties)\(note(change.state, change.error))"
            }
        }
    }

    /// What is to be said of an object's way to the server: nothing where it is there.
    func note(of object: NSManagedObject) throws -> String {
        note(try store.syncState(of: object.objectID), try store.error(of: object.objectID))
    }

    private func note(_ state: SyncState, _ error: NSError?) -> String {
        switch state {
        case .fresh, .stale: ""
        case .pending: " – waits for the server"
        case .sending: " – on its way"
        case .failed: " – refused: \(error?.localizedDescription ?? "")"
        case .conflicting: " – others have changed it, too"
        case .unknown: " – sent, and not answered"
        }
    }
}
