#if PostgreSQL

/// What the catalogue of a database says about the tables and views of one schema.
struct Catalogue: Sendable {
    /// The schema.
    let schema: String
    /// The tables and views, in the order of their names. Partitions are part of their table.
    let relations: [CatalogueRelation]

    /// Returns the table or view with a name.
    func relation(_ name: String) -> CatalogueRelation? { relations.first { $0.name == name } }
}

/// A table or a view.
struct CatalogueRelation: Sendable {
    enum Kind: Sendable {
        case table, view, materializedView, foreignTable

        /// The kind in messages.
        var name: String {
            switch self {
            case .table: "table"
            case .view: "view"
            case .materializedView: "materialized view"
            case .foreignTable: "foreign table"
            }
        }
    }

    let name: String
    let kind: Kind
    var columns: [CatalogueColumn] = []
    /// The columns of the primary key; none where there is no such key.
    var primaryKey: [String] = []
    /// The columns of each further uniqueness rule that holds for all rows.
    var uniques: [[String]] = []
    var references: [CatalogueReference] = []

    /// Returns the column with a name.
    func column(_ name: String) -> CatalogueColumn? { columns.first { $0.name == name } }

    /// Whether rows with equal values in columns are the same row.
    func isUnique(_ names: [String]) -> Bool {
        ([primaryKey] + uniques).contains { !$0.isEmpty && Set($0).isSubset(of: names) }
    }
}

/// A column of a table or a view.
struct CatalogueColumn: Sendable {
    /// Who gives a column the value of a new row.
    enum Source: Sendable {
        /// The program, or the column's default.
        case program(hasDefault: Bool)
        /// A sequence: `GENERATED … AS IDENTITY`. `isStrict` where a value of the program is taken only on demand.
        case identity(isStrict: Bool)
        /// An expression: `GENERATED ALWAYS AS (…)`.
        case expression
    }

    let name: String
    let type: CatalogueType
    /// Whether the column, or the domain of its type, is never NULL.
    let isRequired: Bool
    let source: Source

    /// Whether a new row has a value without the program giving one.
    var hasDefault: Bool {
        switch source {
        case .program(let hasDefault): hasDefault
        case .identity, .expression: true
        }
    }
}

/// The type of a column, without its domains.
struct CatalogueType: Sendable {
    /// The name in the catalogue, such as `int4`.
    let name: String
    /// The name in SQL, with its schema.
    let sql: String
    /// The type of the column as it was declared, such as `character varying(20)`.
    let declared: String
    /// What the type is: `b` for a base type, `e` for an enum, `c` for a row, `r` for a range and `m` for several.
    let kind: String
    /// The name in SQL of the type of the elements, for an array.
    let element: String?
    /// The labels of an enum, in order.
    let labels: [String]
    /// Whether it is one of PostgreSQL's own.
    let isBuiltIn: Bool
}

/// A foreign key.
struct CatalogueReference: Sendable {
    let name: String
    let columns: [String]
    /// The schema, the name and the columns of the table that is referred to.
    let targetSchema: String
    let target: String
    let targetColumns: [String]
    /// What happens when the row is deleted: `a` and `r` for nothing but an error, `c`, `n`, `d` as in the catalogue.
    let onDelete: String
}
#endif
