import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport

/// A client with a bug that others have shipped: the connection does what a client without the rule would.
struct PlantedBug: Backend {
    enum Kind: String, CaseIterable {
        /// What is sent again has another key, so that the server does it again.
        case doubleReplay
        /// An outcome that has not come is taken as success.
        case missingOutcomeIsSuccess
        /// A change whose answer was lost is taken as saved.
        case lostAnswerIsSuccess
        /// A change that the server refuses as conflicting is taken as saved.
        case conflictIsSuccess
    }

    let kind: Kind
    let connection: SimulatedConnection
    /// Decides about identifiers that are made up.
    let random: Guarded<SeededGenerator>

    var location: URL { connection.location }
    var resources: [Resource] { connection.resources }
    var hasChangeFeed: Bool { connection.hasChangeFeed }
    func changes(_ request: ChangesRequest) async throws -> BackendChanges { try await connection.changes(request) }
    func answer(_ request: BackendRequest) async throws -> BackendAnswer { try await connection.answer(request) }

    func save(_ changes: [BackendChange]) async throws -> [BackendChange.Key: BackendOutcome] {
        var sent = changes
        if kind == .doubleReplay {
            sent = changes.map { change in
                BackendChange(
                    change.kind, change.entity, id: change.id, change.values, changedProperties: change.changedProperties,
                    lists: change.lists, version: change.version, key: change.key)
            }
        }
        var outcomes: [BackendChange.Key: BackendOutcome] = [:]
        do { outcomes = try await connection.save(sent) } catch {
            guard kind == .lostAnswerIsSuccess, error is UnknownOutcome else { throw error }
        }
        for change in changes {
            let isSettled: Bool
            switch outcomes[change.key] {
            case nil: isSettled = kind != .missingOutcomeIsSuccess && kind != .lostAnswerIsSuccess
            case .conflict?: isSettled = kind != .conflictIsSuccess
            default: isSettled = true
            }
            // An assigned identifier that has not come is made up.
            if isSettled { continue }
            let id = random.withValue { Int64.random(in: 1_000_000...2_000_000, using: &$0) }
            outcomes[change.key] = .saved(id: change.kind == .insert ? .integer(id) : nil)
        }
        return outcomes
    }
}
