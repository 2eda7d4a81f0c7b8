@_spi(Stores) import CoreData
import Foundation
import Predicates
import RandomPrograms
import Synchronization

/// A store that loads asynchronously, as one over a network: a server in memory that takes its time, and notes what it is asked.
///
/// Rows hold no to-many relationships. The server can be told to hold its answers back, to fail, and to accept a part of a save only.
// `server` has its lock; the evaluator is used under `evaluation`.
final class ServerStore: NSPersistentStore, AsynchronousStore, RowSource, @unchecked Sendable {
    static let typeName = "ServerStore"

    /// What the server has, and what it is told by a test.
    struct Server {
        var rows: [NSManagedObjectID: Row] = [:]
        var order: [NSManagedObjectID] = []
        /// The lists of relationships whose other end is not to one, and the order of the others.
        var lists: [NSManagedObjectID: [String: [NSManagedObjectID]]] = [:]
        var lastKey = 0
        /// What was asked, in order.
        var questions: [String] = []
        /// What each save has brought, by the IDs.
        var saves: [[NSManagedObjectID]] = []
        var delay: Duration?
        /// Questions that begin like one of these are held back until ``release()``.
        var heldBack: [String] = []
        var isHeld: [CheckedContinuation<Void, Never>] = []
        var failure: (any Error)?
        /// Which changes of a save are refused; nil where saves are done wholly or not at all.
        var isRefused: (@Sendable (NSManagedObjectID) -> Bool)?
        /// Attributes that rows leave unknown unless they are asked for, by name.
        var lazyAttributes: Set<String> = []
        /// Whether rows come with the answer of a fetch.
        var answersWithRows = true
    }

    private let server = GuardedState(Server())
    private let isAtomic = Atomic<Bool>(true)
    private let evaluation = NSRecursiveLock()
    private lazy var evaluator = RowEvaluator(self)

    static func make(_ model: NSManagedObjectModel = Music.model()) throws -> (
        store: ServerStore, coordinator: NSPersistentStoreCoordinator
    ) {
        NSPersistentStoreCoordinator.registerStoreClass(ServerStore.self, forStoreType: typeName)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(ofType: typeName, configurationName: nil, at: nil) as! ServerStore
        return (store, coordinator)
    }

    override func loadMetadata() throws { metadata = [NSStoreUUIDKey: UUID().uuidString, NSStoreTypeKey: Self.typeName] }

    // MARK: For tests

    func configure(_ change: (inout Server) -> Void) {
        server.withLock { change(&$0) }
        isAtomic.store(server.withLock { $0.isRefused == nil }, ordering: .relaxed)
    }
    var questions: [String] { server.withLock { $0.questions } }
    var saves: [[NSManagedObjectID]] { server.withLock { $0.saves } }
    var heldCount: Int { server.withLock { $0.isHeld.count } }

    func forgetQuestions() { server.withLock { $0.questions = [] } }

    /// Lets go of what is held back, and holds nothing back any more.
    func release() {
        let held = server.withLock { server in
            defer { server.isHeld = [] }
            server.heldBack = []
            return server.isHeld
        }
        for continuation in held { continuation.resume() }
    }

    /// Suspends until so many questions are held back.
    func untilHeld(_ count: Int = 1) async { while heldCount < count { await Task.yield() } }

    private func arrive(_ question: String) async throws {
        let (delay, isHeld) = server.withLock { server in
            server.questions.append(question)
            return (server.delay, server.heldBack.contains { question.hasPrefix($0) })
        }
        if isHeld {
            await withCheckedContinuation { continuation in
                let isLate = server.withLock { server in
                    if server.heldBack.isEmpty { return true }
                    server.isHeld.append(continuation)
                    return false
                }
                if isLate { continuation.resume() }
            }
        }
        if let delay { try await Task.sleep(for: delay) }
        if let failure = server.withLock(\.failure) { throw failure }
    }

    /// Answers a question when its time has come.
    private func answer<Answer>(_ question: String, _ body: () throws -> Answer) async throws -> Answer {
        guard let gate = ServerGate.current else {
            try await arrive(question)
            return try body()
        }
        let early = gate.answersAtOnce ? try body() : nil
        server.withLock { $0.questions.append(question) }
        try await gate.pass(question)
        return try early ?? body()
    }

    // MARK: The interface

    var savesAtomically: Bool { isAtomic.load(ordering: .relaxed) }

    func fetch(_ query: StoreQuery, for caller: StoreCaller) async throws -> StoreAnswer {
        let answer = try await answer("fetch \(query.entity.name ?? "?")") { try evaluation.withLock { try evaluator.answer(query) } }
        if !server.withLock({ $0.answersWithRows }), case .rows(let rows) = answer { return .ids(rows.map { $0.objectID! }) }
        if case .rows(let rows) = answer { return .rows(RowList(try rows.map { try given($0) })) }
        return answer
    }

    func fetchRows(for ids: [NSManagedObjectID], for caller: StoreCaller) async throws -> [Row] {
        try await answer("rows \(ids.count)") { try server.withLock { server in ids.compactMap { server.rows[$0] } }.map { try given($0) } }
    }

    func fetchValues(
        of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], for caller: StoreCaller
    ) async throws -> [Row] {
        let names = properties.map(\.name)
        return try await answer("values \(names.joined(separator: ", ")) \(ids.count)") {
            try server.withLock { server in ids.compactMap { server.rows[$0] } }.map { try given($0, knowing: names) }
        }
    }

    /// A row as the server gives it.
    private func given(_ row: Row, knowing known: [String] = []) throws -> Row {
        let lazy = server.withLock { $0.lazyAttributes }.subtracting(known)
        let entity = row.objectID!.entity
        if lazy.isDisjoint(with: entity.attributesByName.keys) { return row }
        let copy = Row(row.objectID!, version: row.version)
        for (name, attribute) in entity.attributesByName {
            if lazy.contains(name) { copy.setUnknown(attribute) } else { try copy.setValue(row.value(of: attribute), of: attribute) }
        }
        for relationship in entity.relationshipsByName.values where !relationship.isToMany {
            copy.setRelatedIDs(row.relatedIDs(relationship), of: relationship)
        }
        return copy
    }

    func fetchRelated(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) async throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        try await answer("\(relationship.name) \(ids.count)") {
            server.withLock { server in server.related(by: relationship, from: ids) }
        }
    }

    func permanentIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID] {
        new.map { object in
            let key = server.withLock { server in
                server.lastKey += 1
                return server.lastKey
            }
            return objectID(for: object.entity, key)
        }
    }

    func saveChanges(_ changes: StoreChangeSet, for caller: StoreCaller) async throws -> SaveOutcome {
        if let gate = ServerGate.current { try await gate.pass("save") } else { try await arrive("save \(changes.count)") }
        return try server.withLock { try $0.save(changes) }
    }

    // MARK: Rows for the evaluator

    func forEachRow(of entity: NSEntityDescription, includingSubentities: Bool, _ body: (Row) throws -> Void) throws {
        let rows = server.withLock { server in server.order.compactMap { server.rows[$0] } }
        for row in rows {
            let own = row.objectID!.entity
            if own === entity || (includingSubentities && own.isKindOf(entity: entity)) { try body(row) }
        }
    }

    func row(with id: NSManagedObjectID) throws -> Row? { server.withLock { $0.rows[id] } }

    func relatedIDs(of relationship: NSRelationshipDescription, in row: Row) throws -> [NSManagedObjectID] {
        if !relationship.isToMany { return row.relatedIDs(relationship) }
        let id = row.objectID!
        return server.withLock { $0.related(by: relationship, from: [id])[id] ?? [] }
    }
}

extension ServerStore.Server {
    func related(by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID]) -> [NSManagedObjectID: [NSManagedObjectID]] {
        var found: [NSManagedObjectID: [NSManagedObjectID]] = [:]
        guard let inverse = relationship.inverseRelationship, !inverse.isToMany else {
            for id in ids {
                found[id] =
                    relationship.isToMany
                    ? (lists[id]?[relationship.name] ?? []).filter { rows[$0] != nil } : rows[id]?.relatedIDs(relationship) ?? []
            }
            return found
        }
        let wanted = Set(ids)
        for id in order {
            guard let row = rows[id], id.entity.isKindOf(entity: relationship.destinationEntity!) else { continue }
            let own = id.entity.relationshipsByName[inverse.name]!
            if let owner = row.relatedIDs(own).first, wanted.contains(owner) { found[owner, default: []].append(id) }
        }
        if relationship.isOrdered {
            for (owner, members) in found {
                let known = lists[owner]?[relationship.name] ?? []
                found[owner] = known.filter(members.contains) + members.filter { !known.contains($0) }
            }
        }
        return found
    }

    mutating func save(_ changes: StoreChangeSet) throws -> SaveOutcome {
        var conflicts: [StoreConflicts.Version] = []
        for change in changes.updated + changes.deleted + changes.locked {
            guard let version = change.baseVersion, rows[change.objectID]?.version != version else { continue }
            conflicts.append(.init(change.objectID, stored: rows[change.objectID]))
        }
        if !conflicts.isEmpty { throw StoreConflicts(conflicts) }
        let refuses = isRefused ?? { _ in false }
        var outcomes: [NSManagedObjectID: IncompleteSave.Outcome] = [:]
        var accepted: [NSManagedObjectID] = []
        func isAccepted(_ change: StoreChange) -> Bool {
            if refuses(change.objectID) {
                outcomes[change.objectID] = .refused(NSError(domain: "server", code: 422))
                return false
            }
            outcomes[change.objectID] = .accepted
            accepted.append(change.objectID)
            return true
        }
        for change in changes.inserted where isAccepted(change) {
            rows[change.objectID] = change.row!
            order.append(change.objectID)
            apply(change)
        }
        for change in changes.updated + changes.locked where isAccepted(change) {
            rows[change.objectID] = change.row!
            apply(change)
        }
        for change in changes.deleted where isAccepted(change) {
            rows[change.objectID] = nil
            lists[change.objectID] = nil
            order.removeAll { $0 == change.objectID }
        }
        saves.append((changes.inserted + changes.updated + changes.deleted + changes.locked).map(\.objectID))
        if accepted.count < outcomes.count { throw IncompleteSave(outcomes) }
        return SaveOutcome()
    }

    private mutating func apply(_ change: StoreChange) {
        for list in change.lists {
            let known = lists[change.objectID]?[list.name] ?? []
            lists[change.objectID, default: [:]][list.name] =
                list.members ?? known.filter { !list.removed.contains($0) && !list.added.contains($0) } + list.added
        }
    }
}
