public import CoreData

/// An atomic store over a CSV file: the first store of the article *Diving into Core Data with Incremental and Atomic Stores*.
///
/// It reads the whole file when it is added and writes the whole file at each save. A failed save leaves the file unchanged; a save that
/// would overwrite another program's changes fails.
///
/// ```swift
/// NSPersistentStoreCoordinator.registerStoreClass(MyAtomicStore.self, type: MyAtomicStore.storeType)
/// container.persistentStoreDescriptions = [MyAtomicStore.storeDescription(at: url)]
/// ```
public final class MyAtomicStore: NSAtomicStore {
    // The framework calls a store for one request at a time.

    /// The type that the store is registered under.
    public static let storeType = NSPersistentStore.StoreType(rawValue: "MyAtomicStore")

    /// Returns the description of a file's store, for a container.
    public static func storeDescription(at url: URL) -> NSPersistentStoreDescription {
        let description = NSPersistentStoreDescription(url: url)
        description.type = storeType.rawValue
        return description
    }

    /// The type of the store.
    public override var type: String { Self.storeType.rawValue }

    /// The IDs of objects by their identifiers in the file. The objects themselves belong to contexts.
    var objectMapping = [UUID: NSManagedObjectID]()

    var file: SongFile!
    var format: SongFileFormat!
    /// The file as it was last read or written.
    var index: SongIndex!
    /// The objects added since, in order.
    var newIdentifiers: [UUID] = []
    /// The objects changed since.
    var changedIdentifiers: Set<UUID> = []

    /// Checks or creates the file, and sets the metadata.
    ///
    /// - Throws: ``SongFileError`` for a file that cannot be reached, read or (unless the store is read-only) written.
    public override func loadMetadata() throws {
        file = try SongFile(url)
        format = SongFileFormat(persistentStoreCoordinator!.managedObjectModel, url: file.url)
        try file.prepare(isReadOnly: isReadOnly, contents: CSVWriter().line(format.newColumns))
        metadata = [NSStoreTypeKey: Self.storeType.rawValue, NSStoreUUIDKey: file.storeIdentifier]
    }

    /// Reads the file: a cache node for each row, and the relationships between the nodes.
    ///
    /// - Throws: ``SongFileError`` with the line and column of the first error in the file.
    public override func load() throws {
        index = try SongIndex(scanning: file, format) { record, header, columns in
            // The reference ID: the row's own identifier.
            let uuid = header.id
            // An object ID based on the reference ID; the row is a song, an album or a composer.
            let objectID = self.objectID(for: header.entity, withReferenceObject: uuid)
            // The cache node, filled with data by the names of the entity's attributes.
            let cacheNode = NSAtomicStoreCacheNode(objectID: objectID)
            for (key, value) in try format.values(record, columns, of: header) { cacheNode.setValue(value, forKey: key) }
            // The mapping, and the node in the store.
            objectMapping[uuid] = objectID
            addCacheNodes([cacheNode])
        }
        connectNodes()
    }

    /// Connects the nodes by the rows' references, in both directions: a song's node has its album's node under “album”.
    private func connectNodes() {
        for id in index.order {
            guard let cacheNode = node(id) else { continue }
            for (name, relationship) in cacheNode.objectID.entity.relationshipsByName {
                let others = index.related(name, of: id).compactMap { self.node($0) }
                cacheNode.setValue(relationship.isToMany ? Set(others) : others.first, forKey: name)
            }
        }
    }

    func node(_ id: UUID) -> NSAtomicStoreCacheNode? { objectMapping[id].flatMap { cacheNode(for: $0) } }

    // MARK: Saving (see MyAtomicStore+Saving.swift)

    /// Returns the reference object of a new object: its identifier, which is unique.
    public override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
        managedObject.value(forKey: "id") ?? UUID()
    }

    /// Returns the node of a new object.
    public override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        let node = node(for: managedObject)
        if let id = reference(of: managedObject.objectID) { newIdentifiers.append(id) }
        fill(node, from: managedObject)
        return node
    }

    /// Updates the node of a changed object.
    public override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
        if let id = reference(of: managedObject.objectID) { changedIdentifiers.insert(id) }
        fill(node, from: managedObject)
    }

    /// Removes the nodes of deleted objects from the mapping. Relationships to them are changes of the related objects, for which
    /// ``updateCacheNode(_:from:)`` is called.
    public override func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
        for node in cacheNodes {
            if let id = reference(of: node.objectID) { objectMapping[id] = nil }
        }
    }

    /// Writes the file from the nodes.
    ///
    /// - Throws: ``SongFileError`` when the file cannot be written, and when another program has written it since it was read.
    public override func save() throws {
        do {
            try write()
        } catch {
            mapRows()
            throw error
        }
        mapRows()
    }

    /// Disconnects the nodes, which would otherwise keep each other alive.
    public override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
        for node in cacheNodes() {
            for name in node.objectID.entity.relationshipsByName.keys { node.setValue(nil, forKey: name) }
        }
    }
}
