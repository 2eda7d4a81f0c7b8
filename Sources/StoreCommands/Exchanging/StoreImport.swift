internal import Foundation
internal import ObjectGraph
internal import SQLiteStore

/// Imports objects and their relationships from JSON or CSV files into a store, either all of them or none.
package struct StoreImport {
    /// The result of an import or of a trial.
    package struct Outcome: Equatable, Sendable {
        package var added = 0
        package var changed = 0
        package var unchanged = 0
    }

    /// The maximum number of mistakes in an error.
    private static let namedMistakes = 20

    /// An object and its record.
    private struct Item {
        let record: ExchangeRecord
        let object: NSManagedObject
        let isStored: Bool
        /// The related objects in the record.
        var related: [(relationship: NSRelationshipDescription, objects: [NSManagedObject])] = []
    }

    private let place: String
    private let target: ImportTarget
    private let keys: ObjectKeys
    private var items: [Item] = []
    private var mistakes: [ExchangeMistake] = []

    private var store: OpenStore { target.store }

    private init(_ place: String, _ target: ImportTarget, _ key: String?) {
        (self.place, self.target, keys) = (place, target, ObjectKeys(key))
    }

    /// Imports files.
    ///
    /// - Parameters:
    ///   - source: A `.json` or `.csv` file, or a folder of them.
    ///   - place: The store. If there is none, a new one is created by the model.
    ///   - model: A model file, or a store that keeps it; nil for the model that the store keeps.
    ///   - version: The version in a versioned model.
    ///   - entity: The entity of a file whose records do not name it.
    ///   - key: The attribute that identifies objects of the entities that have it. It is an error if none of them has it.
    ///   - writes: Whether the store is written. Otherwise, the import is tried in a copy of the store, or in a new one elsewhere, and nothing is
    ///     changed. In a database, everything but the save is done.
    /// - Returns: The result of the import or of the trial.
    /// - Throws: The mistakes in the files, each with file, line, entity and property, and the errors of the store. Nothing is written then.
    package static func run(
        _ source: String, into place: String, model: String? = nil, version: String? = nil, entity: String? = nil, key: String? = nil,
        writes: Bool
    ) throws -> Outcome {
        let records: [ExchangeRecord]
        do { records = try ExchangeReader.records(at: source, entity: entity) } catch let mistake as ExchangeMistake {
            throw failure([mistake])
        }
        let target = try ImportTarget.open(place, model: model, version: version, writes: writes)
        do {
            var process = StoreImport(place, target, key)
            let outcome = try target.store.read { try process.run(records) }
            try target.finish(at: place)
            return outcome
        } catch {
            target.abandon()
            throw target.renamed(error)
        }
    }

    private static func failure(_ mistakes: [ExchangeMistake]) -> NSError {
        let shown = mistakes.prefix(namedMistakes).map { "\n  \($0)" }.joined()
        let rest = mistakes.count > namedMistakes ? "\n  and \(DisplayText.grouped(mistakes.count - namedMistakes)) more" : ""
        return CommandError.make("Nothing is imported: \(DisplayText.counted(mistakes.count, "mistake")).\(shown)\(rest)")
    }

    private func throwMistakes() throws { if !mistakes.isEmpty { throw Self.failure(mistakes) } }

    /// Calls `body`, and returns its mistake; nil if there is none.
    private static func mistake(
        _ record: ExchangeRecord, _ property: String?, _ body: () throws -> Void
    ) throws -> [ExchangeMistake] {
        do { try body() } catch let mistake as ExchangeValue.Mistake {
            let place = property.map { "\(record.entity).\($0)" } ?? record.entity
            return [ExchangeMistake(place: record.place, property: place, message: mistake.message)]
        }
        return []
    }

    // MARK: The steps

    private mutating func run(_ records: [ExchangeRecord]) throws -> Outcome {
        store.context.transactionAuthor = "coredata import"
        try checkNames(records)
        try throwMistakes()
        try requireKey(records)
        var objects = ImportedObjects(store, identifier: target.identifier, keys: keys)
        try makeObjects(records, &objects)
        try setValues()
        try readRelated(&objects)
        // Mistakes in references are reported together with those in values.
        try throwMistakes()
        setRelated()
        try checkRelated()
        try throwMistakes()
        try validate()
        try throwMistakes()
        let outcome = outcome()
        guard target.isSaved else { return outcome }
        try keepKeys()
        do { try store.context.save() } catch { throw located(error) }
        return outcome
    }

    /// Checks that the model has all entities and properties of the records.
    private mutating func checkNames(_ records: [ExchangeRecord]) throws {
        var known: Set<String> = []
        for record in records {
            let names = record.values.map(\.name)
            guard known.insert(([record.place.file, record.entity] + names).joined(separator: "\u{0}")).inserted else { continue }
            guard let entity = store.model.entitiesByName[record.entity] else {
                let entities = store.model.entities.compactMap(\.name).sorted().joined(separator: ", ")
                mistakes.append(
                    ExchangeMistake(place: record.place, message: "The model has no entity “\(record.entity)”. It has: \(entities)."))
                continue
            }
            if entity.isAbstract {
                mistakes.append(ExchangeMistake(place: record.place, message: "“\(entity)” is abstract: it has no objects of its own."))
            }
            let properties = Set(ExchangeProperties.imported(entity).map(\.name))
            for name in names where !properties.contains(name) {
                let what =
                    entity.propertiesByName[name] == nil
                    ? "“\(entity)” has no property “\(name)”. It has: \(properties.sorted().joined(separator: ", "))."
                    : "“\(name)” is transient, fetched or derived: leave it out."
                // The header of a CSV file is on its first line.
                let isHeader = record.place.file.lowercased().hasSuffix(".csv")
                let place = isHeader ? ExchangeRecord.Place(file: record.place.file, line: 1) : record.place
                mistakes.append(ExchangeMistake(place: place, message: what))
            }
        }
    }

    /// Checks that the attribute of `--key` belongs to an entity of the records or of their references.
    private func requireKey(_ records: [ExchangeRecord]) throws {
        let entities = Set(records.map(\.entity)).sorted().compactMap { store.model.entitiesByName[$0] }
        try keys.require(in: entities, "Nothing is imported") { entity in
            ExchangeProperties.imported(entity).filter { $0 is NSAttributeDescription }.map(\.name)
        }
    }

    private mutating func makeObjects(_ records: [ExchangeRecord], _ objects: inout ImportedObjects) throws {
        var named: Set<ImportedObjects.Identity> = []
        for record in records {
            if let identity = record.id.flatMap(objects.identity) { named.insert(identity) }
            for (name, value) in record.values {
                guard let relationship = store.model.entitiesByName[record.entity]?.relationshipsByName[name] else { continue }
                // An invalid reference is reported when the relationship is set.
                let references = (try? ExchangeValue.references(value, of: relationship)) ?? []
                for reference in references { if let identity = objects.identity(reference) { named.insert(identity) } }
            }
        }
        if !target.isNew { try objects.readStored(named) }
        var made: [Item] = []
        defer { items = made }
        for record in records {
            try Interruption.check()
            guard let entity = store.model.entitiesByName[record.entity] else { continue }
            mistakes += try Self.mistake(record, nil) {
                let (object, isStored) = try objects.object(of: record, entity)
                made.append(Item(record: record, object: object, isStored: isStored))
            }
        }
    }

    private mutating func setValues() throws {
        for item in items {
            try Interruption.check()
            for (name, value) in item.record.values {
                guard let attribute = item.object.entity.attributesByName[name] else { continue }
                mistakes += try Self.mistake(item.record, name) {
                    let value = try ExchangeValue.value(value, of: attribute, inTables: store.hasTables)
                    // An object without a difference to the file is not saved.
                    let isEqual = ValueText.json(item.object.value(forKey: name), attribute) == ValueText.json(value, attribute)
                    if !isEqual { item.object.setValue(value, forKey: name) }
                }
            }
        }
    }

    private mutating func readRelated(_ objects: inout ImportedObjects) throws {
        for (index, item) in items.enumerated() {
            let record = item.record
            for (name, value) in record.values {
                guard let relationship = item.object.entity.relationshipsByName[name] else { continue }
                var related: [NSManagedObject] = []
                mistakes += try Self.mistake(record, name) {
                    related = try ExchangeValue.references(value, of: relationship).map { try objects.object(of: $0, for: relationship) }
                }
                items[index].related.append((relationship, related))
            }
        }
    }

    /// Sets relationships, to-one relationships first, because an order applies to objects that are already related.
    private func setRelated() {
        for isToMany in [false, true] {
            for item in items {
                for (relationship, objects) in item.related where relationship.isToMany == isToMany {
                    if isAs(item.object, relationship, objects) { continue }
                    let value: Any? =
                        !isToMany ? objects.first : relationship.isOrdered ? NSOrderedSet(array: objects) : NSSet(array: objects)
                    item.object.setValue(value, forKey: relationship.name)
                }
            }
        }
    }

    private func isAs(_ object: NSManagedObject, _ relationship: NSRelationshipDescription, _ objects: [NSManagedObject]) -> Bool {
        let ids = objects.map(\.objectID)
        switch object.value(forKey: relationship.name) {
        case nil: return ids.isEmpty
        case let one as NSManagedObject: return ids == [one.objectID]
        case let many as NSOrderedSet: return many.compactMap { ($0 as? NSManagedObject)?.objectID } == ids
        case let many as NSSet: return Set(many.compactMap { ($0 as? NSManagedObject)?.objectID }) == Set(ids)
        case let many as Set<NSManagedObject>: return Set(many.map(\.objectID)) == Set(ids)
        default: return false
        }
    }

    /// Checks that relationships do not contradict other records.
    private mutating func checkRelated() throws {
        for item in items {
            for (relationship, objects) in item.related where !isAs(item.object, relationship, objects) {
                let inverse = relationship.inverseRelationship.map { "“\($0.destinationEntity?.name ?? "").\(relationship.name)”" } ?? ""
                mistakes.append(
                    ExchangeMistake(
                        place: item.record.place, property: "\(item.record.entity).\(relationship.name)",
                        message: objects.count != Set(objects.map(\.objectID)).count
                            ? "An object is there twice."
                            : "Another record says something else: the inverse of \(inverse) must agree with it."))
            }
        }
    }

    private mutating func validate() throws {
        for item in items {
            try Interruption.check()
            if item.isStored, !item.object.hasChanges { continue }
            do { try item.isStored ? item.object.validateForUpdate() : item.object.validateForInsert() } catch {
                let single = error as NSError
                for error in single.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [single] {
                    let property = error.userInfo[NSValidationKeyErrorKey] as? String
                    mistakes.append(
                        ExchangeMistake(
                            place: item.record.place, property: property.map { "\(item.record.entity).\($0)" } ?? item.record.entity,
                            message: error.localizedFailureReason ?? error.localizedDescription))
                }
            }
        }
    }

    private func outcome() -> Outcome {
        var outcome = Outcome()
        for item in items {
            if !item.isStored {
                outcome.added += 1
            } else if item.object.hasChanges {
                outcome.changed += 1
            } else {
                outcome.unchanged += 1
            }
        }
        return outcome
    }

    // MARK: Saving

    /// Gives the objects of a new SQLite store their keys from the files, so that their URIs keep the same end.
    private func keepKeys() throws {
        guard target.isNew, let sqlite = store.store as? SQLiteStore else { return }
        let new = items.compactMap { item -> (root: String, key: Int64, object: NSManagedObject)? in
            guard let end = item.record.id?.split(separator: "/").last, end.first == "p", let key = Int64(end.dropFirst()), key > 0 else {
                return nil
            }
            return (item.object.entity.rootEntity.name ?? "", key, item.object)
        }
        for (_, group) in Dictionary(grouping: new, by: \.root) {
            let sorted = group.sorted { $0.key < $1.key }
            // Objects of several stores may have the same keys. They receive new ones.
            guard zip(sorted, sorted.dropFirst()).allSatisfy({ $0.key < $1.key }) else { continue }
            var run: [NSManagedObject] = []
            for (index, item) in sorted.enumerated() {
                run.append(item.object)
                let isLast = index + 1 == sorted.count || sorted[index + 1].key != item.key + 1
                guard isLast else { continue }
                try sqlite.skipKeys(before: item.key - Int64(run.count) + 1, of: item.object.entity)
                try store.context.obtainPermanentIDs(for: run)
                run = []
            }
        }
    }

    /// Returns the error of a save, with the places of the affected records.
    private func located(_ error: any Error) -> any Error {
        let single = error as NSError
        var objects = (single.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict] ?? []).flatMap(
            \.conflictingObjects)
        for error in single.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [single] {
            if let object = error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject { objects.append(object) }
        }
        let places = items.filter { item in objects.contains { $0 === item.object } }.map { "\($0.record.place)" }
        if places.isEmpty { return error }
        let shown = places.prefix(Self.namedMistakes).joined(separator: "; ")
        return CommandError.make("Nothing is imported: \(shown): \(single.localizedDescription)", cause: error)
    }
}
