import CoreData

/// An atomic store over a JSON file, for any model.
final class ShelfStore: NSAtomicStore {
    static let storeType = "ShelfStore"

    /// What the file holds. Numbers stand as text, so that they come back digit for digit.
    private struct File: Codable {
        var identifier: String
        var records: [Record]
    }

    private struct Record: Codable {
        var entity: String
        var key: UUID
        var values: [String: String]
        /// The keys of related objects, with their entities.
        var related: [String: [Reference]]
    }

    private struct Reference: Codable {
        var entity: String
        var key: UUID
    }

    private struct UnreadableFile: Error, CustomStringConvertible {
        let description: String
    }

    override var type: String { Self.storeType }

    private func read() throws -> File? {
        guard let url, FileManager.default.fileExists(atPath: url.path) else { return nil }
        return try JSONDecoder().decode(File.self, from: Data(contentsOf: url))
    }

    override func loadMetadata() throws {
        metadata = [NSStoreUUIDKey: try read()?.identifier ?? UUID().uuidString, NSStoreTypeKey: Self.storeType]
    }

    override func load() throws {
        let entities = persistentStoreCoordinator?.managedObjectModel.entitiesByName ?? [:]
        func id(_ entity: String, _ key: UUID) throws -> NSManagedObjectID {
            guard let entity = entities[entity] else { throw UnreadableFile(description: "The model has no entity “\(entity)”.") }
            return objectID(for: entity, withReferenceObject: key)
        }
        let nodes = try (read()?.records ?? []).map { record in
            let node = NSAtomicStoreCacheNode(objectID: try id(record.entity, record.key))
            let entity = node.objectID.entity
            for (name, text) in record.values {
                guard let attribute = entity.attributesByName[name], let value = Self.value(text, attribute) else {
                    throw UnreadableFile(description: "“\(name)” of \(record.entity) cannot be “\(text.prefix(40))”.")
                }
                node.setValue(value, forKey: name)
            }
            for (name, references) in record.related {
                let ids = try references.map { try id($0.entity, $0.key) }
                if entity.relationshipsByName[name]?.isToMany ?? true {
                    node.setValue(ids, forKey: name)
                } else {
                    node.setValue(ids.first, forKey: name)
                }
            }
            return node
        }
        addCacheNodes(Set(nodes))
    }

    override func save() throws {
        guard let url else { throw CocoaError(.fileNoSuchFile) }
        func reference(_ id: NSManagedObjectID) throws -> Reference {
            guard let entity = id.entity.name, let key = referenceObject(for: id) as? UUID else {
                throw UnreadableFile(description: "\(id) is not an ID of this store.")
            }
            return Reference(entity: entity, key: key)
        }
        let records = try cacheNodes().map { node in
            let own = try reference(node.objectID)
            var record = Record(entity: own.entity, key: own.key, values: [:], related: [:])
            for (name, attribute) in node.objectID.entity.attributesByName where !attribute.isTransient {
                if let value = node.value(forKey: name) { record.values[name] = try Self.text(value, attribute) }
            }
            for name in node.objectID.entity.relationshipsByName.keys {
                switch node.value(forKey: name) {
                case let one as NSAtomicStoreCacheNode: record.related[name] = [try reference(one.objectID)]
                case let one as NSManagedObjectID: record.related[name] = [try reference(one)]
                case let many as [NSManagedObjectID]: record.related[name] = try many.map(reference)
                default: break
                }
            }
            return record
        }
        let file = File(identifier: identifier, records: records.sorted { $0.key.uuidString < $1.key.uuidString })
        try JSONEncoder().encode(file).write(to: url, options: .atomic)
    }

    private static func text(_ value: Any, _ attribute: NSAttributeDescription) throws -> String? {
        switch attribute.attributeType {
        case .doubleAttributeType, .floatAttributeType: (value as? NSNumber).map { "\($0.doubleValue.bitPattern)" }
        case .dateAttributeType: (value as? Date).map { "\($0.timeIntervalSinceReferenceDate.bitPattern)" }
        case .binaryDataAttributeType: (value as? Data)?.base64EncodedString()
        case .URIAttributeType: (value as? URL)?.absoluteString
        case .transformableAttributeType:
            try PropertyListSerialization.data(fromPropertyList: value, format: .xml, options: 0).base64EncodedString()
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType:
            (value as? NSNumber).map { "\($0.int64Value)" }
        default: "\(value)"
        }
    }

    private static func value(_ text: String, _ attribute: NSAttributeDescription) -> Any? {
        switch attribute.attributeType {
        case .doubleAttributeType, .floatAttributeType: UInt64(text).map { Double(bitPattern: $0) }
        case .dateAttributeType: UInt64(text).map { Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0)) }
        case .binaryDataAttributeType: Data(base64Encoded: text)
        case .URIAttributeType: URL(string: text)
        case .UUIDAttributeType: UUID(uuidString: text)
        case .decimalAttributeType: Decimal(string: text)
        case .transformableAttributeType:
            Data(base64Encoded: text).flatMap { try? PropertyListSerialization.propertyList(from: $0, format: nil) }
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType: Int64(text)
        default: text
        }
    }
}
