internal import Foundation
internal import ObjectGraph

/// Collects the entities that a reader of model files creates and resolves the names by which they refer to each other.
struct ModelAssembly {
    /// A name to resolve, and its place.
    struct Link {
        let relationship: NSRelationshipDescription
        let destination: String?
        let inverse: String?
    }

    /// The maximum depth of inheritance.
    static let inheritanceLimit = 100
    /// The maximum number of UTF-8 bytes of a name: names become classes, tables and keys, and are read many times.
    static let nameLimit = 10_000

    let file: String?
    private(set) var entities: [NSEntityDescription] = []
    private(set) var byName: [String: NSEntityDescription] = [:]
    private var parents: [(child: NSEntityDescription, parent: String, line: Int?)] = []
    private var links: [Link] = []
    var configurations: [(name: String, members: [String], line: Int?)] = []
    var templates: [(name: String, request: NSFetchRequest<any NSFetchRequestResult>)] = []
    /// The requests of templates and fetched properties, with the names of their entities.
    var requests: [(request: NSFetchRequest<any NSFetchRequestResult>, entity: String)] = []

    init(file: String?) { self.file = file }

    /// Adds an entity.
    ///
    /// - Throws: An error when an entity of that name exists, the names of its properties are not distinct, or one has more than ``nameLimit`` bytes.
    mutating func add(_ entity: NSEntityDescription, parent: String?, line: Int?) throws {
        let name = entity.name ?? ""
        for text in [name, entity.managedObjectClassName ?? ""] + entity.declaredProperties.map(\.name)
        where text.utf8.count > Self.nameLimit {
            throw ModelFileError.malformed(
                file, line: line, element: "entity “\(name.prefix(40))”",
                "The name “\(text.prefix(40))…” has \(text.utf8.count) bytes, and may have \(Self.nameLimit).")
        }
        guard byName.updateValue(entity, forKey: name) == nil else {
            throw ModelFileError.malformed(file, line: line, element: "entity “\(name)”", "There are two entities of this name.")
        }
        var names: Set<String> = []
        for property in entity.declaredProperties where !names.insert(property.name).inserted {
            throw ModelFileError.malformed(
                file, line: line, element: "entity “\(name)”", "There are two properties called “\(property.name)”.")
        }
        entities.append(entity)
        if let parent { parents.append((entity, parent, line)) }
    }

    mutating func add(_ link: Link) { links.append(link) }

    /// Resolves all names and fills `model`.
    ///
    /// A relationship whose destination is not in the file keeps the name: another model may contain it.
    func finish(_ model: NSManagedObjectModel) throws {
        try connectParents()
        for link in links {
            guard let destination = link.destination else { continue }
            ModelAssembly.connect(link.relationship, to: destination, inverse: link.inverse, in: byName)
        }
        for (request, name) in requests { request.settings.entity = byName[name] }
        model.entities = entities
        for configuration in configurations {
            let members = try configuration.members.map { name in
                guard let entity = byName[name] else {
                    throw ModelFileError.malformed(
                        file, line: configuration.line, element: "configuration “\(configuration.name)”",
                        "It has the entity “\(name)”, which is not in the model.")
                }
                return entity
            }
            model.setEntities(members, forConfigurationName: configuration.name)
        }
        for (name, request) in templates { model.setFetchRequestTemplate(request, forName: name) }
    }

    /// Connects a relationship with the entity and the inverse that it names, or keeps the names.
    static func connect(
        _ relationship: NSRelationshipDescription, to destination: String, inverse: String?, in entities: [String: NSEntityDescription]
    ) {
        guard let entity = entities[destination] else {
            relationship.missingDestination = destination
            relationship.missingInverse = inverse
            return
        }
        relationship.destinationEntity = entity
        relationship.missingDestination = nil
        relationship.missingInverse = nil
        guard let inverse else { return }
        var candidate: NSEntityDescription? = entity
        while let current = candidate {
            if let found = current.declaredProperties.first(where: { $0.name == inverse }) as? NSRelationshipDescription {
                relationship.inverseRelationship = found
                return
            }
            candidate = current.superentity
        }
        relationship.missingInverse = inverse
    }

    private func connectParents() throws {
        var children: [ObjectIdentifier: [NSEntityDescription]] = [:]
        var parentOf: [ObjectIdentifier: NSEntityDescription] = [:]
        for (child, name, line) in parents {
            guard let parent = byName[name] else {
                throw ModelFileError.malformed(
                    file, line: line, element: "entity “\(child.name ?? "")”", "It inherits from “\(name)”, which is not in the model.")
            }
            children[ObjectIdentifier(parent), default: []].append(child)
            parentOf[ObjectIdentifier(child)] = parent
        }
        for (child, _, line) in parents {
            var depth = 0
            var current: NSEntityDescription? = child
            while let entity = current {
                depth += 1
                guard depth <= ModelAssembly.inheritanceLimit else {
                    throw ModelFileError.malformed(
                        file, line: line, element: "entity “\(child.name ?? "")”",
                        "It inherits from itself, or over more than \(ModelAssembly.inheritanceLimit) entities.")
                }
                current = parentOf[ObjectIdentifier(entity)]
            }
        }
        for entity in entities {
            if let own = children[ObjectIdentifier(entity)] { entity.subentities = own }
        }
    }
}

extension NSRelationshipDescription {
    /// Sets the numeric values from an archive of a model.
    ///
    /// - Parameter rule: The number of a delete rule; nil for the default.
    /// - Returns: The problem with the numbers; nil if there is none.
    func take(minCount: Int, maxCount: Int, deleteRule rule: Int?) -> String? {
        // Archives have 32 bits for a count: in Apple's, `maxCount = .max` is -1.
        self.minCount = max(0, minCount)
        self.maxCount = maxCount < 0 ? .max : maxCount
        let number = rule ?? Int(NSDeleteRule.nullifyDeleteRule.rawValue)
        guard let rule = UInt(exactly: number).flatMap(NSDeleteRule.init(rawValue:)) else { return "There is no delete rule \(number)." }
        deleteRule = rule
        return nil
    }
}
