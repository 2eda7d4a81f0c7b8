package import Foundation

/// A store that migrates its files from one version of the model to another itself, without creating objects.
///
/// Whatever happens meanwhile, the files are those of the older version or, complete, those of the newer one.
package protocol ModelMigratingStore: FileStore {
    /// Migrates the files at a place to another version of the model. The files must not be open.
    ///
    /// A call that continues the migration of an earlier process resumes its work.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - options: The options that the store will be opened with.
    ///   - source: The version that the store was written with.
    ///   - destination: The version to write.
    ///   - mapping: The mapping of the entities of the older version.
    ///   - rules: The handling of rows that the newer version forbids, and the steps that may be deferred.
    ///   - progress: Receives the number of finished rows, and can cancel; nil for neither.
    /// - Throws: Code 134120 once the progress was cancelled, 134110 for rows that the newer version forbids (134111 if they violate a constraint),
    ///   134090 if others use the files, and the errors of reading and writing. The files are then as before.
    static func migrateFiles(
        at url: URL, options: [AnyHashable: Any]?, from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
        by mapping: InferredMapping, rules: MigrationRules, progress: Progress?
    ) throws

    /// Estimates a migration, without changing anything.
    ///
    /// - Throws: The errors of reading.
    static func migrationEstimate(
        at url: URL, options: [AnyHashable: Any]?, from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
        by mapping: InferredMapping
    ) throws -> MigrationEstimate

    /// Returns the model that the files keep of themselves, with the version hashes of the store; nil if they keep none.
    ///
    /// - Throws: Code 259 for a model that cannot be read, and the errors of opening the file.
    static func keptModel(at url: URL, options: [AnyHashable: Any]?) throws -> NSManagedObjectModel?

    /// Returns whether a migration has deferred steps, see ``MigrationRules/deferred``.
    ///
    /// - Throws: The errors of reading.
    static func hasDeferredMigration(at url: URL, options: [AnyHashable: Any]?) throws -> Bool

    /// Performs a part of a migration's deferred steps. Others may use the files.
    ///
    /// - Parameter model: The version of the files.
    /// - Returns: Whether there is more to do.
    /// - Throws: The errors of writing.
    static func continueDeferredMigration(at url: URL, options: [AnyHashable: Any]?, model: NSManagedObjectModel) throws -> Bool
}

/// The rules of a migration for cases that the mapping does not decide.
package struct MigrationRules: Sendable {
    /// The handling of rows that the newer version forbids: rows without a required value, or equal to another row in values that must be unique.
    package enum ForbiddenRows: Sendable {
        /// The migration fails and names the rows; nothing is changed.
        case fail
        /// A missing value becomes the neutral one of its type (0, false, the empty text, the reference date); a number that is too large becomes the
        /// nearest valid one. Of rows that must be unique, the first stays unchanged; the others lose an optional value, or are deleted if all values
        /// are required.
        case repair
        /// The rows stay unchanged: the next save of such an object fails. The store does not enforce a constraint that rows violate.
        case keep
    }

    /// The handling of rows that the newer version forbids.
    package var forbiddenRows: ForbiddenRows
    /// Whether to defer steps that need not precede the use of the store: dropping old columns and tables, and creating indexes.
    package var deferred: Bool

    package init(forbiddenRows: ForbiddenRows = .fail, deferred: Bool = false) {
        self.forbiddenRows = forbiddenRows
        self.deferred = deferred
    }
}

/// An estimate of a migration.
package struct MigrationEstimate: Sendable {
    /// A row that the newer version forbids.
    package struct ForbiddenRow: Sendable, Equatable {
        /// The URI of the object, as the older version has it.
        package let uri: URL
        /// The entity, in the newer version.
        package let entity: String
        /// The properties that are missing, or not unique.
        package let properties: [String]
        /// Whether it violates a constraint; false if a required value is missing.
        package let violatesConstraint: Bool

        package init(uri: URL, entity: String, properties: [String], violatesConstraint: Bool) {
            self.uri = uri
            self.entity = entity
            self.properties = properties
            self.violatesConstraint = violatesConstraint
        }
    }

    /// Whether the files are changed in place; otherwise a copy takes their place.
    package let isInPlace: Bool
    /// The number of rows of each entity of the newer version that has objects already, by name.
    package let rows: [String: Int]
    /// The number of rows of each removed entity, by name: they are deleted.
    package let deletedRows: [String: Int]
    /// The maximum number of bytes on the disk that the migration needs in addition to the present files.
    package let bytes: Int64
    /// How many rows the newer version forbids.
    package let forbiddenCount: Int
    /// The first thousand of them.
    package let forbidden: [ForbiddenRow]

    package init(
        isInPlace: Bool, rows: [String: Int], deletedRows: [String: Int], bytes: Int64, forbiddenCount: Int, forbidden: [ForbiddenRow]
    ) {
        self.isInPlace = isInPlace
        self.rows = rows
        self.deletedRows = deletedRows
        self.bytes = bytes
        self.forbiddenCount = forbiddenCount
        self.forbidden = forbidden
    }
}
