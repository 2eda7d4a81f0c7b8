internal import Foundation
package import ObjectGraph
internal import Predicates

/// The text of a query.
package struct QueryText: Sendable {
    package var entity: String
    /// A predicate in the format language.
    package var predicate: String?
    /// Keys to sort by, such as `year,-title`.
    package var sort: String?
    package var limit: Int?
    package var offset: Int?
    /// The columns, such as `title,artist.name`.
    package var columns: String?
    /// Whether objects of subentities are left out.
    package var excludesSubentities: Bool

    package init(
        _ entity: String, where predicate: String? = nil, sort: String? = nil, limit: Int? = nil, offset: Int? = nil,
        columns: String? = nil,
        excludesSubentities: Bool = false
    ) {
        (self.entity, self.predicate, self.sort) = (entity, predicate, sort)
        (self.limit, self.offset, self.columns) = (limit, offset, columns)
        self.excludesSubentities = excludesSubentities
    }
}

/// A query of an open store.
package struct Query {
    package let store: OpenStore
    package let entity: NSEntityDescription
    package let columns: [ColumnPath]
    private let text: QueryText
    /// Whether the limit is 0, so that the result is empty.
    var isEmpty: Bool { text.limit == 0 }
    private let predicate: NSPredicate?
    private let sorts: [NSSortDescriptor]
    /// Further paths of relationships to prefetch, besides those of the columns.
    package var furtherPrefetchedPaths: [String] = []

    /// - Throws: The mistake in the entity, the columns, the order or the predicate, with its place.
    package init(_ text: QueryText, in store: OpenStore) throws {
        self.store = store
        self.text = text
        entity = try store.entity(text.entity)
        columns = try ColumnPath.columns(text.columns, of: entity)
        predicate = try text.predicate.map { [entity] in try Self.predicate($0, of: entity) }
        sorts = try Self.sorts(text.sort, of: entity)
        for (name, number) in [("--limit", text.limit), ("--offset", text.offset)] where (number ?? 0) < 0 {
            throw CommandError.make("The query cannot be executed.", reason: "\(name) is negative.")
        }
    }

    private static func predicate(_ format: String, of entity: NSEntityDescription) throws -> NSPredicate {
        do { return try QueryPredicate.parse(format, of: entity) } catch let error as InvalidPredicateError {
            let marker = error.position.map { "\n  \(format)\n  \(String(repeating: " ", count: max(0, $0)))^" } ?? ""
            throw CommandError.make("The predicate after --where is not valid: \(error.message).\(marker)", cause: error)
        }
    }

    private static func sorts(_ list: String?, of entity: NSEntityDescription) throws -> [NSSortDescriptor] {
        try (list ?? "").split(separator: ",").map { part in
            let text = part.trimmingCharacters(in: .whitespaces)
            let isDescending = text.hasPrefix("-")
            let path = try ColumnPath(isDescending ? String(text.dropFirst()) : text, of: entity)
            return NSSortDescriptor(key: path.properties.isEmpty ? "self" : path.text, ascending: !isDescending)
        }
    }

    /// Returns the request.
    package func request<Result>(_ type: Result.Type) -> NSFetchRequest<Result> {
        let request = NSFetchRequest<Result>(entityName: entity.name ?? "")
        request.predicate = predicate
        request.sortDescriptors = sorts
        request.fetchLimit = text.limit ?? 0
        request.fetchOffset = text.offset ?? 0
        request.includesSubentities = !text.excludesSubentities
        request.allowsEvaluationInMemory = true
        return request
    }

    /// Returns the number of objects, regardless of limit and offset.
    package func count() throws -> Int {
        try store.read {
            let request = request(NSManagedObject.self)
            request.fetchLimit = 0
            request.fetchOffset = 0
            return try store.context.count(for: request)
        }
    }

    /// The paths of relationships that the columns need.
    package var prefetchedPaths: [String] { Array(Set(columns.compactMap(\.prefetchedPath) + furtherPrefetchedPaths)).sorted() }
}
