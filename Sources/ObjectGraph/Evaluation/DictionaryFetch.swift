internal import Foundation
internal import Predicates

/// Creates the results of a fetch with ``NSFetchRequestResultType/dictionaryResultType`` from the matching rows.
///
/// The order of the steps is SQL's: group, having, columns, sort, distinct, offset and limit.
struct DictionaryFetch {
    private let query: StoreQuery
    private let schema: RowSchema
    private let columns: [FetchColumn]
    private let groupedBy: [FetchColumn]

    init(_ query: StoreQuery, _ schema: RowSchema) {
        self.query = query
        self.schema = schema
        columns = query.columns
        groupedBy = query.groupedBy
    }

    /// Whether several rows are combined in one dictionary.
    var isGrouped: Bool { query.isGrouped }

    /// Returns the dictionaries of rows, which are sorted already unless the request groups them.
    func results(_ rows: [Row]) throws -> [NSDictionary] {
        query.distinctPage(isGrouped ? try ofGroups(rows) : try ofEach(rows))
    }

    private func ofEach(_ rows: [Row]) throws -> [NSDictionary] {
        let paths = try columns.map { ($0, try CompiledKeyPath($0.expression, for: schema)) }
        return try rows.map { row in try dictionary(paths.map { ($0, try $1.value(of: row.subject)) }) }
    }

    private func dictionary(_ values: [(FetchColumn, PropertyValue)]) throws -> NSDictionary {
        let dictionary = NSMutableDictionary()
        for (column, value) in values {
            if let value = try column.publicValue(value) { dictionary.setObject(value, forKey: column.name as NSString) }
        }
        return dictionary
    }

    private func ofGroups(_ rows: [Row]) throws -> [NSDictionary] {
        var groups = try groups(rows)
        let groupSchema = GroupSchema(rows: schema, groupedBy: groupedBy.map(\.expression))
        for column in columns { try groupSchema.add(column) }
        if let having = query.havingPredicate {
            let condition = try groupSchema.rewritten(having.tree()).compiled(for: groupSchema)
            groups = try groups.filter { try condition.matches($0.subject) }
        }
        if !query.sortDescriptors.isEmpty {
            let keyed = try query.sortDescriptors.map { descriptor in
                try descriptor.key.map { descriptor.keyed(try groupSchema.sortKey($0)) } ?? descriptor
            }
            let sort = try CompiledSort(keyed, for: groupSchema)
            groups = groups.permuted(by: try sort.sortedIndices(count: groups.count) { groups[$0].subject })
        }
        let paths = try columns.map { ($0, try CompiledKeyPath(.keyPath([$0.name]), for: groupSchema)) }
        return try groups.map { group in try dictionary(paths.map { ($0, try $1.value(of: group.subject)) }) }
    }

    /// Groups the rows by the values of the request's grouping, in the order of their first occurrence; one group without a grouping.
    private func groups(_ rows: [Row]) throws -> [RowGroup] {
        if groupedBy.isEmpty { return [RowGroup(rows)] }
        let paths = try groupedBy.map { try CompiledKeyPath($0.expression, for: schema) }
        var groups: [RowGroup] = []
        var places: [[PropertyValue]: Int] = [:]
        for row in rows {
            let values = try paths.map { try $0.value(of: row.subject) }
            if let place = places[values] {
                groups[place].rows.append(row)
            } else {
                places[values] = groups.count
                groups.append(RowGroup([row]))
            }
        }
        return groups
    }
}

extension NSSortDescriptor {
    /// Returns the descriptor for another key.
    fileprivate func keyed(_ key: String) -> NSSortDescriptor {
        hasComparator
            ? NSSortDescriptor(key: key, ascending: ascending, comparator: comparator)
            : NSSortDescriptor(key: key, ascending: ascending, textOrder: textOrder)
    }
}
