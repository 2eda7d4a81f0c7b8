internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Executes batch requests with the backend's bulk calls.
extension RemoteWriter {
    /// Executes a batch request.
    ///
    /// - Throws: Code 134091 for a request that no bulk call can execute exactly, naming entity, request and clause; code 134040 if only a part was done, or if
    ///   that is not known; the backend's error if nothing was done.
    func execute(_ work: BatchWork, for caller: StoreCaller) async throws -> BatchOutcome {
        reader.runner.beginEpoch()
        // Answers from before the change may be stale.
        defer { reader.forgetEarlierAnswers() }
        switch work {
        case .insert(let changes, let wanted): return try await insert(changes, wanted, for: caller)
        case .calls(let calls, let wanted): return try await send(calls, wanted)
        }
    }

    /// A batch request as values for the backend.
    enum BatchWork: Sendable {
        case insert([(change: BackendChange, entity: NSEntityDescription)], BatchOutcome.Kind)
        case calls([BulkRequest], BatchOutcome.Kind)
    }

    // MARK: Before

    /// Creates the calls of a batch request. It calls the program's handlers.
    func work(for request: any BatchRequest) throws -> BatchWork {
        switch request {
        case let insert as NSBatchInsertRequest: return .insert(try changes(of: insert), insert.wanted)
        case let update as NSBatchUpdateRequest:
            let bulk = try bulk(of: update.knownEntity, .update, for: update)
            var fetch = PlannedFetch(entity: update.knownEntity, includesSubentities: update.includesSubentities)
            if let tree = try update.predicate?.tree() { fetch.clauses = NormalForm(update.knownEntity).clauses(tree) }
            let values = try values(of: update)
            return try .calls(calls(fetch, .update, values, bulk, update), update.wanted)
        case let delete as NSBatchDeleteRequest:
            guard let entity = delete.fetchRequest.entity else { break }
            let bulk = try bulk(of: entity, .delete, for: delete)
            let query = try StoreQuery(delete.fetchRequest, of: entity)
            var fetch = try reader.planned(query)
            fetch.prefetches = []
            return try .calls(calls(fetch, .delete, [:], bulk, delete), delete.wanted)
        default: break
        }
        throw CoreDataError.make(
            NSPersistentStoreUnsupportedRequestTypeError, "A remote store cannot execute \(type(of: request)).",
            next: "Send it a batch insert, update or delete.")
    }

    /// Returns the declaration of an entity's bulk calls.
    ///
    /// - Throws: Code 134091 if there is none for the kind of request.
    private func bulk(
        of entity: NSEntityDescription, _ kind: Resource.Saving.Kind, for request: any BatchRequest
    ) throws -> Resource.Saving.Bulk {
        let bulk = reader.catalog.saving(of: entity)?.bulk
        let isDeclared =
            switch kind {
            case .insert: bulk?.inserts ?? false
            case .update: bulk?.update != nil
            case .delete: bulk?.delete != nil
            }
        if let bulk, isDeclared { return bulk }
        throw RemoteStoreError.batch(
            "\(type(of: request))", entity.name ?? "?",
            "The backend at \(reader.location.absoluteString) has declared no bulk call for it.",
            next: "Describe one in its saving: description, or change objects of a context and save.")
    }

    private func calls(
        _ fetch: PlannedFetch, _ kind: Resource.Saving.Kind, _ values: [String: ResourceValue], _ bulk: Resource.Saving.Bulk,
        _ request: any BatchRequest
    ) throws -> [BulkRequest] {
        let isTold =
            switch request.wanted {
            case .status: true
            case .count: !bulk.results.isEmpty
            case .ids: bulk.results.contains(.identifiers)
            }
        guard isTold else {
            throw RemoteStoreError.batch(
                "\(type(of: request))", fetch.entity.name ?? "?",
                "Its result type is not told by the backend's call, which has declared \(bulk.results.isEmpty ? "none" : "the count only").",
                next: "Ask for another result type.")
        }
        var fetch = fetch
        fetch.mayComplete = false
        let targets = try self.bulk.targets(of: fetch, kind, for: "\(type(of: request))", reader.decoding)
        return targets.map { BulkRequest(target: $0, kind: kind, values: values, idempotencyKey: UUID()) }
    }

    /// Returns the values that a batch update sets.
    ///
    /// - Throws: Code 134091 for an expression over the current row; code 1550 for a value that the attribute cannot hold.
    private func values(of request: NSBatchUpdateRequest) throws -> [String: ResourceValue] {
        let entity = request.knownEntity
        let row = entity.frozenParts.layout.defaultRow.copy()
        var values: [String: ResourceValue] = [:]
        for (key, value) in request.propertiesToUpdate ?? [:] {
            let name = (key.base as? NSPropertyDescription)?.name ?? key.base as? String ?? "\(key.base)"
            let attribute = try BatchRows.attribute(name, of: entity)
            var given: Any? = value
            if let expression = value as? Predicates.NSExpression {
                guard case .constant(let constant) = try expression.tree() else {
                    throw RemoteStoreError.batch(
                        "NSBatchUpdateRequest", entity.name ?? "?",
                        "“\(name)” is to be set to \(expression), which the backend would compute.",
                        next: "Give a constant, or change objects of a context and save.")
                }
                given = constant.any
            }
            guard let storable = AttributeCheck.conform(given, to: attribute) else { throw BatchRows.invalidValue(given, attribute) }
            row.store(storable, in: row.layout.slots[attribute.slotIndex])
            if reader.catalog.saving(of: entity)?.unsent.contains(name) == true {
                throw RemoteStoreError.unsent(name, of: entity.name ?? "?", nil)
            }
            values[name] = .value(row.value(of: attribute))
        }
        return values
    }

    /// Returns the new resources of a batch insert.
    private func changes(of request: NSBatchInsertRequest) throws -> [(change: BackendChange, entity: NSEntityDescription)] {
        let entity = request.knownEntity
        _ = try bulk(of: entity, .insert, for: request)
        let attributes = entity.frozenParts.properties.compactMap { $0 as? NSAttributeDescription }.filter { !$0.isTransient }
        let saving = reader.catalog.saving(of: entity)
        return try BatchRows(request).made().enumerated().map { number, new in
            var change = BackendChange(
                key: BackendChange.Key(number: number), kind: .insert, entity: entity.name ?? "?", idempotencyKey: UUID())
            change.id = try knownID(of: entity, new.row).flatMap(reader.decoding.resourceID)
            if let saving, let name = UnsentEdits.given(new.row, entity, saving) {
                throw RemoteStoreError.unsent(name, of: change.entity, change.id)
            }
            for attribute in attributes {
                let value = new.row.value(of: attribute)
                if !value.isNull { change.values[attribute.name] = .value(value) }
            }
            change.changedProperties = Set(change.values.keys)
            return (change, entity)
        }
    }

    // MARK: Sending

    private func send(_ calls: [BulkRequest], _ wanted: BatchOutcome.Kind) async throws -> BatchOutcome {
        var ids: [NSManagedObjectID] = []
        var count = 0
        for (done, call) in calls.enumerated() {
            do {
                let answer = try await reader.runner.execute(call)
                let entity = try reader.decoding.entity(call.entity).description
                for reference in answer.resources ?? [] {
                    ids.append(
                        reader.decoding.id(
                            reference.id, of: try reference.entity.map { try reader.decoding.entity($0).description } ?? entity))
                }
                count += answer.count ?? 0
                let isTold = wanted == .status || (wanted == .count ? answer.count != nil : answer.resources != nil)
                guard isTold else {
                    throw CoreDataError.make(
                        NSPersistentStoreIncompleteSaveError, "The result of a bulk call is not known.",
                        reason: "“\(call.target.endpoint)” was done, and its answer lacks what the backend has declared to tell.",
                        next: "Read the objects again.")
                }
            } catch {
                let lost = (error as? UnknownOutcome)?.cause
                if done == 0, lost == nil { throw error }
                throw partial(ids, done, calls.count, "calls", lost ?? error, isUnknown: lost != nil)
            }
        }
        if calls.contains(where: { $0.kind == .delete }) { reader.versions.forget(ids) }
        switch wanted {
        case .status: return .status(true)
        case .count: return .count(count)
        case .ids: return .ids(ids)
        }
    }

    /// Sends new resources in as many calls as necessary, one call after the other.
    private func insert(
        _ changes: [(change: BackendChange, entity: NSEntityDescription)], _ wanted: BatchOutcome.Kind, for caller: StoreCaller
    ) async throws -> BatchOutcome {
        guard let entity = changes.first?.entity, let saving = reader.catalog.saving(of: entity) else {
            return BatchOutcome([], as: wanted)
        }
        var saved: [NSManagedObjectID] = []
        var start = 0
        while start < changes.count {
            let call = changes[start..<min(changes.count, start + saving.maximumChanges)].map(\.change)
            var problem: (any Error)?
            var isUnknown = false
            do {
                if let taken = try await taken(call, entity, saving, for: caller) { throw RemoteStoreError.isThere(taken) }
                let outcomes = try await reader.runner.save(call, uploading: saving.uploads)
                for change in call {
                    switch outcomes[change.key] {
                    case .saved(let id, let version, _)?:
                        guard let id = change.id ?? id else {
                            (problem, isUnknown) = (Self.missingOutcome, true)
                            continue
                        }
                        let objectID = reader.decoding.id(id, of: entity)
                        _ = reader.versions.didSave(objectID, 1, version)
                        saved.append(objectID)
                    case .refused(let error)?: problem = problem ?? error
                    case .conflict?: problem = problem ?? RemoteStoreError.isThere(change)
                    case .unknown(let error)?: (problem, isUnknown) = (problem ?? error, true)
                    case nil: (problem, isUnknown) = (problem ?? Self.missingOutcome, true)
                    }
                }
            } catch let lost as UnknownOutcome {
                (problem, isUnknown) = (lost.cause, true)
            } catch { problem = error }
            if let problem {
                if saved.isEmpty, !isUnknown { throw problem }
                throw partial(saved, saved.count, changes.count, "resources", problem, isUnknown: isUnknown)
            }
            start += call.count
        }
        return BatchOutcome(saved, as: wanted)
    }

    /// Returns a new resource whose identifier already exists at the backend, if the backend would replace the existing resource; nil for none.
    private func taken(
        _ call: [BackendChange], _ entity: NSEntityDescription, _ saving: Resource.Saving, for caller: StoreCaller
    ) async throws -> BackendChange? {
        guard saving.insertsReplace else { return nil }
        let ids = call.compactMap { $0.id.map { reader.decoding.id($0, of: entity) } }
        let there = Set(try await reader.read(ids, isFresh: true, for: caller).map(\.knownObjectID))
        return call.first { $0.id.map { there.contains(reader.decoding.id($0, of: entity)) } ?? false }
    }

    private func partial(
        _ ids: [NSManagedObjectID], _ done: Int, _ all: Int, _ what: String, _ cause: any Error, isUnknown: Bool
    ) -> NSError {
        CoreDataError.make(
            NSPersistentStoreIncompleteSaveError, "A batch request was done in part.",
            reason: "\(done) of \(all) \(what) were done" + (isUnknown ? "; of others that is not known, for an answer was lost." : "."),
            next: "Read the objects again, and execute a request for the rest.", cause: cause, info: [NSAffectedObjectsErrorKey: ids])
    }
}
