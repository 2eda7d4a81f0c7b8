public import Foundation
@_spi(Stores) public import ObjectGraph

/// Reads and writes the model in a store's table `Z_MODELCACHE`.
enum SQLiteModelCache {
    /// Returns the model that a store was written with; nil if it contains none.
    ///
    /// - Throws: Code 259 for a model that cannot be read.
    static func model(in connection: SQLConnection) throws -> NSManagedObjectModel? {
        guard let content = try content(in: connection) else { return nil }
        let model = NSManagedObjectModel()
        try ModelCache.read(content, file: connection.path, into: model)
        return model
    }

    /// Returns this framework's hashes of the model that a store was written with, by entity name; empty if the file contains no model.
    ///
    /// - Throws: Code 259 for a model that cannot be read.
    static func hashes(in connection: SQLConnection) throws -> [String: Data] {
        guard let model = try model(in: connection) else { return [:] }
        // The hash of an entity depends on others, which the model holds.
        return withExtendedLifetime(model) {
            Dictionary(
                model.entities.compactMap { entity in entity.name.map { ($0, entity.ownVersionHash) } },
                uniquingKeysWith: { first, _ in first })
        }
    }

    /// Returns the content of the table; nil if it is empty.
    static func content(in connection: SQLConnection) throws -> Data? {
        guard try !connection.texts("SELECT name FROM sqlite_master WHERE name = 'Z_MODELCACHE'", .opening).isEmpty else { return nil }
        return try connection.with("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1") { statement in
            guard try statement.step(.opening), !statement.isNull(0) else { return nil }
            return statement.data(0)
        }
    }

    /// Writes the model of a new store; writes nothing if it has no compiled form.
    static func write(_ model: NSManagedObjectModel, to connection: SQLConnection) throws {
        guard let content = try ModelCache.content(of: model) else { return }
        try connection.with("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)") { statement in
            statement.bind(content, at: 1)
            try statement.run()
        }
    }
}

extension NSManagedObjectModel {
    /// Reads the model in a SQLite store, so that a program without the model can open the store.
    ///
    /// The entities have the version hashes in the store's metadata. Classes that the program does not have are `NSManagedObject`s.
    ///
    /// - Parameter url: The file of the store. It is opened read-only, and may be in use.
    /// - Throws: Code 134060 for a store without a model (systems before 2012 wrote none), 259 for a model that cannot be read, and the
    ///   errors of opening the file.
    public convenience init(storeAt url: URL) throws {
        let connection = try SQLiteFiles.connectForReading(url, timeout: SQLiteStoreDefaults.timeout)
        guard let content = try SQLiteModelCache.content(in: connection) else {
            throw CoreDataError.make(
                NSCoreDataError, "The store at \(url.path) keeps no model of itself.",
                reason: "Its table Z_MODELCACHE is empty or not there.",
                next: "Open it with the model it was written with.")
        }
        try self.init(cached: content, in: connection)
    }

    /// Reads the content of a store's table `Z_MODELCACHE`.
    convenience init(cached content: Data, in connection: SQLConnection) throws {
        let hashes = try SQLiteMetadata.read(from: connection)[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        self.init()
        try ModelCache.read(content, file: connection.path, into: self)
        for entity in entities {
            if let hash = hashes[entity.name ?? ""] { entity.adopt(versionHash: hash) }
        }
    }
}

extension NSPersistentStoreCoordinator {
    /// Returns the copy of the model in a SQLite store, see ``ObjectGraph/NSManagedObjectModel/init(storeAt:)``.
    ///
    /// - Parameters:
    ///   - url: The file of the store. It is opened read-only, and may be in use.
    ///   - options: Not used: reading the model needs none.
    /// - Throws: Code 134060 for a store without a model, 259 for a model that cannot be read, and the errors of opening the file.
    public class func cachedModelForPersistentStore(at url: URL, options: [AnyHashable: Any]? = nil) throws -> NSManagedObjectModel {
        try NSManagedObjectModel(storeAt: url)
    }
}
