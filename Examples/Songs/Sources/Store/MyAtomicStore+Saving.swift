internal import CoreData

extension MyAtomicStore {
    /// Copies the values of an object to its node, and connects the node.
    func fill(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
        for name in managedObject.entity.attributesByName.keys { node.setValue(managedObject.value(forKey: name), forKey: name) }
        for name in managedObject.entity.relationshipsByName.keys {
            switch managedObject.value(forKey: name) {
            case let other as NSManagedObject: node.setValue(self.node(for: other), forKey: name)
            case let others as Set<NSManagedObject>: node.setValue(Set(others.map { self.node(for: $0) }), forKey: name)
            default: node.setValue(nil, forKey: name)
            }
        }
    }

    /// Returns the node of an object. An object saved together with one that refers to it may have no node yet: it gets an empty one,
    /// which is filled later.
    func node(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        if let node = self.cacheNode(for: managedObject.objectID) { return node }
        let node = NSAtomicStoreCacheNode(objectID: managedObject.objectID)
        addCacheNodes([node])
        if let id = reference(of: managedObject.objectID) { objectMapping[id] = managedObject.objectID }
        return node
    }

    func reference(of objectID: NSManagedObjectID) -> UUID? { referenceObject(for: objectID) as? UUID }

    /// Writes the file; see ``save()``.
    func write() throws {
        guard try file.stamp() == index.stamp else {
            throw SongFileError(
                .changedOutside, file.url, "Another program has written the file since it was opened.",
                advice: "Open it again and repeat the changes.")
        }
        index = try file.replace(format) { handle in
            try handle.write(contentsOf: index.line(index.firstLine, in: file))
            for id in index.order + newIdentifiers {
                guard let node = node(id) else { continue }
                let header = header(of: node, id)
                let fields = try format.fields(of: header, index.columns) { node.value(forKey: $0) }
                try handle.write(contentsOf: index.writer.line(fields))
            }
        }
    }

    /// Returns the header of a node's row.
    private func header(of node: NSAtomicStoreCacheNode, _ id: UUID) -> SongHeader {
        let version = index.headers[id]?.version ?? 0
        var references: [String: [UUID]] = [:]
        for relationship in format.storedRelationships(of: node.objectID.entity) {
            let others: [NSAtomicStoreCacheNode] =
                switch node.value(forKey: relationship.name) {
                case let other as NSAtomicStoreCacheNode: [other]
                case let others as Set<NSAtomicStoreCacheNode>: Array(others)
                default: []
                }
            let ids = others.compactMap { reference(of: $0.objectID) }
            // Sets are unordered; the file has an order that is the same in every run.
            references[relationship.name] = ids.sorted { $0.uuidString < $1.uuidString }
        }
        let isWritten = version == 0 || changedIdentifiers.contains(id)
        return SongHeader(
            entity: node.objectID.entity, id: id, version: isWritten ? version + 1 : version, references: references, line: 0, range: 0..<0)
    }

    /// Updates the mapping from the file, also after a failed save.
    func mapRows() {
        newIdentifiers = []
        changedIdentifiers = []
        objectMapping = index.headers.mapValues { objectID(for: $0.entity, withReferenceObject: $0.id) }
    }
}
