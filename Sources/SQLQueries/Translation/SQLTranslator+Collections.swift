internal import Foundation
internal import Predicates

extension SQLCollection.Element {
    var operand: SQLOperand {
        switch self {
        case .object(let object): .object(object)
        case .term(let term): .term(term)
        }
    }
}

extension SQLTranslator {
    /// Returns an operand as a collection; nil instead of one has no elements.
    func many(_ operand: SQLOperand) throws -> SQLCollection {
        switch operand {
        case .many(let many): return many
        case .constants(let constant): return try many(constant)
        case .list(let operands): return try many(operands.map { try term($0) })
        case .term(let term) where term.isNull: return try many([] as [SQLTerm])
        case .term(let term): throw invalid(.unsupported, "\(term.kind.name) is not a collection")
        case .object: throw invalid(.unsupported, "An object is not a collection")
        }
    }

    /// Returns a collection of values.
    func many(_ terms: [SQLTerm]) throws -> SQLCollection {
        let (values, kind) = try unified(terms)
        let scope = SQLScope(dialect)
        let alias = nextAlias()
        if values.isEmpty {
            scope.add("(SELECT NULL AS value WHERE \(dialect.falseCondition)) \(alias)")
        } else {
            scope.add("(\(values.map { "SELECT \($0) AS value" as SQLFragment }.joined(by: " UNION ALL "))) \(alias)")
        }
        return SQLCollection(scope: scope, conditions: [], element: .term(SQLTerm(sql: "\(alias).value", kind: kind)))
    }

    private func many(_ constant: SQLConstant) throws -> SQLCollection {
        let (form, kind) = try list(constant)
        let scope = SQLScope(dialect)
        let list = dialect.elements(of: .constant(constant.number, .list(form)), as: nextAlias())
        scope.add(list.table)
        return SQLCollection(
            scope: scope, conditions: [], element: .term(SQLTerm(sql: list.value, kind: kind)),
            order: constant.shape.elements.contains(.unordered) ? nil : list.position)
    }

    /// Returns the form in which a collection of constants is bound.
    private func list(_ constant: SQLConstant) throws -> (SQLListForm, SQLKind) {
        let elements = constant.shape.elements
        let kinds = elements.intersection([.number, .notANumber, .text, .date, .data, .uuid, .url, .object, .entity, .other])
        switch kinds {
        case []: return (.plainTexts, .null)
        case .number:
            let isDecimal = !elements.isDisjoint(with: [.decimal, .longDecimal])
            return isDecimal ? (.anyNumbers, .number(.any)) : (.numbers, .number(.plain))
        case .text: return (.plainTexts, .text)
        case .date: return (.dates, .date)
        case .data: return (.data, .data)
        case .uuid: return (.uuids, .uuid)
        case .url: return (.urls, .url)
        default: throw unsupported("The elements of a collection are of several kinds, or are objects.")
        }
    }

    // MARK: Collection operators

    /// Translates a collection operator such as `@count`.
    func collectionOperator(_ name: String, _ rest: ArraySlice<String>, of operand: SQLOperand) throws -> SQLOperand {
        if name == "@count" {
            guard rest.isEmpty else { throw invalid(.unsupported, "Nothing can follow @count") }
            return .term(try count(operand))
        }
        guard SQLAggregate(operator: name) != nil || SQLAggregate.collections.contains(name) else {
            throw invalid(.unsupported, "The collection operator \(name) is unknown")
        }
        if case .object = operand { throw invalid(.unsupported, "A collection operator needs a collection") }
        var values = try many(operand)
        if rest.contains(where: { $0.hasPrefix("@") }) {
            values.element = .term(try term(translate(path: rest, from: values.element.operand)))
        } else {
            values = try many(translate(path: rest, from: .many(values)))
        }
        if let aggregate = SQLAggregate(operator: name) { return .term(try self.aggregate(aggregate, of: values)) }
        values.leavesOutNil = true
        return .many(name.hasPrefix("@distinct") ? try distinct(values) : values)
    }

    private func count(_ operand: SQLOperand) throws -> SQLTerm {
        switch operand {
        case .many(let many): return SQLTerm(count: many.count(), of: many.from())
        case .constants(let constant):
            let list = dialect.elements(of: .constant(constant.number, .size), as: nil)
            return SQLTerm(sql: "(SELECT COUNT(*) FROM \(list.table))", kind: .number(.integer))
        case .list(let elements): return SQLTerm(sql: "\(SQLBinding.integer(Int64(elements.count)))", kind: .number(.integer))
        case .term(let term) where term.isNull: return .zero
        case .term, .object: throw invalid(.unsupported, "@count needs a collection")
        }
    }

    /// Returns the distinct elements.
    private func distinct(_ many: SQLCollection) throws -> SQLCollection {
        let scope = SQLScope(dialect)
        let alias = nextAlias()
        let value = many.value
        let column = try known(dialect.distinct(value), "distinct values of \(value.kind.name)")
        scope.add("(SELECT DISTINCT \(column) AS value\(many.from())) \(alias)")
        if case .object(let object) = many.element {
            let object = SQLObject(entity: object.entity, key: "\(alias).value", scope: scope, row: nil)
            return SQLCollection(scope: scope, conditions: [], element: .object(object))
        }
        let term = SQLTerm(sql: "\(alias).value", kind: value.kind, isStoredDate: value.isStoredDate)
        return SQLCollection(scope: scope, conditions: [], element: .term(term))
    }

    // MARK: Sets

    /// Translates a set operator such as `UNION`: equal elements are one, and numbers are compared by value.
    func setOperation(_ operation: ExpressionTree.SetOperator, _ left: SQLCollection, _ right: SQLCollection) throws -> SQLCollection {
        let (_, kind) = try unified([left.value, right.value])
        func column(_ term: SQLTerm) throws -> SQLFragment { try known(dialect.member(term, of: kind), "sets of \(kind.name)") }
        let first: SQLFragment = "SELECT \(try column(left.value)) AS value\(left.from())"
        let second: SQLFragment = "SELECT \(try column(right.value)) AS value\(right.from())"
        let word: SQLFragment =
            switch operation {
            case .union: " UNION "
            case .intersect: " INTERSECT "
            case .minus: " EXCEPT "
            }
        let scope = SQLScope(dialect)
        let alias = nextAlias()
        scope.add("(\(first)\(word)\(second)) \(alias)")
        if case .object(let entity) = kind, let table = schema.entity(entity) {
            let object = SQLObject(entity: table, key: "\(alias).value", scope: scope, row: nil)
            return SQLCollection(scope: scope, conditions: [], element: .object(object))
        }
        var result = kind
        if case .number(let form) = kind { result = .number(form == .decimal ? .any : form) }
        return SQLCollection(scope: scope, conditions: [], element: .term(SQLTerm(sql: "\(alias).value", kind: result)))
    }

    /// Returns the elements of a collection that match.
    func subquery(_ collection: ExpressionTree, _ name: String, _ condition: PredicateTree) throws -> SQLCollection {
        var source = try many(operand(collection))
        let outer = variables[name]
        variables[name] = source.element.operand
        defer { variables[name] = outer }
        source.conditions.append("(\(try predicate(condition)))")
        return source
    }

    // MARK: Elements

    /// Translates `names[0]`, `names[FIRST]` and similar expressions.
    func element(_ collection: SQLOperand, _ index: ExpressionTree.ElementIndex) throws -> SQLTerm {
        if case .term(let term) = collection, term.isNull { return .unknown }
        if case .size = index {
            if case .object = collection { throw invalid(.unsupported, "An object has no size") }
            return try count(collection)
        }
        if case .list(let operands) = collection { return try element(of: operands.map { try self.term($0) }, index) }
        let many = try many(collection)
        guard let order = many.order else {
            throw unsupported("The elements of a collection have no order in SQL, unless it is an ordered relationship or written.")
        }
        let value = many.value
        let from = many.from()
        func term(_ sql: SQLFragment) -> SQLTerm { SQLTerm(sql: sql, kind: value.kind, isStoredDate: value.isStoredDate) }
        switch index {
        case .first: return term("(SELECT \(value.sql)\(from) ORDER BY \(order) LIMIT 1)")
        case .last: return term("(SELECT \(value.sql)\(from) ORDER BY \(order) DESC LIMIT 1)")
        case .at(let expression):
            let place = try self.term(operand(expression))
            if place.isNull { throw invalid(.unsupported, "nil is not an index") }
            guard place.number?.isInteger == true else { throw invalid(.unsupported, "\(place.kind.name) is not an index") }
            if place.constant != nil {
                return term(
                    "(CASE WHEN \(place.sql) >= 0 THEN (SELECT \(value.sql)\(from) ORDER BY \(order) LIMIT 1 OFFSET \(place.sql)) END)")
            }
            guard case .constants = collection else { throw unsupported("The index depends on the object.") }
            var found = many
            found.conditions.append("\(order) = \(place.sql)")
            return term("(SELECT \(value.sql)\(found.from()))")
        case .size: return try count(collection)
        }
    }

    private func element(of terms: [SQLTerm], _ index: ExpressionTree.ElementIndex) throws -> SQLTerm {
        switch index {
        case .first: return terms.first ?? .unknown
        case .last: return terms.last ?? .unknown
        case .size: return SQLTerm(sql: "\(SQLBinding.integer(Int64(terms.count)))", kind: .number(.integer))
        case .at(let expression):
            let place = try term(operand(expression))
            guard place.number?.isInteger == true else { throw invalid(.unsupported, "\(place.kind.name) is not an index") }
            let (values, kind) = try unified(terms)
            if values.isEmpty { return .unknown }
            let cases = values.enumerated().map { "WHEN \(SQLBinding.integer(Int64($0))) THEN \($1)" as SQLFragment }
            return SQLTerm(sql: "(CASE \(place.sql) \(cases.joined(by: " ")) END)", kind: kind)
        }
    }
}
