internal import Foundation
internal import ObjectGraph

/// The objects for imported records: matching objects of the store, and new ones.
///
/// Objects are identified by their URIs within the store that they come from, and otherwise by the values of a key.
struct ImportedObjects {
    /// An identity: a URI with the root of the entity, because keys are unique there.
    struct Identity: Hashable {
        let store: String
        let root: String
        let reference: NSManagedObjectID.Reference
    }

    private let store: OpenStore
    /// The identifier of the requested store; that of a copy may differ.
    private let identifier: String?
    private let keys: ObjectKeys
    private var byIdentity: [Identity: NSManagedObject] = [:]
    private var stored: [Identity: NSManagedObject] = [:]
    private var owners: [ObjectKeys.Key: Owners] = [:]
    /// The places of the records, by their objects.
    private var places: [NSManagedObjectID: ExchangeRecord.Place] = [:]
    /// The records whose objects have, or will have, the values of a key.
    private var claims: [ObjectKeys.Key: [[JSONValue]: Claim]] = [:]

    /// A record that claims the values of a key for its object.
    private struct Claim {
        let place: ExchangeRecord.Place
        /// Whether its object in the store lacks some of the values.
        let isNew: Bool
    }

    init(_ store: OpenStore, identifier: String?, keys: ObjectKeys) {
        (self.store, self.identifier, self.keys) = (store, identifier, keys)
    }

    // MARK: Identities

    /// Returns the identity in a URI, or in the end of one (`Album/p12`); nil for other text.
    func identity(_ text: String) -> Identity? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
        let isWhole = text.hasPrefix("x-coredata://")
        guard parts.count == (isWhole ? 4 : 2), let name = parts[parts.count - 2].removingPercentEncoding,
            let entity = store.model.entitiesByName[name]
        else { return nil }
        return Identity(
            store: isWhole && parts[1] != identifier ? parts[1] : store.store.identifier ?? "", root: entity.rootEntity.name ?? "",
            // It is compared by its bytes.
            reference: .string(parts[parts.count - 1]))
    }

    /// Reads the objects of the store for records and references.
    mutating func readStored(_ identities: Set<Identity>) throws {
        let own = identities.filter { $0.store == store.store.identifier }
        let ids = own.compactMap { identity -> NSManagedObjectID? in
            guard case .string(let reference) = identity.reference else { return nil }
            return URL(string: "x-coredata://\(identity.store)/\(Self.encoded(identity.root))/\(reference)").flatMap {
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

    /// The objects of the store and of the records, by the values of a key.
    private struct Owners {
        private(set) var objects: [[JSONValue]: NSManagedObject] = [:]
        /// The values of several objects of the store, which are not unique.
        private(set) var shared: Set<[JSONValue]> = []

        mutating func addStored(_ object: NSManagedObject, _ values: [JSONValue]) {
            if objects.updateValue(object, forKey: values) != nil { shared.insert(values) }
        }

        mutating func set(_ object: NSManagedObject, _ values: [JSONValue]) { objects[values] = object }
    }

    /// Reads the objects of the store with values of a key, once.
    private mutating func readOwners(of key: ObjectKeys.Key) throws {
        if owners[key] != nil { return }
        var found = Owners()
        for object in try store.context.fetch(NSFetchRequest<NSManagedObject>(entityName: key.entity)) {
            if let values = ObjectKeys.values(of: key, object.entity, { object.value(forKey: $0.name) }) { found.addStored(object, values) }
        }
        owners[key] = found
    }

    /// Returns the object with the values of a key, in the store or among the records.
    ///
    /// - Throws: ``ExchangeValue/Mistake`` for values of several objects.
    private mutating func object(_ values: [JSONValue], of key: ObjectKeys.Key) throws -> NSManagedObject? {
        try readOwners(of: key)
        if owners[key]?.shared.contains(values) == true {
            throw ExchangeValue.Mistake(
                message: "The store has several objects with this \(key.names): nothing tells which of them is meant.")
        }
        return owners[key]?.objects[values]
    }

    // MARK: Objects

    /// Returns the object of a record, which is a new one if there is none, and whether it is in the store.
    ///
    /// - Throws: ``ExchangeValue/Mistake`` for an object, or a key, of another record.
    mutating func object(of record: ExchangeRecord, _ entity: NSEntityDescription) throws -> (object: NSManagedObject, isStored: Bool) {
        let identity = try record.id.map { text in
            guard let identity = self.identity(text) else { throw ExchangeValue.Mistake(message: "“\(text)” is no URI of an object.") }
            return identity
        }
        let keys = self.keys.keys(of: entity)
        let given = try values(of: record, keys, entity)
        for key in keys { try readOwners(of: key) }
        var (known, key) = (identity.flatMap { byIdentity[$0] ?? stored[$0] }, ObjectKeys.Key?.none)
        // An attribute that the record lacks has its default value in a new object. If it is unique, only one such object can exist.
        for isComplete in [true, false] {
            for next in keys where known == nil && (isComplete || next.isUnique) {
                let values = ObjectKeys.values(of: next, entity) { attribute in
                    if let value = given[attribute.name] { return value }
                    return isComplete ? nil : attribute.defaultValue
                }
                if let values { (known, key) = (try object(values, of: next), next) }
            }
        }
        if let known, let place = places[known.objectID] {
            throw ExchangeValue.Mistake(message: "The record in \(place) is the same object\(key.map { " by its \($0.names)" } ?? "").")
        }
        if let known, !known.entity.isKindOf(entity: entity), !entity.isKindOf(entity: known.entity) || known.entity.name != entity.name {
            throw ExchangeValue.Mistake(message: "The store has this object as “\(known.entity)”, not as “\(entity)”.")
        }
        var claimed: [(key: ObjectKeys.Key, values: [JSONValue], claim: Claim)] = []
        for key in keys {
            let values = ObjectKeys.values(of: key, entity) { attribute in
                if let value = given[attribute.name] { return value }
                guard let known else { return key.isUnique ? attribute.defaultValue : nil }
                return known.value(forKey: attribute.name)
            }
            guard let values else { continue }
            let claim = Claim(place: record.place, isNew: known == nil || key.attributes.contains { given[$0] != nil })
            if let other = claims[key]?[values], other.isNew || claim.isNew {
                throw ExchangeValue.Mistake(message: "The record in \(other.place) has the same \(key.names).")
            }
            claimed.append((key, values, claim))
        }
        let object = known ?? NSManagedObject(entity: entity, insertInto: store.context)
        if let identity { byIdentity[identity] = object }
        places[object.objectID] = record.place
        for (key, values, claim) in claimed {
            owners[key]?.set(object, values)
            claims[key, default: [:]][values] = claim
        }
        return (object, known != nil)
    }

    /// Returns a record's values of keys; nil for those that are nil in the record.
    private func values(
        of record: ExchangeRecord, _ keys: [ObjectKeys.Key], _ entity: NSEntityDescription
    ) throws -> [String: Any?] {
        let values = Dictionary(record.values.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        var given: [String: Any?] = [:]
        for name in Set(keys.flatMap(\.attributes)) {
            guard let value = values[name], let attribute = entity.attributesByName[name] else { continue }
            given.updateValue(try ExchangeValue.value(value, of: attribute, inTables: store.hasTables), forKey: name)
        }
        return given
    }

    /// Returns the object for a reference.
    ///
    /// - Throws: ``ExchangeValue/Mistake`` if there is none, or one of another entity.
    mutating func object(of reference: String, for relationship: NSRelationshipDescription) throws -> NSManagedObject {
        guard let destination = relationship.destinationEntity else {
            throw ExchangeValue.Mistake(message: "The relationship leads to no entity.")
        }
        var found: NSManagedObject?
        if let identity = self.identity(reference) { found = byIdentity[identity] ?? stored[identity] }
        for key in keys.keys(of: destination) where found == nil && key.attributes.count == 1 {
            // The value of a key also identifies its object.
            guard let attribute = destination.attributesByName[key.attributes[0]],
                let value = try? ExchangeValue.value(.text(reference), of: attribute, inTables: store.hasTables),
                let values = ObjectKeys.values(of: key, destination, { _ in value })
            else { continue }
            found = try object(values, of: key)
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
