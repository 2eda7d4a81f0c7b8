internal import Foundation
internal import ObjectGraph

/// The objects of the records that are imported: those of the store that are the same, and new ones.
///
/// Objects are the same by their URIs in the store that they come from, and by the values of a key elsewhere.
struct ImportedObjects {
    /// An identity: a URI with the root of the entity, of which a store has each key once.
    struct Identity: Hashable {
        let store: String
        let root: String
        let reference: String
    }

    private let store: OpenStore
    private let key: String?
    private(set) var byIdentity: [Identity: NSManagedObject] = [:]
    private var byKey: [String: [String: NSManagedObject]] = [:]
    private var stored: [Identity: NSManagedObject] = [:]

    init(_ store: OpenStore, key: String?) { (self.store, self.key) = (store, key) }

    // MARK: Identities

    /// Returns the identity that a URI, or the end of one (`Album/p12`), means; nil for other text.
    func identity(_ text: String) -> Identity? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
        let isWhole = text.hasPrefix("x-coredata://")
        guard parts.count == (isWhole ? 4 : 2), let name = parts[parts.count - 2].removingPercentEncoding,
            let entity = store.model.entitiesByName[name]
        else { return nil }
        return Identity(
            store: isWhole ? parts[1] : store.store.identifier ?? "", root: entity.rootEntity.name ?? "", reference: parts[parts.count - 1])
    }

    /// Reads the objects of the store that records are, or refer to.
    mutating func readStored(_ identities: Set<Identity>) throws {
        let own = identities.filter { $0.store == store.store.identifier }
        let ids = own.compactMap { identity in
            URL(string: "x-coredata://\(identity.store)/\(Self.encoded(identity.root))/\(identity.reference)").flatMap {
                store.coordinator.managedObjectID(forURIRepresentation: $0)
            }
        }
        for (name, ids) in Dictionary(grouping: ids, by: { $0.entity.rootEntity.name ?? "" }) {
            for start in stride(from: 0, to: ids.count, by: 512) {
                try Interruption.check()
                let request = NSFetchRequest<NSManagedObject>(entityName: name)
                request.predicate = NSPredicate(format: "SELF IN %@", argumentArray: [Array(ids[start..<min(ids.count, start + 512)])])
                request.returnsObjectsAsFaults = false
                for object in try store.context.fetch(request) {
                    if let identity = self.identity(object.objectID.uriRepresentation().absoluteString) { stored[identity] = object }
                }
            }
        }
    }

    private static func encoded(_ name: String) -> String { name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? name }

    // MARK: Keys

    /// The attributes by which objects of an entity are the same, whatever their URIs.
    func keys(of entity: NSEntityDescription) -> [String] {
        if let key, entity.attributesByName[key] != nil { return [key] }
        for constraint in entity.uniquenessConstraints {
            let names = constraint.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
            if !names.isEmpty, names.allSatisfy({ entity.attributesByName[$0] != nil }) { return names }
        }
        return []
    }

    /// Returns the text of an object's key; nil where a value is missing.
    private func keyText(_ keys: [String], _ value: (NSAttributeDescription) throws -> Any?, of entity: NSEntityDescription) rethrows
        -> String?
    {
        var values: [JSONValue] = []
        for key in keys {
            guard let attribute = entity.attributesByName[key], let value = try value(attribute) else { return nil }
            values.append(ValueText.json(value, attribute))
        }
        return JSONValue.array(values).text(indent: false)
    }

    /// Reads the keys of the stored objects of an entity, once.
    private mutating func readKeys(of entity: NSEntityDescription) throws {
        let root = entity.rootEntity.name ?? ""
        guard byKey[root] == nil else { return }
        let keys = keys(of: entity)
        let request = NSFetchRequest<NSManagedObject>(entityName: root)
        var found: [String: NSManagedObject] = [:]
        for object in try store.context.fetch(request) {
            guard keys.allSatisfy({ object.entity.attributesByName[$0] != nil }) else { continue }
            if let text = keyText(keys, { object.value(forKey: $0.name) }, of: object.entity) { found[text] = object }
        }
        byKey[root] = found
    }

    // MARK: Objects

    /// Returns the object of a record, and whether the store has it; a new one where it has none.
    ///
    /// - Throws: ``ExchangeValue/Mistake`` for a key that another record has.
    mutating func object(of record: ExchangeRecord, _ entity: NSEntityDescription) throws -> (object: NSManagedObject, isStored: Bool) {
        let identity = try record.id.map { text in
            guard let identity = self.identity(text) else { throw ExchangeValue.Mistake(message: "“\(text)” is no URI of an object.") }
            return identity
        }
        if let identity, byIdentity[identity] != nil { throw ExchangeValue.Mistake(message: "Another record is the same object.") }
        let keys = keys(of: entity)
        var text: String?
        if !keys.isEmpty {
            try readKeys(of: entity)
            let values = Dictionary(record.values.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
            text = try keyText(
                keys, { attribute in try values[attribute.name].flatMap { try ExchangeValue.value($0, of: attribute) } }, of: entity)
        }
        let root = entity.rootEntity.name ?? ""
        let known = identity.flatMap { stored[$0] } ?? text.flatMap { byKey[root]?[$0] }
        if let known, !known.entity.isKindOf(entity: entity), !entity.isKindOf(entity: known.entity) || known.entity.name != entity.name {
            throw ExchangeValue.Mistake(message: "The store has this object as “\(known.entity)”, not as “\(entity)”.")
        }
        let object = known ?? NSManagedObject(entity: entity, insertInto: store.context)
        if let identity { byIdentity[identity] = object }
        if let text { byKey[root, default: [:]][text] = object }
        return (object, known != nil)
    }

    /// Returns the object that a reference means.
    ///
    /// - Throws: ``ExchangeValue/Mistake`` where there is none, or one of another entity.
    mutating func object(of reference: String, for relationship: NSRelationshipDescription) throws -> NSManagedObject {
        guard let destination = relationship.destinationEntity else {
            throw ExchangeValue.Mistake(message: "The relationship leads to no entity.")
        }
        var found: NSManagedObject?
        if let identity = self.identity(reference) { found = byIdentity[identity] ?? stored[identity] }
        let keys = keys(of: destination)
        if found == nil, keys.count == 1, let attribute = destination.attributesByName[keys[0]] {
            // The value of a key stands for its object, too.
            try readKeys(of: destination)
            if let value = try? ExchangeValue.value(.text(reference), of: attribute) {
                found = keyText(keys, { _ in value }, of: destination).flatMap { byKey[destination.rootEntity.name ?? ""]?[$0] }
            }
        }
        guard let found else {
            throw ExchangeValue.Mistake(message: "“\(DisplayText.line(reference))” is no object of the files, nor of the store.")
        }
        guard found.entity.isKindOf(entity: destination) else {
            throw ExchangeValue.Mistake(message: "“\(DisplayText.line(reference))” is of “\(found.entity)”, not of “\(destination)”.")
        }
        return found
    }
}
