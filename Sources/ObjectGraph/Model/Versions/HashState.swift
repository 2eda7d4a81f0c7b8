internal import Foundation

/// How an entity is described at a moment, as far as its version hash depends on it: a hash is that of an entity as long as the state is.
///
/// Computing a state takes a fraction of the time of the hash.
struct HashState: Equatable, Sendable {
    /// The number of edits that affect the hash: those of the entity, its superentities, and their properties.
    private var edits: [Int] = []
    /// The names of others that are in the hash: of superentities, destinations and inverses.
    private var names: [String?] = []

    init(of entity: NSEntityDescription) {
        var seen: Set<ObjectIdentifier> = []
        var current: NSEntityDescription? = entity
        while let entity = current, seen.insert(ObjectIdentifier(entity)).inserted {
            edits.append(entity.hashEdits)
            for property in entity.declaredProperties { add(property) }
            current = entity.superentity
            names.append(current?.name)
        }
    }

    private mutating func add(_ property: NSPropertyDescription) {
        edits.append(property.hashEdits)
        switch property {
        case let relationship as NSRelationshipDescription:
            names.append(relationship.destinationEntity?.name ?? relationship.missingDestination)
            names.append(relationship.inverseRelationship?.name ?? relationship.missingInverse)
        case let composite as NSCompositeAttributeDescription: for element in composite.elements { add(element) }
        default: break
        }
    }
}

/// A hash of an entity that Apple's tools have computed.
struct AdoptedHash {
    let hash: Data
    /// The state that it belongs to; nil for a copy, whose edits are counted separately.
    var state: HashState?
    /// This framework's hash of the same state, once an edit has made it necessary: an edit may be taken back.
    var own: Data?
}

extension NSEntityDescription {
    /// Takes a hash that Apple's tools have computed.
    ///
    /// - Parameter hash: The hash of the entity in its current state.
    package func adopt(versionHash hash: Data) { adoptedHash = AdoptedHash(hash: hash, state: HashState(of: self)) }

    /// The adopted hash, if the entity has not changed since its adoption.
    var validAdoptedHash: Data? {
        guard let adoptedHash else { return nil }
        if let state = adoptedHash.state, state == HashState(of: self) { return adoptedHash.hash }
        return adoptedHash.own.flatMap { $0 == ownVersionHash ? adoptedHash.hash : nil }
    }

    /// Records that an edit is about to affect the hash.
    final func willEditHash() {
        requireMutable()
        keepOwnHash()
        hashEdits &+= 1
    }

    /// Computes this framework's hash of the state that an adopted hash is of, before an edit ends the state; also of subentities.
    final func keepOwnHash() {
        var seen: Set<ObjectIdentifier> = []
        keepOwnHash(&seen)
    }

    private func keepOwnHash(_ seen: inout Set<ObjectIdentifier>) {
        if adoptedHash != nil {
            let own = ownHashOfAdopted
            adoptedHash?.own = own
        }
        for entity in subentities where seen.insert(ObjectIdentifier(entity)).inserted { entity.keepOwnHash(&seen) }
    }

    /// This framework's hash of the state that the adopted hash belongs to; nil if it is no longer known.
    private var ownHashOfAdopted: Data? {
        guard let adoptedHash else { return nil }
        return adoptedHash.own ?? (adoptedHash.state == HashState(of: self) ? ownVersionHash : nil)
    }

    /// The adopted hash for a copy of the entity.
    var adoptedHashForCopy: AdoptedHash? {
        guard let adoptedHash, let own = ownHashOfAdopted else { return nil }
        return AdoptedHash(hash: adoptedHash.hash, state: nil, own: own)
    }
}

extension NSPropertyDescription {
    /// Records that an edit is about to affect the hash of the entity.
    final func willEditHash() {
        requireMutable()
        entity?.keepOwnHash()
        hashEdits &+= 1
    }
}
