internal import Foundation
internal import Logging

/// The model that a store keeps of itself: the archive of a compiled model, deflated.
enum SQLiteModelCache {
    /// The model that the store at a connection was written with; nil where it keeps none.
    ///
    /// - Throws: code 259 for one that cannot be read.
    static func model(in connection: SQLConnection) throws -> NSManagedObjectModel? {
        guard let data = try archive(in: connection) else { return nil }
        return try NSManagedObjectModel(compiledModel: data)
    }

    /// The bytes of the compiled model.
    static func archive(in connection: SQLConnection) throws -> Data? {
        guard try !connection.texts("SELECT name FROM sqlite_master WHERE name = 'Z_MODELCACHE'", .opening).isEmpty else { return nil }
        return try connection.with("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1") { statement in
            guard try statement.step(.opening), !statement.isNull(0) else { return nil }
            guard let archive = Inflate.inflated(statement.data(0)) else {
                throw CoreDataError.make(
                    CocoaError.Code.fileReadCorruptFile.rawValue, "The store at \(connection.path) keeps a model that cannot be read.",
                    reason: "Z_CONTENT of Z_MODELCACHE is not deflated data.", next: "Restore the file from a copy.")
            }
            return archive
        }
    }
}
