internal import Foundation
@_spi(Stores) package import ObjectGraph
internal import Predicates

/// The SQL statement that serves every fetch request of a shape, and the form of its columns.
// Immutable.
package final class SQLFetchPlan: @unchecked Sendable {
    /// The result of the statement.
    package enum Answer {
        /// The columns of complete rows: their key, entity and version, and the columns that the store requested.
        case rows
        /// Keys and entity numbers.
        case ids
        /// A single number.
        case count
        case dictionaries([SQLResultColumn])
    }

    package let entity: SQLEntity
    package let sql: String
    package let bindings: [SQLBinding]
    package let answer: Answer
    /// Whether a binding is the time of execution.
    let readsClock: Bool

    init(entity: SQLEntity, statement: SQLFragment, dialect: any SQLDialect, answer: Answer) {
        self.entity = entity
        sql = statement.sql(dialect.placeholders)
        bindings = statement.bindings
        readsClock = bindings.contains { if case .now = $0 { true } else { false } }
        self.answer = answer
    }
}

/// A statement with the values of a request.
package struct SQLQuery {
    package let plan: SQLFetchPlan
    package let values: SQLRequestValues
}

/// A value of a dictionary, and its place in the statement's columns.
package struct SQLResultColumn {
    package enum Reading {
        /// A value of a kind.
        case value(SQLKind)
        /// A key; and the number of its entity in the next column if there may be several.
        case object(SQLEntity, hasNumber: Bool)
        /// An attribute whose column only the store can read.
        case stored(SQLStorage, NSAttributeDescription)
    }
    package let column: FetchColumn
    package let index: Int
    package let reading: Reading
}

/// The aspects of a fetch request that its statement depends on.
struct SQLFetchShape {
    /// The shape; nil for a request that has none because it contains code.
    let key: [UInt8]?
    /// The constants in the order of ``SQLFetchTranslator``.
    let constants: [PropertyValue]
    private let details: [PredicateShape.Detail]
    /// The aspects of the constants that the statement depends on.
    var classes: [SQLConstantClass] { zip(constants, details).map { SQLConstantClass($0, $1) } }

    /// - Throws: The error of a predicate that did not parse, and of a key path without a name.
    init(_ request: StoreQuery, _ parts: SQLFetchParts) throws {
        var shape = PredicateShape(classify: SQLConstantClass.write)
        withUnsafeBytes(of: ObjectIdentifier(request.entity)) { bytes in for byte in bytes { shape.append(byte) } }
        shape.append(UInt8(truncatingIfNeeded: request.resultType.rawValue))
        shape.append(
            (request.includesSubentities ? 1 : 0) | (request.fetchLimit > 0 || request.fetchOffset > 0 ? 2 : 0)
                | (request.returnsDistinctResults ? 4 : 0) | (parts.predicate == nil ? 0 : 8) | (parts.having == nil ? 0 : 16))
        if let predicate = parts.predicate { shape.append(predicate) }
        shape.append(UInt8(truncatingIfNeeded: parts.orders.count))
        for order in parts.orders {
            shape.append(order.keyPath)
            shape.append((order.ascending ? 1 : 0) | order.order.code << 1)
        }
        if request.resultType == .dictionaryResultType {
            for columns in [parts.columns, parts.groupedBy] {
                shape.append(UInt8(truncatingIfNeeded: columns.count))
                for column in columns {
                    shape.append(column.name)
                    shape.append(column.expression)
                    // The plan contains the type of the column.
                    shape.append("\(column.type?.rawValue ?? 0)")
                }
            }
            if let having = parts.having { shape.append(having) }
        }
        key = shape.isUnique ? nil : shape.key
        constants = shape.constants
        details = shape.details
    }
}

extension TextOrder {
    fileprivate var code: UInt8 {
        switch self {
        case .binary: 0
        case .caseInsensitive: 1
        case .localized: 2
        case .localizedCaseInsensitive: 3
        case .localizedStandard: 4
        }
    }
}

/// A sort descriptor that SQL supports.
struct SQLOrder {
    let keyPath: String
    let ascending: Bool
    let order: TextOrder
}

/// The trees of a request.
struct SQLFetchParts {
    var predicate: PredicateTree?
    var orders: [SQLOrder] = []
    var columns: [FetchColumn] = []
    var groupedBy: [FetchColumn] = []
    var having: PredicateTree?

    /// - Throws: The error of a predicate that did not parse; code 134060 for unknown columns; an error for a comparator, which has no
    ///   SQL.
    init(_ request: StoreQuery, _ dialect: any SQLDialect) throws {
        predicate = try request.predicate?.tree()
        // SQL has entities, and no classes.
        if let tree = predicate, tree.testsClasses {
            let entities = request.entity.managedObjectModel?.entities ?? [request.entity]
            predicate = tree.replacingClassTests { accepts in entities.filter { accepts($0.predicateClass) } }
        }
        // A count does not depend on the order, unless there is an offset or limit.
        if request.resultType != .countResultType {
            for descriptor in request.sortDescriptors {
                guard let order = try descriptor.storeOrder() else {
                    throw SQLQueryError.untranslatable(
                        "sorted by \(descriptor)", "A comparator of the program's own runs in memory only.", by: dialect.name)
                }
                orders.append(SQLOrder(keyPath: order.keyPath, ascending: order.ascending, order: order.order))
            }
        }
        guard request.resultType == .dictionaryResultType else { return }
        columns = request.columns
        groupedBy = request.groupedBy
        having = try request.havingPredicate?.tree()
    }

    /// Gives each constant its number, in the order of ``SQLFetchShape``.
    mutating func numberConstants() {
        var next = 0
        predicate = predicate?.numberingConstants(from: &next)
        columns = columns.map { $0.replacing($0.expression.numberingConstants(from: &next)) }
        groupedBy = groupedBy.map { $0.replacing($0.expression.numberingConstants(from: &next)) }
        having = having?.numberingConstants(from: &next)
    }

    /// Whether several rows are combined in one dictionary.
    var isGrouped: Bool { !groupedBy.isEmpty || columns.contains { $0.expression.isOverRows } }
}
