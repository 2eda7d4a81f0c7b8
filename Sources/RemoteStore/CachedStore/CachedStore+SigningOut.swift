internal import Foundation
internal import ObjectGraph

extension CachedStore {
    /// The treatment of pending changes when a user signs out.
    public enum PendingAtSignOut: Sendable {
        /// Pending changes are an error, so that the application can ask the user.
        case refuse
        /// Pending changes are sent first; those that cannot be sent are an error.
        case send
        /// Pending changes are dropped.
        case discard
        /// Pending changes stay in the file, with everything else, until the user signs in again: see ``CachedStoreOptions/user``.
        case keep
    }

    /// Ends the work for a user: sending stops, and the content of the cache is removed, unless it is kept.
    ///
    /// Call it on any thread; then remove the store from its coordinator.
    ///
    /// - Parameter pending: The treatment of changes that the backend does not have yet.
    /// - Throws: Code 134030 with the number of pending changes, if these are an error: nothing has changed then; the errors of the file.
    public func signOut(pending: PendingAtSignOut = .refuse) async throws {
        if pending == .send { try await sendPending() }
        if pending == .send || pending == .refuse {
            let count = try pendingCount() + strandedChanges().count
            if count > 0 {
                throw CoreDataError.make(
                    NSPersistentStoreSaveError, "\(count) changes are not saved yet.",
                    reason: pending == .send
                        ? "The backend could not be reached, or does not take the credentials, or has refused them."
                        : "They were not sent.",
                    next: "Ask whether they are sent first, kept until the next time, or given up.")
            }
        }
        sender.close()
        if pending != .keep { try wipe() }
    }
}
