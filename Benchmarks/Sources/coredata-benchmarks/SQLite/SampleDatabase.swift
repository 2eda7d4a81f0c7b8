import Foundation

/// Creates the database files for raw SQLite and the toolkit, with Core Data's table layout.
enum SampleDatabase {
    static let itemColumns = ["ZI0", "ZI1", "ZI2", "ZI3", "ZI4", "ZT0", "ZT1", "ZT2", "ZT3", "ZT4"]

    private static let items = """
        CREATE TABLE ZITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZI0 INTEGER, ZI1 INTEGER, ZI2 INTEGER, ZI3 INTEGER, \
        ZI4 INTEGER, ZT0 VARCHAR, ZT1 VARCHAR, ZT2 VARCHAR, ZT3 VARCHAR, ZT4 VARCHAR);
        """
    private static let folders = """
        CREATE TABLE ZFOLDER (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
        CREATE TABLE ZDOCUMENT (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZSIZE INTEGER, ZFOLDER INTEGER, ZNAME VARCHAR);
        CREATE INDEX ZDOCUMENT_ZFOLDER_INDEX ON ZDOCUMENT (ZFOLDER);
        """

    /// Creates a database with an empty item table without an index.
    static func makeEmpty(_ path: String) throws {
        remove(path)
        try RawConnection(path).execute(items)
    }

    /// Creates a database with all data, and the indexes on the searched string.
    static func makeFull(_ path: String, _ sample: Sample) throws {
        remove(path)
        let connection = try RawConnection(path)
        try connection.execute(items + folders)
        try connection.transaction {
            try RawSide.insertOneByOne(sample.values, into: connection)
            let folder = try connection.prepare("INSERT INTO ZFOLDER VALUES (?, 2, 1, ?)")
            for number in 1...sample.folderCount {
                folder.bind(number, at: 1)
                folder.bind(Sample.folderName(number), at: 2)
                try connection.run(folder)
            }
            let document = try connection.prepare("INSERT INTO ZDOCUMENT VALUES (?, 1, 1, ?, ?, ?)")
            for number in 1...sample.values.count {
                document.bind(number, at: 1)
                document.bind(number, at: 2)
                document.bind(sample.folder(ofDocument: number), at: 3)
                document.bind(Sample.documentName(number), at: 4)
                try connection.run(document)
            }
        }
        // Core Data creates two indexes for one over a single attribute: all sides maintain both.
        try connection.execute("CREATE INDEX Z_Item_byT0 ON ZITEM (ZT0 COLLATE BINARY ASC)")
        try connection.execute("CREATE INDEX Z_Item_t0 ON ZITEM (ZT0 COLLATE BINARY ASC)")
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    static func remove(_ path: String) {
        // A missing file is removed already.
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    }

    static func copy(_ source: String, to target: String) throws {
        remove(target)
        try FileManager.default.copyItem(atPath: source, toPath: target)
    }
}
