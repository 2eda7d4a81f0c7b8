internal import Foundation
internal import Predicates

/// Makes the dictionaries that a fetch of ``NSFetchRequestResultType/dictionaryResultType`` asks for out of the rows that match.
///
/// The order is SQL's: group, having, columns, sort, distinct, offset and limit.
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

    /// Whether several rows become one dictionary.
    var isGrouped: Bool { query.isGrouped }

    /// The dictionaries of rows, which are in order already where the request does not group.
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

    /// The rows by the values that the request groups by, in the order in which these first come; one group where it groups by nothing.
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
    /// The same descriptor for another key.
    fileprivate func keyed(_ key: String) -> NSSortDescriptor {
        hasComparator
            ? NSSortDescriptor(key: key, ascending: ascending, comparator: comparator)
            : NSSortDescriptor(key: key, ascending: ascending, textOrder: textOrder)
    }
}
