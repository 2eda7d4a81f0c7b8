internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The outcomes of a save so far.
struct SaveProgress {
    /// The start of the save, by the clock of the store's options: before anything was sent.
    let began: Duration
    var outcomes: [NSManagedObjectID: IncompleteSave.Outcome] = [:]
    /// The IDs that the backend has assigned, by temporary IDs.
    var assigned: [NSManagedObjectID: NSManagedObjectID] = [:]
    /// The rows that the backend has changed.
    var rows: [NSManagedObjectID: Row] = [:]
    /// The objects whose new version the backend has not reported.
    var unversioned: [NSManagedObjectID] = []
    /// The updates of these objects as they were sent, with the IDs of their changes.
    var untold: [NSManagedObjectID: (id: NSManagedObjectID, sent: BackendChange)] = [:]
    /// The errors of calls that failed.
    var thrown: [any Error] = []
    /// The number of changes that the backend has saved.
    var savedCount = 0

    /// Returns the current ID of an object of the save.
    func currentID(_ change: PendingChange) -> NSManagedObjectID { assigned[change.id] ?? change.id }

    func isSaved(_ id: NSManagedObjectID) -> Bool { if case .accepted? = outcomes[id] { true } else { false } }

    func hasFailed(_ id: NSManagedObjectID) -> Bool {
        switch outcomes[id] {
        case .refused?, .unknown?, .conflicting?: true
        case .accepted?, nil: false
        }
    }

    /// Notes a saved change.
    ///
    /// - Parameters:
    ///   - sent: The change as it was sent.
    ///   - current: The current ID of the object.
    /// - Throws: Code 134070 for values that do not fit.
    mutating func noteSaved(
        _ change: PendingChange, _ sent: BackendChange, _ current: NSManagedObjectID, _ version: ResourceVersion?,
        _ values: [String: ResourceValue], _ reader: RemoteReader
    ) throws {
        savedCount += 1
        if change.kind == .delete { return reader.versions.forget([change.id]) }
        guard let row = change.change.row else { return }
        let isUnversioned = version == nil && reader.versions.hasVersions(current)
        let number = reader.versions.didSave(current, row.version, version)
        if isUnversioned {
            unversioned.append(current)
            untold[current] = (change.id, sent)
        }
        guard number != row.version || !values.isEmpty else { return }
        let copy = rows[current] ?? row.copy()
        copy.version = number
        let entity = try reader.decoding.entity(change.entity.name ?? "?")
        for (name, value) in values {
            switch (entity.description.frozenParts.byName[name], value) {
            case (let attribute as NSAttributeDescription, .value(let value)): try copy.setValue(value, of: attribute)
            case (let relationship as NSRelationshipDescription, .one(let reference)) where !relationship.isToMany:
                copy.setRelatedIDs(try reference.map { [try reader.decoding.id($0, for: relationship)] } ?? [], of: relationship)
            case (nil, _): throw RemoteStoreError.unknownProperty(name, of: change.entity.name ?? "?")
            default: continue
            }
        }
        rows[current] = copy
    }

    /// Notes that a change was not saved, although it was taken as saved.
    mutating func noteUntaken(_ id: NSManagedObjectID, _ error: NSError) {
        savedCount -= 1
        outcomes[id] = .refused(error)
    }

    /// Returns the outcome of the save.
    ///
    /// - Throws: `StoreConflicts`, `IncompleteSave`, or the error of a failed call if nothing was saved.
    func result() throws -> SaveOutcome {
        // If a change follows an earlier one of its object and was not saved, it stays a change of the context: its row is not the backend's.
        var rows = rows
        for (id, outcome) in outcomes {
            if case .accepted = outcome { continue }
            rows[assigned[id] ?? id] = nil
        }
        // Rows refer to objects by their current IDs.
        let named = rows.values.map { $0.naming(assigned) }
        let isWhole = outcomes.values.allSatisfy { if case .accepted = $0 { true } else { false } }
        if isWhole {
            var outcome = SaveOutcome()
            outcome.rows = named
            outcome.assignedIDs = assigned
            return outcome
        }
        var conflicts: [StoreConflicts.Version] = []
        var accepted = 0
        var isUnknown = false
        for (id, outcome) in outcomes {
            switch outcome {
            case .accepted: accepted += 1
            case .conflicting(let row): conflicts.append(.init(id, stored: row))
            case .unknown: isUnknown = true
            case .refused: continue
            }
        }
        let isNothingSaved = savedCount == 0
        if isNothingSaved, conflicts.count == outcomes.count - accepted { throw StoreConflicts(conflicts) }
        if isNothingSaved, !isUnknown, let first = thrown.first, thrown.count == outcomes.count - accepted { throw first }
        throw IncompleteSave(outcomes, rows: named, assignedIDs: assigned)
    }
}

extension Row {
    /// The IDs of the destinations of to-one relationships.
    var toOneIDs: [NSManagedObjectID] {
        knownObjectID.owningEntity.frozenParts.relationships.filter { !$0.isToMany }.flatMap(relatedIDs)
    }

    /// Returns whether the attributes and to-one relationships that are known in both rows are equal.
    func hasEqualKnownValues(as other: Row, besides names: Set<String> = []) -> Bool {
        knownObjectID.owningEntity.frozenParts.properties.allSatisfy { property in
            if names.contains(property.name) || property.isTransient || property.isToManyRelationship || isUnknown(property)
                || other.isUnknown(property)
            {
                return true
            }
            switch property {
            case let relationship as NSRelationshipDescription: return relatedIDs(relationship) == other.relatedIDs(relationship)
            case let attribute as NSAttributeDescription:
                let (left, right) = (any(of: attribute), other.any(of: attribute))
                return left == nil && right == nil
                    || (left as? NSObject)?.isEqual(right) ?? (value(of: attribute) == other.value(of: attribute))
            default: return true
            }
        }
    }
}
