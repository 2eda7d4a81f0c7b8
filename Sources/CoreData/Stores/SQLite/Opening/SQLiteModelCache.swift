public import Foundation

/// The model that a store keeps of itself, in the table `Z_MODELCACHE`.
enum SQLiteModelCache {
    /// The model that the store at a connection was written with; nil where it keeps none.
    ///
    /// - Throws: code 259 for one that cannot be read.
    static func model(in connection: SQLConnection) throws -> NSManagedObjectModel? {
        guard let content = try content(in: connection) else { return nil }
        let model = NSManagedObjectModel()
        try ModelCache.read(content, file: connection.path, into: model)
        return model
    }

    /// The bytes in the table; nil where it has none.
    fileprivate static func content(in connection: SQLConnection) throws -> Data? {
        guard try !connection.texts("SELECT name FROM sqlite_master WHERE name = 'Z_MODELCACHE'", .opening).isEmpty else { return nil }
        return try connection.with("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1") { statement in
            guard try statement.step(.opening), !statement.isNull(0) else { return nil }
            return statement.data(0)
        }
    }

    /// Writes the model of a new store; nothing where it has no compiled form.
    static func write(_ model: NSManagedObjectModel, to connection: SQLConnection) throws {
        guard let content = try ModelCache.content(of: model) else { return }
        try connection.with("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)") { statement in
            statement.bind(content, at: 1)
            try statement.run()
        }
    }
}

extension NSManagedObjectModel {
    /// Reads the model that a SQLite store keeps of itself, so that the store can be opened by a program that has no other.
    ///
    /// The entities have the hashes that the store names for them. Classes that the program does not have are `NSManagedObject`s.
    ///
    /// - Parameter url: the file of the store. It is opened for reading only, and may be in use.
    /// - Throws: code 134060 for a store that keeps no model (systems before 2012 wrote none), 259 for a model that cannot be read, and what
    ///   opening the file gives.
    public convenience init(storeAt url: URL) throws {
        let connection = try SQLiteFiles.connectForReading(url, timeout: SQLiteStoreDefaults.timeout)
        guard let content = try SQLiteModelCache.content(in: connection) else {
            throw CoreDataError.make(
                NSCoreDataError, "The store at \(url.path) keeps no model of itself.",
                reason: "Its table Z_MODELCACHE is empty or not there.",
                next: "Open it with the model it was written with.")
        }
        let hashes = try SQLiteMetadata.read(from: connection)[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        self.init()
        try ModelCache.read(content, file: url.path, into: self)
        for entity in entities {
            if let hash = hashes[entity.name ?? ""] { entity.adopt(versionHash: hash) }
        }
    }
}
