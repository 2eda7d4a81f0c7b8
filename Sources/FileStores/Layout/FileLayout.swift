/// Where the objects of each entity are in the files of a store, and under which names.
///
/// Without a layout, each entity without superentity has a file of its name, with its subentities; attributes and to-one relationships are
/// columns (in JSON, members) of their names, and `id` is the key. The user info of a model says the same as a layout, which has precedence:
/// `fileName` and `fileKey` (or, with commas, `fileKeys`) of an entity, `fileColumn`, `fileColumns` and `fileFormat` of a property, and `joinFile`,
/// `joinOwner`, `joinMember` and `joinOrder` of a relationship.
///
/// ```swift
/// var layout = FileLayout()
/// layout["Song"].key = "isrc"
/// layout["Song"].columns = ["title": "Titel", "album": "Album-Nr"]
/// ```
public struct FileLayout: Hashable, Sendable {
    /// The layouts of entities by name; those of superentities hold for their subentities, too.
    public var entities: [String: EntityLayout] = [:]
    /// The column (in JSON, the member) that names the entity of a record, in files with several entities.
    public var entityColumn = "entity"
    /// The column that has the version of a record, which each save increments; nil where versions are not in the files.
    public var versionColumn: String?
    /// Whether a reference to a record that is not there is an error when the store is opened. Otherwise the reference stays as it is, and is
    /// a fault that cannot be fulfilled.
    public var checksReferences = false
    /// Whether records that cannot be read are left out when the store is opened, and listed in ``FileReport``. They stay in the files.
    public var skipsUnreadableRecords = false
    /// The size in bytes up to which files have their rows decoded once and kept in memory. Rows of larger files are decoded when they are
    /// wanted, and take no memory but for that of the file itself and of an index.
    public var keepsRowsUpTo = 256 << 20

    /// Creates the layout that follows from the names in the model.
    public init() {}

    /// The layout of an entity.
    public subscript(entity: String) -> EntityLayout {
        get { entities[entity] ?? EntityLayout() }
        set { entities[entity] = newValue }
    }
}

/// Where the objects of an entity are, and under which names.
public struct EntityLayout: Hashable, Sendable {
    /// The name of the file in the store's folder, or, in a JSON document, of the list; nil for the name of the entity. Entities with one
    /// name share the file.
    public var file: String?
    /// The text in the entity column; nil for the name of the entity.
    public var entityText: String?
    /// The column of the key; nil for `id`. A file without that column has objects that are known by their place: see the article.
    public var key: String?
    /// The columns of a key that consists of several; empty for one of a single column, ``key``.
    public var keys: [String] = []
    /// In JSON, the to-one relationship to the object in whose record those of this entity stand, as elements of the inverse; nil for
    /// records in a list of their own. An owner and its elements share a file: give both entities one ``file``, or use one document.
    public var owner: String?
    /// The columns by property.
    public var columns: [String: String] = [:]
    /// The columns of to-one relationships to objects whose key has several columns, by property, in the order of those. A relationship that
    /// is not named here has a single column, with the parts of the key between slashes.
    public var referenceColumns: [String: [String]] = [:]
    /// The join files of many-to-many relationships, by property. Name one side of a relationship; the other follows.
    public var joins: [String: JoinLayout] = [:]
    /// The formats of dates by property.
    public var formats: [String: String] = [:]

    /// Creates a layout that follows from the names in the model.
    public init() {}
}

/// A file with a record for each pair of related objects, as tables in a database have it; in a JSON document, a list.
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
    /// The column with the place of the related object, a number; required by an ordered relationship.
    public var order: String?

    /// Creates the layout of a join file.
    public init(file: String, owner: [String], member: [String], order: String? = nil) {
        (self.file, self.owner, self.member, self.order) = (file, owner, member, order)
    }
}

/// What was left out when a store was opened with ``FileLayout/skipsUnreadableRecords``.
public struct FileReport: Sendable {
    /// A record that could not be read.
    public struct Entry: Sendable, CustomStringConvertible {
        /// The file.
        public let path: String
        /// The line, from 1.
        public let line: Int
        /// The column, from 1.
        public let column: Int
        /// What was expected there.
        public let expected: String

        /// The place and what was expected.
        public var description: String { "\(path):\(line):\(column): Expected \(expected)." }
    }

    /// The records in the order of the files.
    public internal(set) var entries: [Entry] = []
}
