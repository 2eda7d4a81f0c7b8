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
    private var byKey: [Key: [String: NSManagedObject]] = [:]
    /// The keys of the records.
    private var recordKeys: [Key: Set<String>] = [:]
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

    /// The attributes by which objects of an entity and of its subentities are the same, whatever their URIs.
    private struct Key: Hashable {
        /// The name of the entity that has the attributes, or their constraint.
        let entity: String
        let attributes: [String]
    }

    /// Returns the keys of an entity: the attribute that was asked for, or its uniqueness constraints and those that it inherits.
    private func keys(of entity: NSEntityDescription) -> [Key] {
        let line = sequence(first: entity, next: \.superentity)
        if let key, entity.attributesByName[key] != nil {
            let owner = Array(line).last { $0.attributesByName[key] != nil }
            return [Key(entity: (owner ?? entity).name ?? "", attributes: [key])]
        }
        return line.flatMap { owner in
            owner.uniquenessConstraints.compactMap { constraint in
                let names = constraint.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
                guard !names.isEmpty, names.allSatisfy({ owner.attributesByName[$0] != nil }) else { return nil }
                return Key(entity: owner.name ?? "", attributes: names)
            }
        }
    }

    /// Returns the text of an object's key; nil where a value is missing.
    private func text(of key: Key, _ value: (NSAttributeDescription) throws -> Any?, of entity: NSEntityDescription) rethrows -> String? {
        var values: [JSONValue] = []
        for name in key.attributes {
            guard let attribute = entity.attributesByName[name], let value = try value(attribute) else { return nil }
            values.append(ValueText.json(value, attribute))
        }
        return JSONValue.array(values).text(indent: false)
    }

    /// Returns the object with a key, in the store or among the records.
    private mutating func object(_ text: String, of key: Key) throws -> NSManagedObject? {
        if let known = byKey[key] { return known[text] }
        var found: [String: NSManagedObject] = [:]
        for object in try store.context.fetch(NSFetchRequest<NSManagedObject>(entityName: key.entity)) {
            if let text = self.text(of: key, { object.value(forKey: $0.name) }, of: object.entity) { found[text] = object }
        }
        byKey[key] = found
        return found[text]
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
        let values = Dictionary(record.values.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        var known = identity.flatMap { stored[$0] }
        var texts: [(key: Key, text: String)] = []
        for key in keys(of: entity) {
            let text = try self.text(
                of: key, { attribute in try values[attribute.name].flatMap { try ExchangeValue.value($0, of: attribute) } }, of: entity)
            guard let text else { continue }
            if recordKeys[key]?.contains(text) == true {
                throw ExchangeValue.Mistake(message: "Another record has the same \(key.attributes.joined(separator: ", ")).")
            }
            let other = try object(text, of: key)
            known = known ?? other
            texts.append((key, text))
        }
        if let known, !known.entity.isKindOf(entity: entity), !entity.isKindOf(entity: known.entity) || known.entity.name != entity.name {
            throw ExchangeValue.Mistake(message: "The store has this object as “\(known.entity)”, not as “\(entity)”.")
        }
        let object = known ?? NSManagedObject(entity: entity, insertInto: store.context)
        if let identity { byIdentity[identity] = object }
        for (key, text) in texts {
            byKey[key, default: [:]][text] = object
            recordKeys[key, default: []].insert(text)
        }
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
        for key in keys(of: destination) where found == nil && key.attributes.count == 1 {
            // The value of a key stands for its object, too.
            guard let attribute = destination.attributesByName[key.attributes[0]],
                let value = try? ExchangeValue.value(.text(reference), of: attribute),
                let text = text(of: key, { _ in value }, of: destination)
            else { continue }
            found = try object(text, of: key)
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
