/// The catalogue of a database: the definitions of the tables and views of one schema.
package struct Catalogue<Dialect: TableDialect>: Sendable {
    /// The schema.
    package let schema: String
    /// The tables and views, in the order of their names. Partitions are part of their table.
    package let relations: [CatalogueRelation<Dialect>]
    /// The parts of the schema that are not among them, each with its name and the reason.
    package let unread: [String]
    /// The parts of the schema whose form may be unexpected.
    package let notes: [String]

    package init(schema: String, relations: [CatalogueRelation<Dialect>], unread: [String] = [], notes: [String] = []) {
        (self.schema, self.relations, self.unread, self.notes) = (schema, relations, unread, notes)
    }

    /// Returns the table or view with a name.
    package func relation(_ name: String) -> CatalogueRelation<Dialect>? { relations.first { $0.name == name } }
}

/// A table or a view.
package struct CatalogueRelation<Dialect: TableDialect>: Sendable {
    package enum Kind: Sendable {
        case table, view, materializedView, foreignTable

        /// The kind in messages.
        package var name: String {
            switch self {
            case .table: "table"
            case .view: "view"
            case .materializedView: "materialized view"
            case .foreignTable: "foreign table"
            }
        }
    }

    package let name: String
    package let kind: Kind
    package var columns: [CatalogueColumn<Dialect>] = []
    /// A column that every row has without its being declared, such as SQLite's `rowid`. It is no attribute, and may be the key.
    package var rowNumber: CatalogueColumn<Dialect>?
    /// The columns of the primary key; empty if there is no such key.
    package var primaryKey: [String] = []
    /// The columns of each further uniqueness rule that holds for all rows.
    package var uniques: [[String]] = []
    /// Every rule that keeps rows distinct, including partial ones, and those about expressions.
    package private(set) var uniqueRules: [UniqueRule] = []
    package var references: [CatalogueReference] = []

    package init(name: String, kind: Kind) { (self.name, self.kind) = (name, kind) }

    /// Returns the column with a name.
    package func column(_ name: String) -> CatalogueColumn<Dialect>? {
        columns.first { $0.name == name } ?? rowNumber.flatMap { $0.name == name ? $0 : nil }
    }

    /// Adds a rule that keeps rows distinct.
    ///
    /// - Parameters:
    ///   - names: The columns that must differ.
    ///   - expressions: The SQL expressions that must differ, too; empty for none.
    ///   - condition: The SQL condition of the rows that the rule applies to; nil for all rows.
    package mutating func addUniqueRule(_ names: [String], expressions: String = "", condition: String? = nil) {
        func mentioned(_ sql: String) -> [String] {
            let words = SQLWords.of(sql)
            return columns.map(\.name).filter { words.contains($0.lowercased()) }
        }
        let own = names + mentioned(expressions).filter { !names.contains($0) }
        if own.isEmpty { return }
        uniqueRules.append(
            UniqueRule(number: uniqueRules.count, columns: own, condition: condition, conditionColumns: condition.map(mentioned) ?? []))
    }

    /// Whether rows with equal values in columns are the same row.
    package func isUnique(_ names: [String]) -> Bool {
        ([primaryKey] + uniques).contains { !$0.isEmpty && Set($0).isSubset(of: names) }
    }
}

/// A column of a table or a view.
package struct CatalogueColumn<Dialect: TableDialect>: Sendable {
    /// The source of a column's value in a new row.
    package enum Source: Sendable {
        /// The program, or the column's default.
        case program(hasDefault: Bool)
        /// A sequence: `GENERATED … AS IDENTITY`, or the number of a row. `isStrict` if a value of the program is accepted only on demand.
        case identity(isStrict: Bool)
        /// An expression: `GENERATED ALWAYS AS (…)`.
        case expression
    }

    package let name: String
    package let type: Dialect.ColumnType
    /// Whether the column, or the domain of its type, is never NULL.
    package let isRequired: Bool
    package let source: Source

    package init(name: String, type: Dialect.ColumnType, isRequired: Bool, source: Source) {
        (self.name, self.type, self.isRequired, self.source) = (name, type, isRequired, source)
    }

    /// Whether a new row has a value without the program giving one.
    package var hasDefault: Bool {
        switch source {
        case .program(let hasDefault): hasDefault
        case .identity, .expression: true
        }
    }
}

/// A foreign key.
package struct CatalogueReference: Sendable {
    package let name: String
    package let columns: [String]
    /// The schema, the name and the columns of the table that is referred to.
    package let targetSchema: String
    package let target: String
    package let targetColumns: [String]
    /// The effect of deleting the row.
    package let onDelete: DeleteAction

    package enum DeleteAction: Sendable {
        /// An error, if the row is still referred to.
        case refuse
        /// The referring rows are deleted, too.
        case cascade
        /// The columns lose their values.
        case clear
    }

    /// Whether each column refers to another one: a database may keep a foreign key that does not fit the table that it names.
    package var isPaired: Bool { columns.count == targetColumns.count && Set(targetColumns).count == targetColumns.count }

    package init(
        name: String, columns: [String], targetSchema: String, target: String, targetColumns: [String], onDelete: DeleteAction
    ) {
        (self.name, self.columns, self.targetSchema) = (name, columns, targetSchema)
        (self.target, self.targetColumns, self.onDelete) = (target, targetColumns, onDelete)
    }
}
