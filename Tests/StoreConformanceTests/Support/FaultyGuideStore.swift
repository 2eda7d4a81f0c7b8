import CoreData
import Synchronization

@testable import Guide

/// The store of the Guide example with a planted fault, for the kit to name. The options hold the ``Fault`` under `"fault"`.
// Like its superclass: the framework calls it for one request at a time.
final class FaultyGuideStore: XYZMyIncrementalStore {
    static let faultyType = "FaultyGuideStore"

    /// What authors get wrong.
    enum Fault: CaseIterable {
        case ignoredSort, ignoredDescending, ignoredSecondSort, ignoredPredicate, orIsAnd, caseAlwaysCounts, ignoredLimit, ignoredOffset
        case duplicateRows, missingRow, wrongCount, otherOrderOfIDs, otherEntity
        case lostInsert, lostUpdate, lostDelete, ignoredNullify, halfAppliedSave, refusedSaveThatWrites, swallowedError, unnoticedConflict
        case wrongVersion, othersValues, faultThatReadsNil, deletedRowThatReadsNil, nilAsDefault, truncatedText, trimmedText, lowercasedText
        case shiftedDates, numbersThroughDouble, staleRows, lostToOne, lostToMany, oneOfToMany
        case temporaryIDsThatStay, oneIDForAll, reusedIDs, unstableUUID, unstableURIs
    }

    private var fault: Fault? { options?["fault"] as? Fault }
    private var firstNodes: [NSManagedObjectID: NSIncrementalStoreNode] = [:]
    private let prefix = UUID().uuidString.prefix(4)

    override func loadMetadata() throws {
        try super.loadMetadata()
        metadata = [
            NSStoreUUIDKey: fault == .unstableUUID ? UUID().uuidString : database.identifier, NSStoreTypeKey: Self.faultyType,
        ]
    }

    override func objectID(_ uniqueIdentifier: String, of entityDescription: NSEntityDescription) -> NSManagedObjectID {
        super.objectID(fault == .unstableURIs ? "\(prefix)\(uniqueIdentifier)" : uniqueIdentifier, of: entityDescription)
    }

    override func uniqueIdentifier(of objectID: NSManagedObjectID) throws -> String {
        let identifier = try super.uniqueIdentifier(of: objectID)
        return fault == .unstableURIs ? String(identifier.dropFirst(4)) : identifier
    }

    // MARK: Requests

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        switch request {
        case let fetch as NSFetchRequest<any NSFetchRequestResult>: try fetched(changed(fetch), with: context)
        case let save as NSSaveChangesRequest: try saved(save, with: context)
        default: try super.execute(request, with: context)
        }
    }

    private func changed(_ fetch: NSFetchRequest<any NSFetchRequestResult>) -> NSFetchRequest<any NSFetchRequestResult> {
        guard let changed = fetch.copy() as? NSFetchRequest<any NSFetchRequestResult> else { return fetch }
        let sorts = fetch.sortDescriptors ?? []
        switch fault {
        case .ignoredSort: changed.sortDescriptors = nil
        case .ignoredDescending: changed.sortDescriptors = sorts.map { NSSortDescriptor(key: $0.key, ascending: true) }
        case .ignoredSecondSort: changed.sortDescriptors = Array(sorts.prefix(1))
        case .ignoredPredicate: changed.predicate = nil
        case .orIsAnd: changed.predicate = rewritten(fetch.predicate, " OR ", " AND ")
        case .caseAlwaysCounts: changed.predicate = rewritten(rewritten(fetch.predicate, "[cd]", "[d]"), "[c]", "")
        case .ignoredLimit: changed.fetchLimit = 0
        case .ignoredOffset: changed.fetchOffset = 0
        case .otherEntity where fetch.entityName == "Department":
            changed.entity = persistentStoreCoordinator?.managedObjectModel.entitiesByName["Employee"]
            (changed.predicate, changed.sortDescriptors) = (nil, nil)
        default: return fetch
        }
        return changed
    }

    private func rewritten(_ predicate: NSPredicate?, _ part: String, _ other: String) -> NSPredicate? {
        predicate.map { NSPredicate(format: $0.formatString.replacingOccurrences(of: part, with: other)) }
    }

    private func fetched(_ fetch: NSFetchRequest<any NSFetchRequestResult>, with context: NSManagedObjectContext?) throws -> Any {
        let answer = try super.execute(fetch, with: context)
        guard let results = answer as? [Any] else { return answer }
        let isCount = fetch.resultType == .countResultType
        switch fault {
        case .duplicateRows where !isCount: return results + results.prefix(1)
        case .missingRow where !isCount: return Array(results.dropLast())
        case .wrongCount where isCount: return [NSNumber(value: ((results.first as? NSNumber)?.intValue ?? 0) + 1)]
        case .otherOrderOfIDs where fetch.resultType == .managedObjectIDResultType: return Array(results.reversed())
        default: return answer
        }
    }

    private func saved(_ save: NSSaveChangesRequest, with context: NSManagedObjectContext?) throws -> Any {
        var (inserted, updated) = (save.insertedObjects ?? [], save.updatedObjects ?? [])
        var deleted = save.deletedObjects ?? []
        switch fault {
        case .lostInsert where inserted.count > 1: inserted.removeFirst()
        case .lostUpdate: updated = []
        case .lostDelete: deleted = []
        case .ignoredNullify where deleted.contains { $0.entity.name == "Department" }: updated = []
        default: break
        }
        let changed = NSSaveChangesRequest(inserted: inserted, updated: updated, deleted: deleted, locked: save.lockedObjects)
        do {
            return try super.execute(changed, with: context)
        } catch {
            switch fault {
            case .swallowedError: return [Any]()
            case .halfAppliedSave:
                try write(inserted)
                throw error
            case .refusedSaveThatWrites:
                try write(updated)
                throw error
            case .unnoticedConflict:
                try write(inserted.union(updated))
                return [Any]()
            default: throw error
            }
        }
    }

    /// Writes objects whatever the versions of their rows.
    private func write(_ objects: Set<NSManagedObject>) throws {
        let changes = try objects.map { object in
            let (key, table) = (try uniqueIdentifier(of: object.objectID), table(object.entity))
            return XYZDatabase.Change(
                table: table, primaryKey: key, expectedVersion: database.peek(table, key)?.version, kind: .write(try columns(of: object)))
        }
        _ = try database.commit(changes)
    }

    // MARK: Faults of objects

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        var asked = objectID
        if fault == .othersValues, let other = try database.primaryKeys(of: table(objectID.entity)).first {
            asked = self.objectID(other, of: objectID.entity)
        }
        let node: NSIncrementalStoreNode
        do {
            node = try super.newValuesForObject(with: asked, with: context)
        } catch {
            guard fault == .deletedRowThatReadsNil else { throw error }
            return NSIncrementalStoreNode(objectID: objectID, withValues: [:], version: 1)
        }
        var values: [String: Any] = [:]
        for (name, property) in objectID.entity.propertiesByName { values[name] = node.value(for: property) }
        if fault == .staleRows {
            let first = firstNodes[objectID] ?? node
            firstNodes[objectID] = first
            return NSIncrementalStoreNode(objectID: objectID, withValues: first.values(of: objectID.entity), version: node.version)
        }
        spoil(&values, objectID.entity)
        return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: fault == .wrongVersion ? 1 : node.version)
    }

    private func spoil(_ values: inout [String: Any], _ entity: NSEntityDescription) {
        let name = values["name"] as? String
        switch fault {
        case .faultThatReadsNil: values = [:]
        case .nilAsDefault where entity.attributesByName["hired"] != nil && values["hired"] == nil:
            values["hired"] = Date(timeIntervalSinceReferenceDate: 0)
        case .truncatedText: values["name"] = name.map { String($0.prefix(255)) }
        case .trimmedText: values["name"] = name?.trimmingCharacters(in: .whitespacesAndNewlines)
        case .lowercasedText: values["name"] = name?.lowercased()
        case .shiftedDates: values["hired"] = (values["hired"] as? Date)?.addingTimeInterval(3600)
        case .numbersThroughDouble:
            if let salary = values["salary"] as? NSNumber { values["salary"] = NSNumber(value: Int64(exactly: salary.doubleValue) ?? 0) }
        case .lostToOne where values["department"] != nil: values["department"] = NSNull()
        default: break
        }
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        let value = try super.newValue(forRelationship: relationship, forObjectWith: objectID, with: context)
        guard let ids = value as? [NSManagedObjectID] else { return fault == .lostToOne ? NSNull() : value }
        switch fault {
        case .lostToMany: return [NSManagedObjectID]()
        case .oneOfToMany: return Array(ids.prefix(1))
        default: return ids
        }
    }

    // MARK: IDs

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        switch fault {
        case .temporaryIDsThatStay: return array.map(\.objectID)
        case .oneIDForAll:
            let ids = try super.obtainPermanentIDs(for: array)
            return ids.map { _ in ids[0] }
        case .reusedIDs:
            var next: [String: Int] = [:]
            return try array.map { object in
                let table = table(object.entity)
                let known = try Set(database.primaryKeys(of: table))
                var number = next[table] ?? 1
                while known.contains("\(table)-\(number)") { number += 1 }
                next[table] = number + 1
                return objectID("\(table)-\(number)", of: object.entity)
            }
        default: return try super.obtainPermanentIDs(for: array)
        }
    }
}

extension NSIncrementalStoreNode {
    fileprivate func values(of entity: NSEntityDescription) -> [String: Any] {
        var values: [String: Any] = [:]
        for (name, property) in entity.propertiesByName { values[name] = value(for: property) }
        return values
    }
}

extension FaultyGuideStore.Fault {
    /// The behaviour that the kit must name.
    var behaviour: String {
        switch self {
        case .ignoredSort, .ignoredDescending: "A sort descriptor orders the objects, ascending and descending"
        case .ignoredSecondSort: "A second sort descriptor orders what the first leaves equal"
        case .ignoredPredicate: "A predicate selects exactly the objects that it matches"
        case .orIsAnd: "AND, OR and NOT combine predicates"
        case .caseAlwaysCounts: "[c] and [d] decide whether case and accents count"
        case .ignoredLimit: "A limit gives so many objects, and the first of them"
        case .ignoredOffset: "Offsets give pages that are disjoint and in order"
        case .duplicateRows, .missingRow: "A fetch finds each object once, and none is missing"
        case .wrongCount: "A count agrees with the fetch"
        case .otherOrderOfIDs: "Objects and IDs of a fetch are the same, in the same order"
        case .otherEntity: "A fetch finds objects of its entity only"
        case .lostInsert: "Every insert of a save is kept"
        case .lostUpdate: "An edit is kept, and only that of the object that was edited"
        case .lostDelete: "Deleting 10 of many leaves the others, here and elsewhere"
        case .ignoredNullify: "The delete rule of the model reaches the store"
        case .halfAppliedSave, .refusedSaveThatWrites, .swallowedError, .unnoticedConflict:
            "What another coordinator has saved is not overwritten, and a refused save writes nothing"
        case .wrongVersion, .staleRows: "Contexts that save in turn, each after reading, do not conflict"
        case .othersValues, .faultThatReadsNil: "Each object reads its own values"
        case .deletedRowThatReadsNil: "A fault whose row was deleted is an error, and never an empty object"
        case .nilAsDefault, .shiftedDates: "Dates come back as they were, and nil as nil"
        case .truncatedText, .trimmedText, .lowercasedText: "Text of any length comes back as it was: spaces, case, emoji, line ends"
        case .numbersThroughDouble: "Large whole numbers come back digit for digit"
        case .lostToOne, .lostToMany, .oneOfToMany: "Both sides of a relationship are kept, and all of its objects"
        case .temporaryIDsThatStay, .oneIDForAll, .reusedIDs: "New objects have IDs of their own, which are not given again"
        case .unstableUUID: "The UUID of a store is the same whenever it is opened"
        case .unstableURIs: "A URI leads to its object after the store was opened again"
        }
    }
}
