internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// A call that saves objects of several parts.
///
/// The current state of each part is read first, and the part receives only the differences. So a change that is sent again, because another part has refused
/// it or an answer was lost, is saved once by each part.
struct CombinedSave {
    /// The outcome of one part's share of a change.
    private enum Fate {
        /// It was saved, now or before.
        case saved([String: ResourceValue])
        case conflict
        /// Others have deleted the object.
        case gone
        case refused(any Error)
        case unknown(any Error)

        /// The error of a call that has failed as a whole; nil for another outcome.
        var thrown: (any Error)? { if case .refused(let error as ThrownByPart) = self { error.cause } else { nil } }
    }

    /// The error of a call that has failed as a whole.
    private struct ThrownByPart: Error { let cause: any Error }

    /// A change for a part.
    private struct Order {
        let share: Int
        let change: BackendChange
    }

    private let changes: [BackendChange]
    private let entity: CombinedEntity
    private let members: [CombinedMember]
    /// The user of each part, to whom the changes belong.
    private let principals: [String?]
    /// The rows that were read; an error if a part could not be asked.
    private var rows: [Int: Result<[ResourceID: PartRow], any Error>] = [:]
    private var outcomes: [Int: BackendOutcome] = [:]
    /// The outcome of each change, by share.
    private var fates: [Int: [Int: Fate]] = [:]

    init(_ changes: [BackendChange], _ entity: CombinedEntity, _ members: [CombinedMember], _ principals: [String?]) {
        (self.changes, self.entity, self.members, self.principals) = (changes, entity, members, principals)
    }

    /// - Throws: The error of a part, if no part could be asked.
    mutating func run() async throws -> [BackendChange.Key: BackendOutcome] {
        for index in changes.indices { if let error = mistake(in: changes[index]) { outcomes[index] = .refused(error) } }
        let kept = changes.indices.filter { outcomes[$0] == nil }
        for (share, indices) in entity.shares.indices.map({ share in (share, kept.filter { concerns(share, changes[$0]) }) }) {
            await look(indices, share)
        }
        // The other parts may have an object that these parts lack.
        for share in entity.shares.indices {
            await look(kept.filter { changes[$0].kind == .update && !concerns(share, changes[$0]) && !isFound(changes[$0]) }, share)
        }
        var orders: [Order] = []
        for index in kept { orders += try await self.orders(index) }
        await send(orders)
        // Nothing was saved, and nothing was refused.
        let thrown = fates.values.flatMap(\.values).map(\.thrown)
        if outcomes.isEmpty, let error = thrown.first ?? nil, thrown.allSatisfy({ $0 != nil }) { throw error }
        var result: [BackendChange.Key: BackendOutcome] = [:]
        for (index, change) in changes.enumerated() { result[change.key] = outcomes[index] ?? outcome(index) }
        return result
    }

    // MARK: Before

    /// Returns the reason why no part can save a change as it is.
    private func mistake(in change: BackendChange) -> (any Error)? {
        func error(_ reason: String, _ next: String) -> NSError {
            CoreDataError.make(
                NSPersistentStoreSaveError, "“\(change.entity)” \(change.id.map(\.description) ?? "") cannot be saved.", reason: reason,
                next: next)
        }
        guard let id = change.id else { return error("It has no identity.", "Set “\(entity.identity)” before the save.") }
        if change.kind == .update, let new = change.values[entity.identity], ResourceID(new.value) != id {
            return error("“\(entity.identity)” is its identity, and was changed.", "Delete the object, and insert another.")
        }
        for (index, share) in entity.shares.enumerated() where concerns(index, change) && change.kind != .delete {
            guard wants(index, change) else { continue }
            if share.saving?.kinds.isDisjoint(with: [.insert, .update]) ?? true {
                let names = changed(index, change).sorted().joined(separator: ", ")
                return error("“\(members[share.member].name)” saves nothing, and has \(names).", "Leave that as it is.")
            }
        }
        return nil
    }

    /// Returns the changed properties that belong to a share.
    private func changed(_ share: Int, _ change: BackendChange) -> Set<String> {
        Set(change.values.keys).union(change.lists.keys).intersection(entity.shares[share].share.properties)
    }

    /// Whether a part must be asked about a change.
    private func concerns(_ share: Int, _ change: BackendChange) -> Bool { change.kind != .update || !changed(share, change).isEmpty }

    /// Whether a part has to save a part of a change.
    private func wants(_ share: Int, _ change: BackendChange) -> Bool {
        switch change.kind {
        case .delete: return true
        case .update: return !changed(share, change).isEmpty
        case .insert:
            func has(_ share: Int) -> Bool {
                entity.shares[share].share.hasAll
                    || changed(share, change).contains { !(change.values[$0]?.isNull ?? change.lists[$0].map(\.isNothing) ?? true) }
            }
            if has(share) { return true }
            let first = entity.shares.firstIndex { $0.saving?.kinds.contains(.insert) ?? false }
            return share == first && !entity.shares.indices.contains(where: has)
        }
    }

    private mutating func look(_ indices: [Int], _ share: Int) async {
        let ids = Set(indices.compactMap { changes[$0].id })
        if ids.isEmpty { return }
        let known = entity.shares[share]
        do {
            let found = try await members[known.member].lookup(ids, known.share)
            rows[share] = .success(try rows[share]?.get().merging(found) { _, new in new } ?? found)
        } catch { rows[share] = .failure(error) }
    }

    private func row(_ share: Int, _ id: ResourceID) -> PartRow? { (try? rows[share]?.get())?[id] }

    private func isFound(_ change: BackendChange) -> Bool {
        // A part that cannot be asked may have the object.
        entity.shares.indices.contains { share in
            if case .failure? = rows[share] { return true }
            return change.id.flatMap { row(share, $0) } != nil
        }
    }

    // MARK: Changes of parts

    /// Determines the change that each part receives.
    private mutating func orders(_ index: Int) async throws -> [Order] {
        let change = changes[index]
        guard let id = change.id else { return [] }
        if change.kind == .update, !isFound(change) {
            outcomes[index] = .conflict(current: nil)
            return []
        }
        if change.kind == .insert, let current = other(change, id) {
            outcomes[index] = .conflict(current: current)
            return []
        }
        if change.kind == .delete {
            for (share, known) in entity.shares.enumerated() where row(share, id) != nil && known.saving?.kinds.contains(.delete) != true {
                outcomes[index] = .refused(
                    PartRefusal(
                        of: change, in: members[known.member].name,
                        because: RemoteStoreError.readOnly(change.entity, at: members[known.member].part.backend.location)))
                return []
            }
        }
        var orders: [Order] = []
        for share in entity.shares.indices where wants(share, change) {
            if case .failure(let error)? = rows[share] {
                fates[index, default: [:]][share] = .refused(ThrownByPart(cause: error))
                continue
            }
            do {
                if let own = try await own(change, id, share) {
                    let principal = principals[entity.shares[share].member]
                    orders.append(Order(share: share, change: own.keyed(index).owned(by: principal)))
                } else {
                    fates[index, default: [:]][share] = .saved(there(change, id, share))
                }
            } catch { fates[index, default: [:]][share] = .refused(error) }
        }
        return orders
    }

    /// Returns the values of an existing object with the identity of a new one; nil if there is none, or only the saved part of the new one.
    private func other(_ change: BackendChange, _ id: ResourceID) -> [String: ResourceValue]? {
        var current: [String: ResourceValue] = [:]
        var isOther = false
        for (share, known) in entity.shares.enumerated() {
            guard let row = row(share, id) else { continue }
            current.merge(row.values.filter { known.share.properties.contains($0.key) }) { _, new in new }
            if !wants(share, change) || !row.has(change.values.filter { known.share.properties.contains($0.key) }) { isOther = true }
        }
        current[entity.identity] = .value(id.attributeValue)
        return isOther ? current : nil
    }

    /// Returns the values of a new object that a part already has from an earlier attempt, including values that were not sent.
    private func there(_ change: BackendChange, _ id: ResourceID, _ share: Int) -> [String: ResourceValue] {
        guard change.kind == .insert, let row = row(share, id) else { return [:] }
        return row.values.filter { name, value in
            if case .many = value { false } else { entity.shares[share].share.properties.contains(name) }
        }
    }

    /// Returns the change to send to a part; nil if the part already has it.
    private func own(_ change: BackendChange, _ id: ResourceID, _ index: Int) async throws -> BackendChange? {
        let share = entity.shares[index]
        let member = members[share.member]
        let row = row(index, id)
        var own = change.only(share.share.properties)
        let kind: Resource.Saving.Kind
        switch (change.kind, row) {
        case (.delete, nil): return nil
        case (.delete, _?): kind = .delete
        case (_, let row?):
            kind = .update
            // Values that were sent with the whole object, and are unchanged, equal those of the part.
            own.values = own.values.filter { name, value in
                own.changedProperties.contains(name) && row.values[name].map { !value.isSame(as: $0) } ?? true
            }
            if change.kind == .insert { own.lists = own.lists.filter { row.values[$0.key] == nil } }
            if own.values.isEmpty, own.lists.isEmpty { return nil }
            if share.saving?.sendsWholeObjects ?? false {
                let plain = row.values.filter { if case .many = $0.value { false } else { share.share.properties.contains($0.key) } }
                own.values.merge(plain) { new, _ in new }
            }
        case (_, nil):
            kind = .insert
            own.values = own.values.filter { !$0.value.isNull }
            // Empty lists need not be sent for an object that does not exist.
            if change.kind == .update, own.values.isEmpty, own.lists.allSatisfy({ $0.value.isNothing }) { return nil }
            own.values[entity.identity] = .value(id.attributeValue)
        }
        guard let saving = share.saving, saving.kinds.contains(kind) else {
            throw RemoteStoreError.readOnly(change.entity, at: member.part.backend.location)
        }
        let key = change.idempotencyKey.derived(for: "\(member.name) \(kind)")
        var made = BackendChange(
            kind, change.entity, id: try row?.native ?? native(own.values, id, share, key), own.values,
            changedProperties: kind == .insert ? nil : own.changedProperties, lists: own.lists,
            version: { if case .backend = saving.conflicts { row?.version } else { nil } }(),
            base: kind == .update ? change.base.filter { own.values[$0.key] != nil } : [:], idempotencyKey: key)
        if kind == .delete { (made.values, made.lists, made.changedProperties) = ([:], [:], []) }
        return try await member.translated(made)
    }

    /// Returns the part's identifier for a new object; nil if the part assigns it.
    private func native(
        _ values: [String: ResourceValue], _ id: ResourceID, _ share: CombinedEntity.Share, _ key: UUID
    ) throws -> ResourceID? {
        if share.share.identifiesAlike { return id }
        switch share.saving?.identity {
        case .newUUID?: return .uuid(key)
        case .made(let make)?: return make(values)
        case .attribute(let name)?:
            if let native = ResourceID(values[name]?.value ?? .null) { return native }
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "A new “\(entity.name)” cannot be saved in “\(members[share.member].name)”.",
                reason: "“\(name)”, which is its identifier there, is not set.", next: "Set it before the save.")
        case .assignedByBackend?, nil: return nil
        }
    }

    // MARK: Sending

    /// Sends changes to the parts concurrently, and records their outcomes.
    private mutating func send(_ orders: [Order]) async {
        struct Call: Hashable {
            let share: Int
            let kind: Resource.Saving.Kind
        }
        var calls: [(share: Int, changes: [BackendChange])] = []
        let groups = Dictionary(grouping: orders) { Call(share: $0.share, kind: $0.change.kind) }
        for (call, orders) in groups {
            for part in orders.map(\.change).parts(of: entity.shares[call.share].saving?.maximumChanges ?? 1) {
                calls.append((call.share, part))
            }
        }
        typealias Answer = Result<[BackendChange.Key: BackendOutcome], any Error>
        let answers = await withTaskGroup(of: (Int, Answer).self) { group in
            for (number, call) in calls.enumerated() {
                let backend = members[entity.shares[call.share].member].part.backend
                group.addTask {
                    let answer: Answer
                    do { answer = .success(try await backend.save(call.changes)) } catch { answer = .failure(error) }
                    return (number, answer)
                }
            }
            var answers: [Int: Answer] = [:]
            for await (number, answer) in group { answers[number] = answer }
            return answers
        }
        for (number, call) in calls.enumerated() {
            for change in call.changes {
                let fate: Fate
                switch answers[number] {
                case .success(let outcomes)?: fate = self.fate(outcomes[change.key], change, call.share)
                case .failure(let lost as UnknownOutcome)?: fate = .unknown(lost.cause)
                case .failure(let error)?: fate = .refused(ThrownByPart(cause: error))
                case nil: fate = .unknown(RemoteWriter.missingOutcome)
                }
                fates[change.key.number, default: [:]][call.share] = fate
            }
        }
    }

    private func fate(_ outcome: BackendOutcome?, _ change: BackendChange, _ index: Int) -> Fate {
        let share = entity.shares[index]
        switch outcome {
        case .saved(_, _, let values)?:
            let told = values.filter { share.share.properties.contains($0.key) }
            return .saved(members[share.member].identified(told, entity.name))
        case .conflict(nil, _)? where change.kind == .delete: return .gone
        case .conflict?: return .conflict
        case .refused(let error)?: return .refused(error)
        case .unknown(let error)?: return .unknown(error)
        case nil: return .unknown(RemoteWriter.missingOutcome)
        }
    }

    // MARK: Outcomes

    /// Returns the attributes and to-one relationships of a share.
    private func plain(_ share: Int) -> Set<String> {
        entity.shares[share].share.properties.filter { !(entity.entity.propertiesByName[$0]?.isToManyRelationship ?? false) }
    }

    /// Combines the outcomes of a change in all parts.
    private func outcome(_ index: Int) -> BackendOutcome {
        let change = changes[index]
        var (saved, told): (Set<String>, [String: ResourceValue]) = ([], [:])
        var (unknown, refused): ((Int, any Error)?, (Int, any Error)?)
        var isInConflict = false
        for (share, fate) in (fates[index] ?? [:]).sorted(by: { $0.key < $1.key }) {
            switch fate {
            case .saved(let values):
                saved.formUnion(change.kind == .delete ? plain(share) : changed(share, change))
                if change.kind == .insert { saved.insert(entity.identity) }
                told.merge(values) { _, new in new }
            case .gone: saved.formUnion(plain(share))
            case .conflict: isInConflict = true
            case .refused(let error): refused = refused ?? (share, (error as? ThrownByPart)?.cause ?? error)
            case .unknown(let error): unknown = unknown ?? (share, error)
            }
        }
        func refusal(_ part: (share: Int, error: any Error), _ saved: Set<String>) -> PartRefusal {
            PartRefusal(of: change, in: members[entity.shares[part.share].member].name, saved: saved, because: part.error)
        }
        // The store reads the current values, including those that were saved.
        if isInConflict { return .conflict(current: nil) }
        if let unknown { return .unknown(refusal(unknown, [])) }
        if let refused { return .refused(refusal(refused, saved)) }
        return .saved(values: told)
    }
}
