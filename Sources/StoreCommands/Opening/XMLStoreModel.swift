internal import Foundation
internal import ObjectGraph
internal import Platform
internal import PropertyLists

/// Drafts a model from the objects of an XML store. Properties that no object has are missing, and relationships have no inverse.
struct XMLStoreModel {
    private let url: URL

    init(_ url: URL) { self.url = url }

    func model() throws -> NSManagedObjectModel {
        let root: PropertyLists.XMLElement
        do { root = try XMLReader.read(try document()) } catch let error as XMLReader.FormatError {
            throw CommandError.make(
                "No model can be drafted from the XML store at \(url.path).", reason: "Line \(error.line): \(error.reason)",
                next: "Name its model with --model.", cause: error)
        }
        let objects = root.children.filter { $0.name == "object" }
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSXMLStoreType, at: url)
        // The file has entity names in upper case, and its metadata has the original names.
        let known = (metadata[NSStoreModelVersionHashesKey] as? [String: Any] ?? [:]).keys
        let names = Dictionary(known.map { ($0.uppercased(), $0) }, uniquingKeysWith: { first, _ in first })
        var entities: [String: NSEntityDescription] = [:]
        func entity(_ type: String) -> NSEntityDescription {
            if let known = entities[type] { return known }
            let entity = NSEntityDescription()
            entity.name = names[type] ?? type
            entities[type] = entity
            return entity
        }
        let types = Dictionary(objects.compactMap { object in object["id"].map { ($0, object["type"] ?? "") } }, uniquingKeysWith: { $1 })
        var properties: [String: [String: NSPropertyDescription]] = [:]
        var above: [String: String] = [:]
        for object in objects {
            let type = object["type"] ?? ""
            _ = entity(type)
            for child in object.children {
                guard let name = child["name"], properties[type]?[name] == nil || child.name == "relationship" else { continue }
                if child.name == "attribute" {
                    let attribute = NSAttributeDescription()
                    attribute.name = name
                    attribute.type = Self.type(child["type"] ?? "")
                    properties[type, default: [:]][name] = attribute
                } else if child.name == "relationship", let destination = child["destination"] {
                    for id in (child["idrefs"] ?? "").split(separator: " ") {
                        if let kind = types[String(id)], kind != destination { above[kind] = destination }
                    }
                    if properties[type]?[name] != nil { continue }
                    let relationship = NSRelationshipDescription()
                    relationship.name = name
                    relationship.maxCount = child["type"]?.hasSuffix("/1") == true ? 1 : 0
                    relationship.destinationEntity = entity(destination)
                    properties[type, default: [:]][name] = relationship
                }
            }
        }
        for (type, destination) in above.sorted(by: { $0.key < $1.key }) where !isAbove(type, destination, above) {
            entity(destination).subentities.append(entity(type))
        }
        for (type, entity) in entities {
            var inherited: Set<String> = []
            var current = entity.superentity
            while let parent = current {
                inherited.formUnion(properties[(parent.name ?? "").uppercased()]?.keys.map { $0 } ?? [])
                current = parent.superentity
            }
            entity.properties = (properties[type] ?? [:]).filter { !inherited.contains($0.key) }.sorted { $0.key < $1.key }.map(\.value)
        }
        return NSManagedObjectModel(entities: entities.sorted { $0.key < $1.key }.map(\.value))
    }

    /// Returns the file without its document type, which Apple's framework writes and which models do not have.
    private func document() throws -> Data {
        var data = try RegularFile.data(url)
        if let start = data.range(of: Data("<!DOCTYPE".utf8)), start.lowerBound < 1000,
            let end = data.range(of: Data(">".utf8), in: start.upperBound..<data.endIndex)
        {
            data.replaceSubrange(start.lowerBound..<end.upperBound, with: Data())
        }
        return data
    }

    /// Returns whether an entity is above another, so that the other cannot be its superentity.
    private func isAbove(_ type: String, _ other: String, _ above: [String: String]) -> Bool {
        var current: String? = other
        var steps = 0
        while let name = current, steps <= above.count {
            if name == type { return true }
            current = above[name]
            steps += 1
        }
        return steps > above.count
    }

    private static func type(_ name: String) -> NSAttributeDescription.AttributeType {
        switch name {
        case "int16": .integer16
        case "int32": .integer32
        case "int64": .integer64
        case "decimal": .decimal
        case "double": .double
        case "float": .float
        case "bool": .boolean
        case "date": .date
        case "binary": .binaryData
        case "uuid": .uuid
        case "uri": .uri
        case "transformable": .transformable
        default: .string
        }
    }
}
