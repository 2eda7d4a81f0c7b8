package import ObjectGraph
package import SQLQueries

/// The types and the SQL in which databases differ, concerning the tables of other programs.
package protocol TableDialect: Sendable {
    /// The type of a column, as the catalogue has it.
    associatedtype ColumnType: Sendable
    /// The form in which a column is read, compared and written.
    associatedtype Form: Equatable, Sendable
    /// A parameter of a statement.
    associatedtype Parameter

    // MARK: Types

    /// Returns the declared type, for messages.
    static func declared(_ type: ColumnType) -> String
    /// Returns the form that a type itself suggests; nil if it suggests none.
    static func form(of type: ColumnType) -> Form?
    /// Returns the form of a type for an attribute of a storage; nil if the attribute cannot hold the type.
    static func form(of type: ColumnType, for storage: SQLStorage) -> Form?
    /// Returns the number of bits of an integer; nil for another form.
    static func bits(of form: Form) -> Int?
    /// Returns whether values are UUIDs, which a store can assign to new rows.
    static func isUUID(_ form: Form) -> Bool
    /// Whether the database enforces its foreign keys: SQLite checks them only on request.
    static var enforcesReferences: Bool { get }
    /// The columns that hold transformable values, in messages.
    static var transformables: String { get }
    /// Returns the attribute that a drafted model has for a type; nil for none.
    static func drafted(_ type: ColumnType) -> DraftedType?

    // MARK: Statements

    /// Returns the name of a parameter, from 1.
    static func placeholder(_ number: Int) -> String
    /// Returns an integer as a column of a SELECT.
    static func literal(_ number: Int64) -> String
    /// Returns the SQL that selects a column.
    ///
    /// - Parameter key: The names of the columns of the row's key, for errors.
    static func selected(_ column: String, _ form: Form, key: [String]) -> String
    /// Returns the SQL that selects a column in which infinite values are replaced by the values that they are read as; nil for a form without such
    /// values.
    static func bounded(_ selected: String, _ form: Form) -> String?
    /// Returns the value of a column from a parameter.
    static func written(_ parameter: String, _ form: Form, _ type: ColumnType) -> String
    /// Returns the SQL that selects the version of a row, which changes with each update.
    ///
    /// - Parameters:
    ///   - columns: The columns that the model knows.
    ///   - table: The name of the table within the statement.
    static func version(of relation: CatalogueRelation<Self>, _ columns: [CatalogueColumn<Self>], as table: String) -> String

    // MARK: Rows without a key

    /// The type of a column with digests.
    static var digestType: ColumnType { get }
    /// Returns the SQL that selects a digest of columns: a text that is the same for the same values in each session of each program.
    static func digest(of columns: [CatalogueColumn<Self>], in table: String) -> String
    /// Returns whether the database can compare values of a type for equality.
    static func isComparable(_ type: ColumnType) -> Bool

    // MARK: Keys

    /// Returns whether the database takes values of a column for equal that are not the same, such as texts with other capitals.
    static func hasSpellings(_ column: CatalogueColumn<Self>) -> Bool
    /// Returns the condition that a column has a value, by the rules of the column that it refers to, or its own.
    static func equal(_ name: String, _ column: CatalogueColumn<Self>, _ value: String, as target: CatalogueColumn<Self>) -> String
    /// Returns a key that was looked up, in the form for exact comparisons.
    static func compared(_ key: String, _ kind: SQLKeyKind) -> String
    /// Returns the kind of a key of columns, and whether it is the one column's own value.
    ///
    /// - Parameter target: The key that the columns refer to; nil for a row's own.
    static func kind(of columns: [CatalogueColumn<Self>], target: KeyColumns<Self>?) -> (kind: SQLKeyKind, isPlain: Bool)
    /// Returns the SQL that selects a key; it is NULL if a column is.
    static func selected(_ key: KeyColumns<Self>, of table: String?) -> String
    /// Returns the key of columns with the values of a JSON array; nil if they have no such values.
    static func key(of parts: [Any], _ columns: [CatalogueColumn<Self>]) -> String?
    /// Returns the value of each column, from a parameter with a key.
    static func written(_ key: KeyColumns<Self>, _ parameter: String) -> [(column: String, value: String)]
}

/// The attribute that a drafted model has for a column.
package struct DraftedType {
    package let type: NSAttributeDescription.AttributeType
    /// A remark on a form that may be unexpected; nil for others.
    package let note: String?
    /// The only values that the column accepts; empty if it accepts any.
    package let labels: [String]

    package init(_ type: NSAttributeDescription.AttributeType, note: String? = nil, labels: [String] = []) {
        (self.type, self.note, self.labels) = (type, note, labels)
    }
}
