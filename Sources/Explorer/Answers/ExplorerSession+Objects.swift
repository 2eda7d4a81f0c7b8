package import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLiteStore
package import StoreCommands

extension ExplorerSession {
    /// The number of related objects in the answer for an object.
    private static let relatedAtFirst = 20

    /// Returns an object with its values, and the first objects of each relationship.
    ///
    /// - Parameter reference: Its reference, such as `Album/p12`.
    /// - Throws: An error if there is no such object.
    package func object(_ reference: String) async throws -> JSONValue {
        try await ask { reading in
            let object = try reading.object(reference)
            let entity = object.entity
            let relationships = try Reading.relationships(entity).map { relationship in
                try Related(relationship, of: object, reading).json(0..<Self.relatedAtFirst)
            }
            let label = Labels.attribute(entity).flatMap { object.value(forKey: $0.name) as? String }
            return .members([
                "id": .string(Reading.reference(object.objectID)), "entity": .string(entity.name ?? ""),
                "uri": .string(object.objectID.uriRepresentation().absoluteString),
                "label": label.map { .string(String($0.prefix(Cells.textInTable))) },
                "unsaved": object.isInserted ? .string("new") : object.isUpdated ? .string("changed") : nil,
                "attributes": .array(Reading.attributes(entity).map { Self.json($0, of: object) }),
                "relationships": .array(relationships),
            ])
        }
    }

    private static func json(_ attribute: NSAttributeDescription, of object: NSManagedObject) -> JSONValue {
        let value = object.value(forKey: attribute.name)
        let json = (value as? Data).map { Cells.json($0) } ?? Cells.json(value, attribute, limit: Cells.textOfObject)
        return .members([
            "name": .string(attribute.name), "type": .string(ModelReport.type(of: attribute)), "optional": .bool(attribute.isOptional),
            "derived": attribute is NSDerivedAttributeDescription ? .bool(true) : nil, "value": json,
        ])
    }

    /// Returns some objects of a relationship.
    ///
    /// - Throws: An error if there is no such object or relationship.
    package func related(_ reference: String, _ name: String, offset: Int, limit: Int) async throws -> JSONValue {
        let start = min(max(0, offset), TableQuestion.mostOffset)
        let page = start..<(start + min(max(1, limit), TableQuestion.mostRows))
        return try await ask { reading in
            let object = try reading.object(reference)
            guard let relationship = object.entity.relationshipsByName[name] else {
                throw ExplorerError(.notFound, "“\(object.entity)” has no relationship “\(name)”.")
            }
            return try Related(relationship, of: object, reading).json(page)
        }
    }

    /// A value as a file.
    package struct File: Sendable {
        package let data: Data
        /// The kind of picture; nil for other bytes, and for text.
        package let picture: PictureKind?
        package let isText: Bool
    }

    /// Returns the whole value of an attribute.
    ///
    /// - Throws: An error if there is no such object, attribute or value.
    package func file(_ reference: String, _ name: String) async throws -> File {
        let box = try await ask { reading in
            let object = try reading.object(reference)
            guard let attribute = object.entity.attributesByName[name], !attribute.isTransient else {
                throw ExplorerError(.notFound, "“\(object.entity)” has no attribute “\(name)”.")
            }
            let value = object.value(forKey: name)
            if let data = value as? Data { return .members(["data": .string(data.base64EncodedString())]) }
            guard value != nil else { throw ExplorerError(.notFound, "“\(name)” has no value.") }
            if case .string(let text) = ValueText.json(value, attribute) { return .members(["text": .string(text)]) }
            return .members(["text": .string(ValueText.json(value, attribute).text())])
        }
        if case .string(let text)? = box["text"] { return File(data: Data(text.utf8), picture: nil, isText: true) }
        guard case .string(let base)? = box["data"], let data = Data(base64Encoded: base) else {
            throw ExplorerError(.notFound, "“\(name)” has no value.")
        }
        return File(data: data, picture: PictureKind(data), isText: false)
    }
}

/// A relationship of an object, which reads only the objects that are shown.
private struct Related {
    private let relationship: NSRelationshipDescription
    private let object: NSManagedObject
    private let reading: Reading

    init(_ relationship: NSRelationshipDescription, of object: NSManagedObject, _ reading: Reading) {
        (self.relationship, self.object, self.reading) = (relationship, object, reading)
    }

    func json(_ page: Range<Int>) throws -> JSONValue {
        let (ids, count, isCapped) = try found(page)
        let labels = try Labels.json(ids, in: reading)
        return .members([
            "name": .string(relationship.name), "destination": .string(relationship.destinationEntity?.name ?? ""),
            "many": .bool(relationship.isToMany), "ordered": relationship.isOrdered ? .bool(true) : nil,
            "optional": .bool(relationship.isOptional), "inverse": (relationship.inverseRelationship?.name).map(JSONValue.string),
            "count": .count(count), "isCapped": .bool(isCapped), "offset": .count(page.lowerBound),
            "objects": .array(ids.map { labels[$0] ?? .null }),
        ])
    }

    private func found(_ page: Range<Int>) throws -> (ids: [NSManagedObjectID], count: Int, isCapped: Bool) {
        if !relationship.isToMany {
            let ids = [(object.value(forKey: relationship.name) as? NSManagedObject)?.objectID].compactMap { $0 }
            return (ids, ids.count, false)
        }
        // With unsaved changes, at least a part of the relationship is in memory.
        if let sqlite = reading.sqlite, !object.isInserted, !reading.context.hasChanges {
            let most = ExplorerSession.countedObjects + 1
            let ids = try sqlite.relatedIDs(of: relationship, for: object.objectID, page: page)
            let count = try sqlite.relatedCount(of: relationship, for: object.objectID, limit: most)
            return (ids, min(count, most - 1), count == most)
        }
        if let found = try pageOfDatabase(page) { return found }
        if let (ids, isLast) = try pageOfService(page) {
            return (ids, page.lowerBound + ids.count, !isLast)
        }
        let all = allIDs()
        let shown = page.clamped(to: 0..<all.count)
        return (Array(all[shown]), all.count, false)
    }

    /// Returns only the shown related objects in a database, and their number, which is capped. Nil if the relationship is ordered, and if it is in
    /// memory with unsaved changes.
    private func pageOfDatabase(_ page: Range<Int>) throws -> (ids: [NSManagedObjectID], count: Int, isCapped: Bool)? {
        guard reading.store.kind == .postgreSQL, !object.isInserted, !reading.context.hasChanges, !relationship.isOrdered,
            let inverse = relationship.inverseRelationship
        else { return nil }
        func request<Result>(_ type: Result.Type) -> NSFetchRequest<Result> {
            let request = NSFetchRequest<Result>(entityName: relationship.destinationEntity?.name ?? "")
            request.predicate = NSPredicate(format: inverse.isToMany ? "ANY %K == %@" : "%K == %@", argumentArray: [inverse.name, object])
            return request
        }
        let ids = request(NSManagedObjectID.self)
        ids.resultType = .managedObjectIDResultType
        ids.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
        (ids.fetchOffset, ids.fetchLimit) = (page.lowerBound, page.count)
        let counted = request(NSManagedObject.self)
        counted.fetchLimit = ExplorerSession.countedObjects + 1
        let count = try reading.context.count(for: counted)
        return (try reading.context.fetch(ids), min(count, ExplorerSession.countedObjects), count > ExplorerSession.countedObjects)
    }

    /// Returns only the shown related objects of a web service; nil if the service does not support that.
    private func pageOfService(_ page: Range<Int>) throws -> (ids: [NSManagedObjectID], isLast: Bool)? {
        guard reading.store.service != nil, !relationship.isOrdered, let inverse = relationship.inverseRelationship, !inverse.isToMany
        else {
            return nil
        }
        let request = NSFetchRequest<NSManagedObject>(entityName: relationship.destinationEntity?.name ?? "")
        request.predicate = NSPredicate(format: "%K == %@", argumentArray: [inverse.name, object])
        request.fetchOffset = page.lowerBound
        request.fetchLimit = page.count + 1
        // Their names are in the same answer.
        request.returnsObjectsAsFaults = false
        guard reading.store.expectedRequests(request, in: reading.context) != nil else { return nil }
        let found = try reading.context.fetch(request)
        return (found.prefix(page.count).map(\.objectID), found.count <= page.count)
    }

    private func allIDs() -> [NSManagedObjectID] {
        switch object.value(forKey: relationship.name) {
        case let set as NSOrderedSet: set.compactMap { ($0 as? NSManagedObject)?.objectID }
        case let set as NSSet: Self.sorted(set.compactMap { ($0 as? NSManagedObject)?.objectID })
        case let set as Set<NSManagedObject>: Self.sorted(set.map(\.objectID))
        default: []
        }
    }

    private static func sorted(_ ids: [NSManagedObjectID]) -> [NSManagedObjectID] {
        ids.map { ($0, Reading.reference($0)) }.sorted { $0.1.localizedStandardCompare($1.1) == .orderedAscending }.map(\.0)
    }
}
