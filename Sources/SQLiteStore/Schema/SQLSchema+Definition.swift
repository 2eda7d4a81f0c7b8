internal import SQLQueries

extension SQLSchema {
    /// The indexes of a new store.
    var indexes: [SQLIndex] { SQLIndexes(entities: entities, joins: joins).all }

    /// The indexes of the model that are not created, as messages.
    var unmadeIndexes: [String] { SQLIndexes(entities: entities, joins: joins).unmade }

    /// The tables of every store.
    static let metadataTables = [
        "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
        "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
        "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
    ]

    /// The statements that create a new store.
    var definition: [String] {
        tables.map(\.definition) + joins.map(\.definition) + indexes.map(\.sql)
            + SQLDerivations(self).triggers.map(\.sql) + Self.metadataTables
    }
}

extension SQLTable {
    /// The statement that creates the table.
    var definition: String {
        let columns = ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"] + columns.map { "\($0.name) \($0.type)" }
        return "CREATE TABLE \(name) ( \(columns.joined(separator: ", ")) )"
    }
}

extension SQLJoinTable {
    /// The statement that creates the table.
    var definition: String {
        let columns = (columns + orderColumns).map { "\($0) INTEGER" }
        let key = self.columns.map(\.sql).joined(separator: ", ")
        return "CREATE TABLE \(name) ( \(columns.joined(separator: ", ")), PRIMARY KEY (\(key)) )"
    }
}
