internal import Foundation
internal import RemoteStore

extension ScriptedBackend {
    struct Record {
        var values: [String: ResourceValue]
        var version: Int64
    }

    /// A change, for the feed.
    struct LoggedChange {
        let entity: String
        let id: ResourceID
        /// The number of the change that has removed the resource; nil if it exists.
        var removal: Int64?
    }

    struct State {
        var records: [String: [ResourceID: Record]] = [:]
        /// The identifiers in the order of insertion, by entity.
        var order: [String: [ResourceID]] = [:]
        var requests: [BackendRequest] = []
        var saves: [[BackendChange]] = []
        var bulkRequests: [BulkRequest] = []
        var behaviour: @Sendable (BackendRequest) -> Behaviour = { _ in .answer }
        var saveBehaviour: @Sendable ([BackendChange]) -> Behaviour = { _ in .answer }
        var outcome: @Sendable (BackendChange) -> BackendOutcome? = { _ in nil }
        var versions = Versions.none
        var principal: String?
        var clock: Int64 = 0
        /// The number of resources after which answers are cut off without indication; nil for none.
        var silentLimit: Int?
        var held: [CheckedContinuation<Void, Never>] = []
        var overtaken: [CheckedContinuation<Void, Never>] = []
        var running = 0
        var mostRunning = 0
        var answeredKeys: [UUID: BackendOutcome] = [:]
        var lastID: Int64 = 1000
        /// The identifiers that are free again, by entity; nil if identifiers are never reused.
        var freeIDs: [String: [ResourceID]]?
        /// The results of requests with pages by cursors.
        var cursors: [[ScriptedResource]] = []
        /// The changes for the feed; nil if there is none.
        var log: [LoggedChange]?
        /// Whether the feed reports the removal of a resource that another one with its identifier has replaced.
        var tellsReplacements = true
        /// The number of changes in an answer of the feed.
        var changePage = Int.max
        /// The tokens before this one have expired.
        var firstToken = 0

        /// Returns an identifier for a new resource.
        mutating func newID(_ entity: String) -> ResourceID {
            while let free = freeIDs?[entity]?.popLast() { if records[entity]?[free] == nil { return free } }
            lastID += 1
            return .integer(lastID)
        }

        mutating func put(_ entity: String, _ id: ResourceID, _ values: [String: ResourceValue]) {
            clock += 1
            if records[entity]?[id] == nil { order[entity, default: []].append(id) }
            records[entity, default: [:]][id] = Record(values: values, version: clock)
            log?.append(LoggedChange(entity: entity, id: id))
        }

        mutating func change(_ entity: String, _ id: ResourceID, _ values: [String: ResourceValue]) {
            guard records[entity]?[id] != nil else { return }
            clock += 1
            records[entity]?[id]?.values.merge(values) { _, new in new }
            records[entity]?[id]?.version = clock
            log?.append(LoggedChange(entity: entity, id: id))
        }

        mutating func remove(_ entity: String, _ id: ResourceID) {
            guard records[entity]?.removeValue(forKey: id) != nil else { return }
            clock += 1
            order[entity]?.removeAll { $0 == id }
            freeIDs?[entity, default: []].append(id)
            log?.append(LoggedChange(entity: entity, id: id, removal: clock))
        }

        func mark(_ number: Int64) -> ResourceVersion? {
            switch versions {
            case .none: nil
            case .numbers: .number(number)
            case .tags: .tag("v\(number)")
            }
        }
    }
}
