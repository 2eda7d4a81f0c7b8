import GRDB

/// An item as a GRDB record.
protocol ToolkitItem: FetchableRecord, PersistableRecord, ReadableItem {
    init(_ value: Values, key: Int64)
    var key: Int64 { get }
    var version: Int { get set }
    var i2: Int { get set }
}

/// An item whose record conformance the compiler synthesizes.
struct CodableItem: Codable, ToolkitItem {
    static let databaseTableName = "ZITEM"
    var key: Int64
    var entity, version: Int
    var i0, i1, i2, i3, i4: Int
    var t0, t1, t2, t3, t4: String

    enum CodingKeys: String, CodingKey {
        case key = "Z_PK"
        case entity = "Z_ENT"
        case version = "Z_OPT"
        case i0 = "ZI0"
        case i1 = "ZI1"
        case i2 = "ZI2"
        case i3 = "ZI3"
        case i4 = "ZI4"
        case t0 = "ZT0"
        case t1 = "ZT1"
        case t2 = "ZT2"
        case t3 = "ZT3"
        case t4 = "ZT4"
    }

    init(_ value: Values, key: Int64) {
        self.key = key
        (entity, version) = (3, 1)
        (i0, i1, i2, i3, i4) = (value.i0, value.i1, value.i2, value.i3, value.i4)
        (t0, t1, t2, t3, t4) = (value.t0, value.t1, value.t2, value.t3, value.t4)
    }
}

/// An item with a handwritten record, decoded by position.
struct HandWrittenItem: ToolkitItem {
    static let databaseTableName = "ZITEM"
    static var databaseSelection: [any SQLSelectable] {
        [Column("Z_PK"), Column("Z_OPT")] + SampleDatabase.itemColumns.map { Column($0) }
    }
    var key: Int64
    var version: Int
    var i0, i1, i2, i3, i4: Int
    var t0, t1, t2, t3, t4: String

    init(_ value: Values, key: Int64) {
        self.key = key
        version = 1
        (i0, i1, i2, i3, i4) = (value.i0, value.i1, value.i2, value.i3, value.i4)
        (t0, t1, t2, t3, t4) = (value.t0, value.t1, value.t2, value.t3, value.t4)
    }

    init(row: Row) {
        key = row[0]
        version = row[1]
        i0 = row[2]
        i1 = row[3]
        i2 = row[4]
        i3 = row[5]
        i4 = row[6]
        t0 = row[7]
        t1 = row[8]
        t2 = row[9]
        t3 = row[10]
        t4 = row[11]
    }

    func encode(to container: inout PersistenceContainer) {
        container["Z_PK"] = key
        container["Z_ENT"] = 3
        container["Z_OPT"] = version
        container["ZI0"] = i0
        container["ZI1"] = i1
        container["ZI2"] = i2
        container["ZI3"] = i3
        container["ZI4"] = i4
        container["ZT0"] = t0
        container["ZT1"] = t1
        container["ZT2"] = t2
        container["ZT3"] = t3
        container["ZT4"] = t4
    }
}

struct CodableFolder: Codable, FetchableRecord, EncodableRecord, TableRecord {
    static let databaseTableName = "ZFOLDER"
    static let documents = hasMany(CodableDocument.self, key: "documents", using: ForeignKey(["ZFOLDER"], to: ["Z_PK"]))
    var key: Int64
    var name: String

    enum CodingKeys: String, CodingKey {
        case key = "Z_PK"
        case name = "ZNAME"
    }
}

struct CodableDocument: Codable, FetchableRecord, TableRecord {
    static let databaseTableName = "ZDOCUMENT"
    var key, folder: Int64
    var size: Int
    var name: String

    enum CodingKeys: String, CodingKey {
        case key = "Z_PK"
        case folder = "ZFOLDER"
        case size = "ZSIZE"
        case name = "ZNAME"
    }
}

struct CodableFamily: Decodable, FetchableRecord {
    var folder: CodableFolder
    var documents: [CodableDocument]

    init(row: Row) throws {
        folder = try CodableFolder(row: row)
        documents = row["documents"]
    }
}

struct HandWrittenFolder: FetchableRecord, TableRecord {
    static let databaseTableName = "ZFOLDER"
    static var databaseSelection: [any SQLSelectable] { [Column("Z_PK"), Column("ZNAME")] }
    var key: Int64
    var name: String

    init(row: Row) {
        key = row[0]
        name = row[1]
    }
}

struct HandWrittenDocument: FetchableRecord, TableRecord {
    static let databaseTableName = "ZDOCUMENT"
    var key, folder: Int64
    var size: Int
    var name: String

    init(row: Row) {
        key = row[0]
        folder = row[1]
        size = row[2]
        name = row[3]
    }
}
