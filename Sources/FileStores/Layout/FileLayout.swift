/// The files and names for the objects of each entity in a store.
///
/// Without a layout, each entity without a superentity has a file of its own name, which includes its subentities. Attributes and to-one relationships
/// are columns (in JSON, members) with their own names, and `id` is the key. The user info of a model can contain the same settings as a layout, which
/// has precedence: `fileName` and `fileKey` (or `fileKeys`, separated by commas) of an entity, `fileColumn`, `fileColumns` and `fileFormat` of a
/// property, and `joinFile`, `joinOwner`, `joinMember` and `joinOrder` of a relationship.
///
/// ```swift
/// var layout = FileLayout()
/// layout["Song"].key = "isrc"
/// layout["Song"].columns = ["title": "Titel", "album": "Album-Nr"]
/// ```
public struct FileLayout: Hashable, Sendable {
    /// The layouts of entities by name. Those of superentities also apply to their subentities.
    public var entities: [String: EntityLayout] = [:]
    /// The column (in JSON, the member) that names the entity of a record, in files with several entities.
    public var entityColumn = "entity"
    /// The column with the version of a record, which each save increments; nil if versions are not in the files.
    public var versionColumn: String?
    /// Whether a reference to a missing record is an error when the store is opened. Otherwise the reference stays, and is a fault that cannot be
    /// fulfilled.
    public var checksReferences = false
    /// Whether unreadable records are left out when the store is opened, and listed in ``FileReport``. They stay in the files.
    public var skipsUnreadableRecords = false
    /// The maximum size, in bytes, of files whose rows are decoded once and kept in memory. Rows of larger files are decoded on demand, so that only
    /// the file itself and an index take memory.
    public var keepsRowsUpTo = 256 << 20

    /// Creates the layout that follows from the names in the model.
    public init() {}

    /// The layout of an entity.
    public subscript(entity: String) -> EntityLayout {
        get { entities[entity] ?? EntityLayout() }
        set { entities[entity] = newValue }
    }
}

/// The files and names for the objects of an entity.
public struct EntityLayout: Hashable, Sendable {
    /// The name of the file in the store's folder, or of the list in a JSON document; nil for the name of the entity. Entities with the same name share
    /// the file.
    public var file: String?
    /// The text in the entity column; nil for the name of the entity.
    public var entityText: String?
    /// The column with the key; nil for `id`. In a file without that column, objects are identified by their position: see the article.
    public var key: String?
    /// The columns of a composite key; empty for a key of a single column, ``key``.
    public var keys: [String] = []
    /// In JSON, the to-one relationship to the owner whose record contains the records of this entity, as elements of the inverse; nil for records in a
    /// list of their own. An owner and its elements share a file: give both entities the same ``file``, or use one document.
    public var owner: String?
    /// The columns by property.
    public var columns: [String: String] = [:]
    /// The columns of to-one relationships to objects with composite keys, by property, in the order of the key's columns. Other relationships have a
    /// single column, in which slashes separate the parts of the key.
    public var referenceColumns: [String: [String]] = [:]
    /// The join files of many-to-many relationships, by property. Name one side of a relationship; the other one follows from it.
    public var joins: [String: JoinLayout] = [:]
    /// The formats of dates by property.
    public var formats: [String: String] = [:]

    /// Creates a layout that follows from the names in the model.
    public init() {}
}

/// A file with a record for each pair of related objects, like a join table in a database. In a JSON document, it is a list.
///
/// ```swift
/// // playlist,song,position
/// layout["Playlist"].joins["songs"] = JoinLayout(file: "playlist_song", owner: ["playlist"], member: ["song"], order: "position")
/// ```
public struct JoinLayout: Hashable, Sendable {
    /// The name of the file or list.
    public var file: String
    /// The columns with the key of the object that has the relationship.
    public var owner: [String]
    /// The columns with the key of the related object.
    public var member: [String]
    /// The column with the position of the related object, a number. An ordered relationship requires it.
    public var order: String?

    /// Creates the layout of a join file.
    public init(file: String, owner: [String], member: [String], order: String? = nil) {
        (self.file, self.owner, self.member, self.order) = (file, owner, member, order)
    }
}

/// The records that were left out when a store was opened with ``FileLayout/skipsUnreadableRecords``.
public struct FileReport: Sendable {
    /// A record that could not be read.
    public struct Entry: Sendable, CustomStringConvertible {
        /// The file.
        public let path: String
        /// The line, from 1.
        public let line: Int
        /// The column, from 1.
        public let column: Int
        /// The text that was expected there.
        public let expected: String

        /// The place and the expected text.
        public var description: String { "\(path):\(line):\(column): Expected \(expected)." }
    }

    /// The records in the order of the files.
    public internal(set) var entries: [Entry] = []
}
