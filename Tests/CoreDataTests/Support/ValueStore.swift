import CoreData
import Foundation
import Synchronization

@testable import ModelFiles
@_spi(Stores) @testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// A store over rows in a dictionary, written against the store interface. It writes down what it is asked.
// `state` is guarded by its mutex.
final class ValueStore: NSPersistentStore, StoreInterface, @unchecked Sendable {
    static let typeName = "ValueStore"

    struct State {
        var rows: [NSManagedObjectID: Row] = [:]
        var order: [NSManagedObjectID] = []
        var lists: [NSManagedObjectID: [String: [NSManagedObjectID]]] = [:]
        var lastKey: Int64 = 0
        var calls: [String] = []
        /// Properties that rows leave unknown unless they are asked for, by name.
        var lazyProperties: Set<String> = []
        /// Entities whose changes are refused.
        var refused: Set<String> = []
        var savesAtomically = true
        /// Saves that only inserted are complete here.
        var transactions: [HistoryRecord] = []
        /// The options of the last query.
        var options = StoreRequestOptions()
    }
    let state = Mutex(State())

    var savesAtomically: Bool { state.withLock { $0.savesAtomically } }

    override func loadMetadata() throws {
        metadata = [NSStoreUUIDKey: UUID().uuidString, NSStoreTypeKey: Self.typeName]
    }

    /// A row as the store gives it: lazy properties are unknown.
    private func given(_ row: Row, knowing known: [NSPropertyDescription] = []) -> Row {
        let lazy = state.withLock { $0.lazyProperties }.subtracting(known.map(\.name))
        let entity = row.objectID!.entity
        if lazy.isDisjoint(with: entity.attributesByName.keys) { return row }
        let copy = row.copy()
        for name in lazy { if let attribute = entity.attributesByName[name] { copy.setUnknown(attribute) } }
        return copy
    }

    func answer(_ query: StoreQuery, for caller: StoreCaller) throws -> StoreAnswer {
        let rows = state.withLock { state in
            state.calls.append("fetch \(query.entity)")
            state.options = query.options
            return state.order.compactMap { state.rows[$0] }.filter { $0.objectID!.entity.isKindOf(entity: query.entity) }
        }
        if query.resultType == .countResultType { return .count(rows.count) }
        return .rows(RowList(query.page(rows).map { given($0) }))
    }

    func rows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] {
        state.withLock { state in
            state.calls.append("rows \(ids.count)")
            return ids.compactMap { state.rows[$0] }
        }.map { given($0) }
    }

    func values(of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] {
        state.withLock { state in
            state.calls.append("values \(properties.map(\.name).joined(separator: ",")) \(ids.count)")
            return ids.compactMap { state.rows[$0] }
        }.map { given($0, knowing: properties) }
    }

    func related(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        state.withLock { state in
            state.calls.append("related \(relationship) \(ids.count)")
            let inverse = relationship.inverseRelationship
            return Dictionary(
                uniqueKeysWithValues: ids.map { id in
                    if let inverse, !inverse.isToMany {
                        let found = state.order.filter { other in
                            other.entity.isKindOf(entity: inverse.entity!) && state.rows[other]?.relatedIDs(inverse) == [id]
                        }
                        return (id, found)
                    }
                    return (id, state.lists[id]?[relationship.name] ?? [])
                })
        }
    }

    func permanentIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID] {
        state.withLock { state in
            new.map { object in
                state.lastKey += 1
                return objectID(for: object.entity, state.lastKey)
            }
        }
    }

    func save(_ changes: StoreChangeSet, for caller: StoreCaller) throws -> SaveOutcome {
        try state.withLock { state in
            state.calls.append(
                "save \(caller.author ?? "nobody"): +\(changes.inserted.count) ~\(changes.updated.count) -\(changes.deleted.count)")
            var outcomes: [NSManagedObjectID: IncompleteSave.Outcome] = [:]
            var isWhole = true
            func accepts(_ change: StoreChange) -> Bool {
                guard state.refused.contains(change.entity.name!) else {
                    outcomes[change.objectID] = .accepted
                    return true
                }
                isWhole = false
                outcomes[change.objectID] = .refused(NSError(domain: "ValueStore", code: 7))
                return false
            }
            for change in changes.inserted + changes.updated + changes.locked where accepts(change) {
                if state.rows.updateValue(change.row!, forKey: change.objectID) == nil { state.order.append(change.objectID) }
                for list in change.lists {
                    var members = state.lists[change.objectID]?[list.name] ?? []
                    members = list.members ?? members.filter { !list.removed.contains($0) } + list.added.filter { !members.contains($0) }
                    state.lists[change.objectID, default: [:]][list.name] = members
                }
            }
            for change in changes.deleted where accepts(change) {
                state.rows[change.objectID] = nil
                state.order.removeAll { $0 == change.objectID }
            }
            if !isWhole { throw IncompleteSave(outcomes) }
            state.transactions.append(
                HistoryRecord(
                    number: Int64(state.transactions.count + 1), storeID: identifier, timestamp: Date(), author: caller.author,
                    contextName: caller.name, bundleID: nil, processID: nil,
                    changes: changes.inserted.enumerated().map { index, change in
                        HistoryRecord.Change(number: Int64(index + 1), objectID: change.objectID, type: .insert)
                    }))
            return SaveOutcome()
        }
    }

    /// What was asked since the last call.
    func takeCalls() -> [String] {
        state.withLock { state in
            defer { state.calls = [] }
            return state.calls
        }
    }

    /// A context of a coordinator with a store of its own.
    static func make() throws -> (NSManagedObjectContext, ValueStore) {
        NSPersistentStoreCoordinator.registerStoreClass(ValueStore.self, forStoreType: typeName)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        let store = try coordinator.addPersistentStore(ofType: typeName, configurationName: nil, at: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return (context, store as! ValueStore)
    }
}

extension ValueStore: HistoryStore {
    var keepsHistory: Bool { true }

    func lastHistoryNumber() throws -> Int64? { state.withLock { $0.transactions.last?.number ?? 0 } }

    func history(_ query: HistoryQuery) throws -> [HistoryRecord] {
        state.withLock { $0.transactions }.filter { record in
            switch query.boundary {
            case .beginning: true
            case .date(let date): record.timestamp > date
            case .transaction(let number): record.number > number
            case .position(let position): record.number > position.number
            }
        }
    }

    func deleteHistory(before boundary: HistoryQuery.Boundary) throws -> Int {
        state.withLock { state in
            let count = state.transactions.count
            if case .transaction(let number) = boundary { state.transactions.removeAll { $0.number < number } }
            return count - state.transactions.count
        }
    }
}
