internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// The conversion of one version's tables to those of another: each column of the newer version with the source of its values.
///
/// Keys and entity numbers stay the same, so relationships and the history remain valid; new entities get numbers that were never used.
struct SQLMigrationPlan {
    /// The source of a column's values, in the rows of one entity.
    struct Value: Equatable {
        /// The column of the older version; nil for a property that it does not have.
        var column: SQLIdentifier?
        /// The older storage and the newer one; nil for values that stay unchanged.
        var conversion: Conversion?
        /// The literal for rows without a value; nil leaves them without.
        var fallback: String?
        /// Whether the column is declared with another type: SQLite would change the values on their way into it.
        var hasOtherType = false

        struct Conversion: Equatable {
            let old: SQLStorage
            let new: SQLStorage
        }

        /// Whether the values are those of the column.
        var isAsItIs: Bool { column != nil && fallback == nil && converted("") == nil }

        private func converted(_ name: String) -> String? {
            conversion.flatMap { SQLMigrationConversion.expression(name, from: $0.old, to: $0.new) }
        }

        /// Returns the value in SQL.
        ///
        /// - Parameter name: The name that the column has by now.
        func sql(_ name: String) -> String {
            guard column != nil else { return fallback ?? "NULL" }
            let value = converted(name) ?? name
            return fallback.map { "ifnull(\(value), \($0))" } ?? value
        }
    }

    struct Column {
        let name: SQLIdentifier
        let type: String
        /// The values by entity number; nil for an entity without the property.
        var values: [Int64: Value] = [:]
    }

    struct Table {
        let name: SQLIdentifier
        /// The table of the older version with the rows; nil if all entities are new.
        let source: SQLIdentifier?
        /// The numbers of the entities with rows, which are those of the older version.
        let numbers: [Int64]
        var columns: [Column]
        /// Whether every row of the older table is of one of these entities, or of a removed entity.
        let isWhole: Bool
    }

    struct Join {
        let table: SQLJoinTable
        /// The table of the older version with the same pairs; nil if there is none.
        var source: SQLIdentifier?
        /// The older columns, in the order of the table's own.
        var columns: [SQLIdentifier?] = []
    }

    /// A relationship whose kind of storage changes: its pairs are read from the older version and written to the newer one.
    struct Pairs {
        /// Returns SELECT of `owner` and `other` over the older version, whose database has a name.
        let select: @Sendable (String) -> String
        enum Target {
            /// A column of the rows that are the owners, with the key of the other.
            case column(SQLIdentifier, table: SQLIdentifier)
            /// The columns of a join table, with those of positions, which follow the pairs.
            case join(SQLIdentifier, owner: SQLIdentifier, other: SQLIdentifier, orders: [SQLIdentifier])
        }
        let target: Target
        /// Whether the pairs are also kept elsewhere, so that a column that holds one of several loses none.
        var isCopy = false
    }

    /// A step that follows once all rows exist. Repeating it does no harm.
    struct Step {
        let name: String
        let sql: [String]
    }

    let source: SQLSchema
    let destination: SQLSchema
    var tables: [Table] = []
    var joins: [Join] = []
    var pairs: [Pairs] = []
    /// The steps that complete the rows, in order.
    var steps: [Step] = []
    /// The removed entities of the older version.
    var removed: [SQLEntity] = []
    /// Derived attributes whose values are computed row by row.
    var derived: [(entity: SQLEntity, attribute: NSDerivedAttributeDescription)] = []

    /// The tables of the older version that are not the source of a table of the newer one.
    var tablesWithoutSuccessor: [SQLIdentifier] {
        let used = Set(tables.compactMap { $0.source?.name.lowercased() } + joins.compactMap { $0.source?.name.lowercased() })
        return (source.tables.map(\.name) + source.joins.map(\.name)).filter { !used.contains($0.name.lowercased()) }
    }

    /// Whether the rows can stay in place: only tables and columns are added, renamed, dropped or filled.
    var canStayInPlace: Bool {
        if !pairs.isEmpty { return false }
        var used: Set<String> = []
        for table in tables {
            guard let source = table.source else { continue }
            if !used.insert(source.name.lowercased()).inserted || !table.isWhole { return false }
            var columns: Set<String> = []
            for column in table.columns {
                let values = column.values.values
                let found = Set(values.compactMap { $0.column?.name.lowercased() })
                if found.count > 1 || values.contains(where: \.hasOtherType) { return false }
                guard let name = found.first else { continue }
                if !columns.insert(name).inserted { return false }
                // If the values of an entity's rows come from another source, its rows would have to be cleared.
                if values.contains(where: { $0.column == nil }) { return false }
            }
        }
        for join in joins {
            guard let source = join.source else { continue }
            let keys = join.columns.prefix(join.table.columns.count)
            if !used.insert(source.name.lowercased()).inserted || keys.contains(where: { $0 == nil }) { return false }
        }
        return true
    }
}

/// A value as an SQL literal of the form that columns have.
enum SQLMigrationLiteral {
    /// Returns the default value of an attribute as a literal; nil if it has none.
    ///
    /// - Throws: The error of a transformable value that cannot be archived.
    static func defaultValue(of attribute: NSAttributeDescription, _ storage: SQLStorage) throws -> String? {
        guard let given = attribute.defaultValue, let value = AttributeCheck.conform(given, to: attribute) else { return nil }
        return try literal(value, attribute, storage)
    }

    /// Returns the neutral value of an attribute's type as a literal; nil for a type that has none.
    static func neutral(_ storage: SQLStorage) -> String? {
        switch storage {
        case .integer, .boolean, .decimal: "0"
        case .double, .date: "0.0"
        case .text: "''"
        case .data: "X''"
        case .externalData: "X'01'"
        case .uuid: "X'" + String(repeating: "00", count: 16) + "'"
        case .uri, .transformable, .composite: nil
        }
    }

    private static func literal(_ value: StorableValue, _ attribute: NSAttributeDescription, _ storage: SQLStorage) throws -> String? {
        switch value {
        case .null: return nil
        case .integer(let number): return "\(number)"
        case .double(let number):
            if number.isInfinite { return number < 0 ? "-9e999" : "9e999" }
            return number.isNaN ? nil : "\(number)"
        case .string(let text): return text.contains("\0") ? "CAST(\(hex(Data(text.utf8))) AS TEXT)" : sqlLiteral(text)
        case .data(let data):
            if case .externalData = storage { return hex(Data([1]) + data) }
            return hex(data)
        case .uuid(let uuid): return hex(withUnsafeBytes(of: uuid) { Data($0) })
        case .box(let box):
            switch storage {
            case .uri: return (box.value as? URL).map { sqlLiteral($0.absoluteString) }
            case .decimal:
                guard let number = box.value as? Decimal else { return nil }
                switch SQLDecimal(number) {
                case .integer(let whole): return "\(whole)"
                case .real(let double): return "\(double)"
                case .numeral(let digits): return hex(digits)
                }
            case .transformable, .composite: return hex(try AttributeArchive.data(of: box.value, attribute))
            default: return nil
            }
        }
    }

    private static func hex(_ data: Data) -> String { "X'" + data.map { String(format: "%02X", $0) }.joined() + "'" }
}
