import CoreData
import PredicateCases
import Predicates

@_spi(Stores) @testable import ObjectGraph
@testable import SQLQueries

/// A part of PostgreSQL's SQL: enough to show what a second database's dialect says for itself.
struct PostgreSQLDialect: SQLDialect {
    var name: String { "PostgreSQL" }
    var placeholders: SQLPlaceholders { .numbered("$") }

    // Numbers are compared with booleans in predicates.
    func column(_ column: SQLFragment, _ storage: SQLStorage) -> SQLTerm {
        if case .boolean = storage { return SQLTerm(column: "CAST(\(column) AS integer)", storage) }
        return SQLTerm(column: column, storage)
    }

    func sortKey(_ value: SQLTerm, _ order: TextOrder) -> SQLFragment? {
        guard case .text = value.kind else { return value.sql }
        switch order {
        case .binary: return byCodePoints(value.sql)
        case .caseInsensitive: return byCodePoints("lower(\(value.sql))")
        case .localized, .localizedCaseInsensitive, .localizedStandard: return nil
        }
    }

    // MARK: Text

    func byCodePoints(_ text: SQLFragment) -> SQLFragment { "\(text) COLLATE \"C\"" }
    func equalTexts(_ left: SQLFragment, _ right: SQLFragment) -> SQLFragment? { "normalize(\(left)) = normalize(\(right))" }

    func folded(_ text: SQLTerm, _ options: PredicateComparison.Options) -> SQLFragment? {
        // Diacritics are removed by an extension, which a server need not have.
        options.contains(.diacriticInsensitive) ? nil : "lower(\(text.sql))"
    }

    func match(
        _ text: SQLTerm, _ operation: TextOperator, _ pattern: SQLTerm, _ options: PredicateComparison.Options
    ) -> SQLFragment? {
        // PostgreSQL has other regular expressions.
        if options.contains(.diacriticInsensitive) || operation == .matches { return nil }
        if let constant = pattern.constant {
            let like = SQLBinding.constant(constant.number, .likePattern(operation))
            return options.contains(.caseInsensitive) ? "\(text.sql) ILIKE \(like)" : "\(text.sql) LIKE \(like)"
        }
        guard let text = options.folds ? folded(text, options) : text.sql, let part = options.folds ? folded(pattern, options) : pattern.sql
        else { return nil }
        switch operation {
        case .beginsWith: return "starts_with(\(text), \(part))"
        case .endsWith: return "right(\(text), length(\(part))) = \(part)"
        case .contains: return "position(\(part) IN \(text)) > 0"
        case .like, .matches: return nil
        }
    }

    // MARK: Collections

    func isIn(_ value: SQLFragment, _ list: SQLBinding) -> SQLFragment { "\(value) = ANY(\(list))" }

    func isEquivalent(_ text: SQLFragment, toElementOf list: SQLBinding) -> SQLFragment? {
        "normalize(\(text)) IN (SELECT normalize(value) FROM unnest(\(list)) AS value)"
    }

    func isEquivalent(_ text: SQLFragment, to element: SQLFragment, selectedBy from: SQLFragment) -> SQLFragment? {
        "normalize(\(text)) IN (SELECT normalize(\(element))\(from))"
    }

    func elements(of list: SQLBinding, as alias: SQLAlias?) -> SQLListTable {
        guard let alias else { return SQLListTable(table: "unnest(\(list)) AS value", value: "value", position: "0") }
        return SQLListTable(
            table: "unnest(\(list)) WITH ORDINALITY AS \(alias)(value, position)", value: "\(alias).value",
            position: "(\(alias).position - 1)")
    }

    func member(_ value: SQLTerm, of kind: SQLKind) -> SQLFragment? {
        if case .text = kind { return "normalize(\(value.sql))" }
        return value.sql
    }

    // MARK: Calculations

    func shift(_ date: SQLTerm, _ operation: ExpressionTree.ArithmeticOperator, _ seconds: SQLTerm) -> SQLFragment? {
        let sign: SQLFragment = operation == .add ? "+" : "-"
        return "(\(date.sql) \(sign) make_interval(secs => \(seconds.sql)))"
    }

    func seconds(from start: SQLTerm, to end: SQLTerm) -> SQLFragment? { "extract(epoch FROM (\(end.sql) - \(start.sql)))" }

    func cast(_ value: SQLTerm, to kind: SQLKind, named type: String) -> SQLFragment? {
        guard case (.number, .date) = (kind, value.kind) else { return nil }
        return "extract(epoch FROM (\(value.sql) - TIMESTAMPTZ '2001-01-01 00:00:00+00'))"
    }

    func call(_ name: String, written: String, _ arguments: [SQLTerm], kind: SQLKind) -> SQLFragment? {
        guard arguments.count == 1 else { return nil }
        let value = arguments[0].sql
        return switch name {
        case "abs": "abs(\(value))"
        case "floor": "floor(\(value))"
        case "ceiling": "ceil(\(value))"
        case "sqrt": "sqrt(\(value))"
        case "uppercase": "upper(\(value))"
        case "lowercase": "lower(\(value))"
        default: nil
        }
    }

    func call(method name: String, _ arguments: [SQLTerm], kind: SQLKind) -> SQLFragment? {
        arguments.count == 1 ? read(name, of: arguments[0]) : nil
    }

    func read(_ key: String, of text: SQLTerm) -> SQLFragment? {
        switch key {
        case "uppercaseString": "upper(\(text.sql))"
        case "lowercaseString": "lower(\(text.sql))"
        default: nil
        }
    }

    func aggregate(_ aggregate: SQLAggregate, of value: SQLTerm) -> (SQLFragment, SQLKind)? {
        let isText = value.kind.comparisonClass == .text
        let ordered = isText ? byCodePoints(value.sql) : value.sql
        switch aggregate {
        case .count: return ("COUNT(\(value.sql))", .number(.integer))
        case .min: return ("MIN(\(ordered))", value.kind)
        case .max: return ("MAX(\(ordered))", value.kind)
        case .sum: return ("COALESCE(SUM(\(value.sql)), 0)", value.kind)
        case .average: return ("AVG(\(value.sql))", value.kind)
        case .median: return ("percentile_cont(0.5) WITHIN GROUP (ORDER BY \(value.sql))", .number(.plain))
        case .stddev: return ("stddev_pop(\(value.sql))", .number(.plain))
        // Of several most frequent values PostgreSQL takes any.
        case .mode: return nil
        }
    }
}

extension SQLSchema {
    /// Creates a schema with readable names: a table for each inheritance, a column for each property, a join table for each pair of
    /// to-many relationships.
    static func readable(_ model: NSManagedObjectModel) -> SQLSchema {
        func quoted(_ name: String) -> SQLIdentifier { SQLIdentifier(name.lowercased(), isPlain: false) }
        func table(_ entity: NSEntityDescription) -> SQLIdentifier { quoted(entity.rootEntity.name!) }
        let sorted = model.entities.sorted { $0.name! < $1.name! }
        let numbers = Dictionary(uniqueKeysWithValues: sorted.enumerated().map { (ObjectIdentifier($1), Int64($0 + 1)) })
        func property(_ property: NSPropertyDescription) -> SQLProperty {
            if let attribute = property as? NSAttributeDescription {
                return SQLStorage(attribute).map { .attribute(SQLAttribute(column: quoted(attribute.name), storage: $0)) } ?? .unstored
            }
            guard let relationship = property as? NSRelationshipDescription, let inverse = relationship.inverseRelationship,
                let destination = relationship.destinationEntity
            else { return .unstored }
            if !relationship.isToMany { return .toOne(SQLToOne(column: quoted(relationship.name + "_id"), entityColumn: nil)) }
            if !inverse.isToMany {
                return .toMany(
                    .foreignKey(
                        SQLForeignKey(
                            table: table(destination), column: quoted(inverse.name + "_id"), entityColumn: nil, orderColumn: nil)))
            }
            let names = [relationship.name, inverse.name].sorted()
            return .toMany(
                .join(
                    SQLJoin(
                        table: quoted(names.joined(separator: "_")), own: quoted(inverse.name + "_id"),
                        other: quoted(relationship.name + "_id"),
                        orderColumn: nil, inverseOrderColumn: nil, isReflexive: false)))
        }
        let entities = sorted.map { entity in
            SQLEntity(
                entity: entity, table: table(entity),
                identity: SQLIdentityColumns(key: quoted("id"), entity: quoted("kind"), version: quoted("version")),
                number: numbers[ObjectIdentifier(entity)]!, rootNumber: numbers[ObjectIdentifier(entity.rootEntity)]!,
                numbers: sorted.filter { $0.isKindOf(entity: entity) }.map { numbers[ObjectIdentifier($0)]! },
                isWholeTable: entity.superentity == nil, properties: entity.frozen!.properties.map(property))
        }
        return SQLSchema(model: model, entities: entities, tables: [], joins: [])
    }
}
