internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Translates a fetch request to one SELECT.
struct SQLFetchTranslator {
    private let request: StoreQuery
    private let entity: SQLEntity
    private let rowColumns: [SQLIdentifier]
    private let parts: SQLFetchParts
    private let scope: SQLScope
    private let dialect: any SQLDialect
    private let translator: SQLTranslator
    /// The columns of the SELECT so far.
    private var selected: [SQLFragment] = []
    /// The attributes among the columns of distinct rows, by their key paths: a sort key must be spelled as its column is.
    private var distinct: [String: SQLTerm] = [:]

    /// - Parameter rowColumns: The columns of complete rows, after key, entity and version.
    init(
        _ request: StoreQuery, _ parts: SQLFetchParts, constants: [SQLConstantClass], schema: SQLSchema,
        dialect: any SQLDialect, entity: SQLEntity, rowColumns: [SQLIdentifier]
    ) {
        self.request = request
        self.entity = entity
        self.rowColumns = rowColumns
        var numbered = parts
        numbered.numberConstants()
        self.parts = numbered
        self.dialect = dialect
        scope = SQLScope(dialect)
        translator = SQLTranslator(schema: schema, dialect: dialect, constants: constants, entity: entity, scope: scope)
    }

    /// Returns the plan.
    ///
    /// - Throws: ``InvalidPredicateError`` for a request that no store can answer, ``SQLQueryError`` for a request that SQL cannot express.
    mutating func plan() throws -> SQLFetchPlan {
        let conditions = try conditions()
        switch request.resultType {
        case .dictionaryResultType: return try dictionaries(conditions)
        case .countResultType: return count(conditions)
        case .managedObjectIDResultType: selected = [entity.identity.key, entity.identity.entity].map(column)
        default: selected = (entity.identity.all + rowColumns).map(column)
        }
        var statement = try body("SELECT \(selected.joined(by: ", "))", conditions, orders: try orders())
        statement += page
        return SQLFetchPlan(
            entity: entity, statement: statement, dialect: dialect, answer: request.resultType == .managedObjectIDResultType ? .ids : .rows)
    }

    private func column(_ name: SQLIdentifier) -> SQLFragment { "\(SQLAlias(number: 0)).\(name)" }

    private func conditions() throws -> [SQLFragment] {
        var conditions: [SQLFragment] = []
        if let predicate = parts.predicate { conditions.append("(\(try translator.predicate(predicate)))") }
        if let numbers = entity.requiredNumbers(includingSubentities: request.includesSubentities) {
            let values = numbers.map { "\(SQLBinding.integer($0))" as SQLFragment }.joined(by: ", ")
            conditions.append(
                numbers.count == 1 ? "\(column(entity.identity.entity)) = \(values)" : "\(column(entity.identity.entity)) IN (\(values))")
        }
        return conditions
    }

    /// Composes a statement once no further table can be joined.
    private func body(_ select: SQLFragment, _ conditions: [SQLFragment], orders: SQLFragment = "") throws -> SQLFragment {
        var statement = select
        statement += " FROM "
        statement += scope.tables
        if !conditions.isEmpty {
            statement += " WHERE "
            statement += conditions.joined(by: " AND ")
        }
        statement += orders
        return statement
    }

    private var isPaged: Bool { request.fetchLimit > 0 || request.fetchOffset > 0 }
    private var page: SQLFragment { isPaged ? dialect.page : "" }

    private func count(_ conditions: [SQLFragment]) -> SQLFetchPlan {
        var statement: SQLFragment = isPaged ? "SELECT 1 FROM " : "SELECT COUNT(*) FROM "
        statement += scope.tables
        if !conditions.isEmpty { statement += " WHERE \(conditions.joined(by: " AND "))" }
        if isPaged { statement = "SELECT COUNT(*) FROM (\(statement)\(page))\(dialect.subqueryName)" }
        return SQLFetchPlan(entity: entity, statement: statement, dialect: dialect, answer: .count)
    }

    // MARK: Order

    private func orders() throws -> SQLFragment {
        var terms: [SQLFragment] = []
        for order in parts.orders {
            translator.place = "sorted by \(order.keyPath)"
            let operand = try operand(sortedBy: order.keyPath)
            guard let term = try term(of: operand, order) else { continue }
            terms.append(dialect.sorted(term, ascending: order.ascending))
        }
        if terms.isEmpty { terms = usualOrder }
        if isPaged, !parts.orders.isEmpty, request.resultType != .dictionaryResultType { terms.append(tieBreak) }
        return terms.isEmpty ? "" : " ORDER BY \(terms.joined(by: ", "))"
    }

    /// The last term of a sorted page: pages are read by statements of their own, which must order equal rows alike. An index by the last
    /// sort key has its rows in this order, whichever way it is read.
    private var tieBreak: SQLFragment {
        parts.orders.last?.ascending ?? true ? column(entity.identity.key) : "\(column(entity.identity.key)) DESC"
    }

    /// All objects are sorted by their keys, which is the order of the table. If a condition excludes some, an index may be faster.
    private var usualOrder: [SQLFragment] {
        parts.predicate == nil && request.resultType == .managedObjectResultType ? [column(entity.identity.key)] : []
    }

    private func operand(sortedBy keyPath: String) throws -> SQLOperand {
        // The name of a column may contain dots, like that of a path.
        if let column = translator.grouping?.columns[keyPath] ?? distinct[keyPath] { return .term(column) }
        return try translator.operand(.path(keyPath))
    }

    /// Returns the ordering term; nil if all rows are equal.
    private func term(of operand: SQLOperand, _ order: SQLOrder) throws -> SQLFragment? {
        switch operand {
        case .object(let object):
            // Objects are unordered, but missing ones come first.
            return object.row?.number == 0 ? nil : "\(object.key) IS NOT NULL"
        case .many, .list, .constants:
            throw InvalidPredicateError(
                kind: .unsupported, message: "Nothing can be sorted by a path over a to-many relationship: \(order.keyPath)")
        case .term(let term):
            switch term.kind {
            case .null, .entity: return nil
            case .object, .anyObject: return "\(term.sql) IS NOT NULL"
            case .opaque: throw translator.unsupported("What a transformer made of a value has no order.")
            case .number, .text, .date, .data, .uuid, .url:
                return try translator.known(dialect.sortKey(term, order.order), "that order of \(term.kind.name)")
            }
        }
    }

    // MARK: Dictionaries

    private mutating func dictionaries(_ conditions: [SQLFragment]) throws -> SQLFetchPlan {
        var grouped: SQLFragment = ""
        if parts.isGrouped {
            translator.place = "propertiesToGroupBy"
            let keys = try parts.groupedBy.map { ($0.expression.withoutNumbers, try translator.operand($0.expression)) }
            if !keys.isEmpty {
                let terms = try keys.flatMap { try groupTerms(of: $0.1) }
                grouped = " GROUP BY \(terms.joined(by: ", "))"
            }
            translator.grouping = SQLGrouping(keys: keys)
        }
        var columns: [SQLResultColumn] = []
        for column in parts.columns {
            translator.place = column.name
            translator.grouping?.place = column.name
            if isUnstored(column) { continue }
            columns.append(try select(column))
        }
        if selected.isEmpty { selected = ["NULL"] }
        translator.grouping?.readsColumns = true
        if let having = parts.having {
            translator.grouping?.place = "havingPredicate"
            grouped += " HAVING \(try translator.predicate(having))"
        }
        translator.grouping?.place = "sortDescriptors"
        let orders = try orders()
        let select: SQLFragment = request.returnsDistinctResults ? "SELECT DISTINCT " : "SELECT "
        var statement = try body("\(select)\(selected.joined(by: ", "))", conditions)
        statement += grouped
        statement += orders
        statement += page
        return SQLFetchPlan(entity: entity, statement: statement, dialect: dialect, answer: .dictionaries(columns))
    }

    /// Returns the columns of a group's value: an object that may be of several entities has one for its entity.
    private func groupTerms(of operand: SQLOperand) throws -> [SQLFragment] {
        let value = try translator.term(operand).sql
        guard case .object(let object) = operand, object.entity.numbers.count > 1 else { return [value] }
        return [value, entityNumber(of: object)]
    }

    private func entityNumber(of object: SQLObject) -> SQLFragment { "\(translator.row(of: object)).\(object.entity.identity.entity)" }

    /// Returns whether a column is a default column that is not stored.
    private func isUnstored(_ column: FetchColumn) -> Bool {
        guard !request.namesColumns, let property = entity.entity.frozen?.byName[column.name] else { return false }
        if case .unstored = entity[property] { return true }
        return false
    }

    private mutating func select(_ column: FetchColumn) throws -> SQLResultColumn {
        let operand = try translator.operand(column.expression)
        let index = selected.count
        var reading: SQLResultColumn.Reading
        switch operand {
        case .object(let object):
            selected.append(object.key)
            let isOne = object.entity.numbers.count == 1
            if !isOne { selected.append(entityNumber(of: object)) }
            reading = .object(object.entity, hasNumber: !isOne)
        case .term(let term):
            selected.append(term.sql)
            reading = .value(term.kind)
            switch term.kind {
            case .opaque:
                guard let attribute = attribute(at: column.expression) else {
                    throw translator.unsupported("What a transformer made of a value is read as an attribute only.")
                }
                reading = attribute
            case .object, .anyObject, .entity:
                throw translator.unsupported("A calculation that gives an object has no SQL.")
            default: break
            }
            translator.grouping?.columns[column.name] = term
            if request.returnsDistinctResults, column.expression.withoutNumbers == .path(column.name) { distinct[column.name] = term }
        case .many, .list, .constants:
            throw translator.unsupported(
                "A collection is not a value of a dictionary in SQL: ask for its @count, or for what a function makes of it.")
        }
        return SQLResultColumn(column: column, index: index, reading: reading)
    }

    /// Returns the attribute at the end of a path.
    private func attribute(at expression: ExpressionTree) -> SQLResultColumn.Reading? {
        guard case .keyPath(let keys) = expression else { return nil }
        var current: NSEntityDescription? = entity.entity
        for key in keys.dropLast() {
            current = (current?.frozen?.byName[key] as? NSRelationshipDescription)?.destinationEntity
        }
        guard let place = current.flatMap(translator.schema.entity), let key = keys.last,
            let attribute = place.entity.frozen?.byName[key] as? NSAttributeDescription, case .attribute(let stored) = place[attribute]
        else { return nil }
        return .stored(stored.storage, attribute)
    }
}
