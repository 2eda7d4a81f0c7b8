internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries
package import StoreCommands

extension ExplorerSession {
    /// The maximum of a count: a page shows “1,000+”.
    package static let countedObjects = 1_000

    /// Returns some rows of a table. Only the shown columns are read.
    ///
    /// - Throws: The mistake in the question, with its place.
    package func rows(_ question: TableQuestion) async throws -> JSONValue {
        try await ask { reading in try Table(question, reading).json() }
    }

    /// Returns the number of objects of a table; null if a web service does not count them.
    ///
    /// - Parameter isExact: Whether to count all objects; otherwise counting stops at ``countedObjects``.
    /// - Throws: The mistake in the question, with its place.
    package func count(_ question: TableQuestion, isExact: Bool) async throws -> JSONValue {
        try await ask { reading in
            let request = try Table(question, reading).request(NSManagedObject.self)
            request.sortDescriptors = []
            request.fetchOffset = 0
            request.fetchLimit = isExact ? 0 : Self.countedObjects + 1
            do {
                // A service that does not count would send all objects: the pages reveal the number one by one.
                guard reading.store.counts(request, in: reading.context) else {
                    return .members(["count": .null, "isCapped": .bool(true)])
                }
                let count = try reading.context.count(for: request)
                let isCapped = !isExact && count > Self.countedObjects
                return .members(["count": .count(isCapped ? Self.countedObjects : count), "isCapped": .bool(isCapped)])
            } catch { throw ExplorerError.located(error, in: question.predicate) }
        }
    }
}

/// A part of a table.
private struct Table {
    private let question: TableQuestion
    private let reading: Reading
    private let entity: NSEntityDescription
    private let columns: [ColumnPath]
    private let query: Query

    init(_ question: TableQuestion, _ reading: Reading) throws {
        (self.question, self.reading) = (question, reading)
        let entity = try reading.store.entity(question.entity)
        _ = try question.predicate.map { try ExplorerError.predicate($0, of: entity) }
        let list = question.columns ?? Self.ordinaryColumns(entity).joined(separator: ",")
        query = try Query(
            QueryText(
                question.entity, where: question.predicate, sort: question.sort, limit: question.limit, offset: question.offset,
                columns: list), in: reading.store)
        self.entity = entity
        // Of columns with the same name, only the first is kept.
        var names: Set<String> = []
        columns = query.columns.filter { names.insert($0.text).inserted }
    }

    /// Returns the initial columns, without binary data, which may be large.
    private static func ordinaryColumns(_ entity: NSEntityDescription) -> [String] {
        let attributes = Reading.attributes(entity).filter {
            ![.binaryDataAttributeType, .transformableAttributeType].contains($0.attributeType)
        }
        // The attribute that names an object comes first.
        let label = Labels.attribute(entity)?.name
        let names = attributes.map(\.name)
        return names.filter { $0 == label } + names.filter { $0 != label }
            + Reading.relationships(entity).filter { !$0.isToMany }.map(\.name)
    }

    func request<Result>(_ type: Result.Type) -> NSFetchRequest<Result> {
        let request = query.request(type)
        // The pages of a service have its own order: with another one, each page would need all objects.
        if reading.store.service != nil { return request }
        // With a unique order, pages do not overlap if rows are equal.
        request.sortDescriptors = (request.sortDescriptors ?? []) + [NSSortDescriptor(key: "self", ascending: true)]
        return request
    }

    func json() throws -> JSONValue {
        do {
            let rows = try rows()
            let related = rows.flatMap { row in row.values.compactMap { $0 as? NSManagedObjectID } }
            let labels = try Labels.json(related, in: reading)
            return .members([
                "entity": .string(entity.name ?? ""), "columns": .array(columns.map(Self.json)), "offset": .count(question.offset),
                "rows": .array(
                    rows.map { row in
                        .members([
                            "id": .string(Reading.reference(row.id)), "entity": .string(row.id.entity.name ?? ""),
                            "cells": .array(zip(columns, row.values).map { Self.cell($1, $0, labels) }),
                        ])
                    }),
            ])
        } catch { throw ExplorerError.located(error, in: question.predicate) }
    }

    private struct Row {
        let id: NSManagedObjectID
        let values: [Any?]
    }

    private func rows() throws -> [Row] {
        if !reading.context.hasChanges, reading.store.service == nil {
            do { return try dictionaries() } catch  where SQLQueryError.isUntranslatable(error) {
                // The clause is evaluated in memory, on objects.
            }
        }
        let request = request(NSManagedObject.self)
        request.relationshipKeyPathsForPrefetching = query.prefetchedPaths
        request.returnsObjectsAsFaults = false
        return try reading.context.fetch(request).map { object in
            Row(
                id: object.objectID,
                values: columns.map { column in
                    let value = column.value(of: object).value
                    if column.isCount { return Self.count(value) }
                    return (value as? NSManagedObject)?.objectID ?? value
                })
        }
    }

    /// Reads only the shown columns.
    private func dictionaries() throws -> [Row] {
        let request = request(NSDictionary.self)
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["objectID"] + columns.filter { !$0.properties.isEmpty }.map(\.text)
        return try reading.context.fetch(request).compactMap { row in
            guard let id = row["objectID"] as? NSManagedObjectID else { return nil }
            return Row(id: id, values: columns.map { $0.properties.isEmpty ? id : row[$0.text] })
        }
    }

    private static func count(_ value: Any?) -> Int {
        switch value {
        case let set as NSOrderedSet: set.count
        case let set as NSSet: set.count
        case let set as Set<NSManagedObject>: set.count
        default: 0
        }
    }

    private static func cell(_ value: Any?, _ column: ColumnPath, _ labels: [NSManagedObjectID: JSONValue]) -> JSONValue {
        if let id = value as? NSManagedObjectID { return labels[id] ?? .null }
        return Cells.json(value, column.isCount ? nil : column.properties.last as? NSAttributeDescription, limit: Cells.textInTable)
    }

    private static func json(_ column: ColumnPath) -> JSONValue {
        let kind =
            column.isCount
            ? "count"
            : column.properties.isEmpty || column.properties.last is NSRelationshipDescription
                ? "object" : (column.properties.last as? NSAttributeDescription).map(ModelReport.type) ?? ""
        return .members(["path": .string(column.text), "type": .string(kind)])
    }
}
