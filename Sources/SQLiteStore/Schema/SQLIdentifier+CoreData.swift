internal import SQLQueries

extension SQLIdentifier {
    /// Creates a name. No SQL keyword begins with Z: such names are not quoted, like Core Data's.
    init(_ name: String) { self.init(name, isPlain: name.utf8.first == UInt8(ascii: "Z")) }

    /// The column of a row's key within its table.
    static let primaryKey = SQLIdentifier("Z_PK")
    /// The column of a row's entity number.
    static let entity = SQLIdentifier("Z_ENT")
    /// The column of a row's version, which every save increments.
    static let version = SQLIdentifier("Z_OPT")
    /// The version in the form that is read: others may have left the column empty, or stored another value.
    static let versionNumber = "CAST(ifnull(Z_OPT, 0) AS INTEGER)"
    /// The assignment that increments the version.
    static let countUp = "Z_OPT = \(versionNumber) + 1"
}

extension SQLIdentityColumns {
    /// The names that Core Data gives them in every table.
    static let coreData = SQLIdentityColumns(key: .primaryKey, entity: .entity, version: .version)
}
