internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// A row that a transaction is about to write.
// Used by the one thread that writes.
final class CacheRow {
    let key: CacheKey
    let entity: CacheEntity
    /// The row of the file; nil for a new one.
    let base: Row?
    /// The row with the new values, which no other object uses.
    let row: Row
    private(set) var changed = PropertySet()
    /// The lists that change, by the index of the relationship.
    var lists: [Int: (added: [NSManagedObjectID], removed: [NSManagedObjectID], members: [NSManagedObjectID]?)] = [:]
    var isDeleted = false
    /// Whether a context saves it: another context that has read it before and changes it too gets a conflict.
    var isSaved = false
    private let file: CacheFile

    init(_ key: CacheKey, _ entity: CacheEntity, base: Row?, _ file: CacheFile) {
        (self.key, self.entity, self.base, self.file) = (key, entity, base, file)
        if let base {
            row = base.copy()
            row.version = base.version &+ 1
        } else {
            row = Row.blank(entity.inner.frozenParts.layout, objectID: entity.innerID(key.number, file.token), version: 1)
        }
    }

    /// Creates a new row from existing values.
    init(_ key: CacheKey, _ entity: CacheEntity, new row: Row, _ file: CacheFile) {
        (self.key, self.entity, base, self.row, self.file) = (key, entity, nil, row, file)
    }

    /// Whether there is something to write.
    var isChanged: Bool { base == nil || isDeleted || !changed.isEmpty || !lists.isEmpty }

    // MARK: Values

    private func attribute(_ name: String) throws -> NSAttributeDescription {
        guard let attribute = entity.inner.frozenParts.byName[name] as? NSAttributeDescription else {
            throw RemoteStoreError.unknownProperty(name, of: entity.name)
        }
        return attribute
    }

    /// Returns the value of an attribute.
    func value(_ name: String) throws -> PropertyValue { row.value(of: try attribute(name)) }

    /// Sets the value of an attribute; writes nothing if it is unchanged.
    func set(_ value: PropertyValue, _ name: String) throws {
        let attribute = try attribute(name)
        if row.value(of: attribute) == value { return }
        try row.setValue(value, of: attribute)
        changed.insert(attribute.slotIndex)
    }

    /// Returns the destination of a to-one relationship.
    func one(_ name: String) throws -> CacheKey? {
        try row.relatedIDs(relationship(name)).first.map { file.key(of: $0) }
    }

    /// Sets the destination of a to-one relationship.
    func setOne(_ destination: CacheKey?, _ name: String) throws {
        let relationship = try relationship(name)
        let id = destination.map { $0.entity.innerID($0.number, file.token) }
        if row.relatedIDs(relationship).first?.uriKey == id?.uriKey { return }
        row.setRelatedIDs(id.map { [$0] } ?? [], of: relationship)
        changed.insert(relationship.slotIndex)
    }

    func relationship(_ name: String) throws -> NSRelationshipDescription {
        guard let relationship = entity.inner.frozenParts.byName[name] as? NSRelationshipDescription else {
            throw RemoteStoreError.unknownProperty(name, of: entity.name)
        }
        return relationship
    }

    /// Copies the known values of a row of the program's entity, or of a backend's answer.
    ///
    /// - Parameters:
    ///   - source: The row.
    ///   - skipped: The slot indexes, in the file's entity, of the properties that are not copied.
    ///   - reference: A closure that returns the file's ID of a destination.
    /// - Returns: Whether something has changed.
    @discardableResult func take(
        _ source: Row, besides skipped: PropertySet = PropertySet(), reference: (NSManagedObjectID) throws -> NSManagedObjectID
    ) rethrows -> Bool {
        guard let copy = entity.toInner else { return false }
        let different = try copy.differences(from: source, to: row, besides: skipped, reference: reference)
        if different.isEmpty { return false }
        try copy.copy(different, from: source, to: row, reference: reference)
        for index in row.layout.slots.indices where different.contains(index) { changed.insert(index) }
        return true
    }

    // MARK: The added attributes

    var resource: ResourceID? { entity.resource(of: row) }
    var version: ResourceVersion? { entity.version(of: row) }
    var state: CacheState { entity.state(of: row) }
    var knowledge: CacheEntity.Knowledge { entity.knowledge(of: row) }

    private func set(_ value: StorableValue, _ column: CacheEntity.Column) {
        row.store(value, in: column.slot)
        changed.insert(column.attribute.slotIndex)
    }

    func setResource(_ resource: ResourceID?) {
        guard let column = entity.columns?.resource else { return }
        let text = resource?.fileText
        if entity.resourceText(of: row) != text { set(text.map { .string($0) } ?? .null, column) }
    }

    func setVersion(_ version: ResourceVersion?) {
        guard let column = entity.columns?.version, self.version != version else { return }
        set(version.map { .string($0.encoded) } ?? .null, column)
    }

    func setState(_ state: CacheState) {
        guard let column = entity.columns?.state, base == nil || self.state != state else { return }
        if state == .stub { file.gaps.noteStub(entity.root) }
        set(.integer(state.rawValue), column)
    }

    func setFetchedAt(_ time: Double?) {
        guard let column = entity.columns?.fetchedAt, entity.fetchedAt(row) != time else { return }
        set(time.map { .double($0) } ?? .null, column)
    }

    func setLastUsed(_ time: Double) {
        if let column = entity.columns?.lastUsed { set(.double(time), column) }
    }

    func setKnowledge(_ knowledge: CacheEntity.Knowledge) {
        guard let column = entity.columns?.known, self.knowledge != knowledge else { return }
        file.gaps.note(unknown: knowledge.unknown, entity.root)
        set(knowledge.text.map { .string($0) } ?? .null, column)
    }

    /// Removes everything but the identity.
    func makeStub() throws {
        for property in entity.outer?.frozenParts.properties ?? [] where !property.isTransient && !property.isToManyRelationship {
            if property is NSRelationshipDescription { try setOne(nil, property.name) } else { try set(.null, property.name) }
        }
        setKnowledge(.usual)
        setVersion(nil)
        setFetchedAt(nil)
        setState(.stub)
    }

    // MARK: The change

    /// Keeps the version for contexts if the displayed values are unchanged.
    ///
    /// - Returns: Whether they are.
    private func noteSilentWrite() -> Bool {
        guard let base, !isDeleted, lists.isEmpty, let column = entity.columns?.known, let outer = entity.outer else { return false }
        let before = entity.knowledge(of: base)
        let state = entity.state(of: base)
        if state == .stub || state.isShown != self.state.isShown { return false }
        // A value that was dropped and must be read again is no longer displayed.
        if state.isPending, !self.state.isPending, !knowledge.unknown.isSubset(of: before.unknown) { return false }
        for property in outer.frozenParts.properties where !property.isTransient {
            guard let twin = entity.inner.frozenParts.byName[property.name], changed.contains(twin.slotIndex) else { continue }
            if !before.unknown.contains(property.name) { return false }
        }
        var after = knowledge
        while after.silentWrites <= before.silentWrites { after = after.afterSilentWrite() }
        set(after.text.map { .string($0) } ?? .null, column)
        return true
    }

    /// Notes that a context has saved the current values of the row.
    private func noteSave() {
        guard let column = entity.columns?.known else { return }
        let knowledge = knowledge
        set(knowledge.afterSave(version: row.version &- knowledge.silentWrites).text.map { .string($0) } ?? .null, column)
    }

    func change() -> StoreChange {
        if !isDeleted, base != nil {
            let isSilent = noteSilentWrite()
            if isSaved, !isSilent { noteSave() }
        }
        if isDeleted { return StoreChange(row: nil, base: base, identity: base == nil ? entity.innerID(key.number, file.token) : nil) }
        var changed = changed
        var differences: [ListDifference] = []
        for (index, list) in lists.sorted(by: { $0.key < $1.key }) {
            changed.insert(index)
            differences.append(
                ListDifference(
                    slotIndex: index, name: entity.inner.frozenParts.properties[index].name, added: list.added, removed: list.removed,
                    members: list.members))
        }
        return StoreChange(row: row, base: base, changed: base == nil ? PropertySet() : changed, lists: differences)
    }
}

extension NSManagedObjectID {
    /// An identity that is equal for IDs of the same row in a file, with its entity.
    fileprivate var uriKey: CacheIdentity { CacheIdentity(entity: ObjectIdentifier(owningEntity), number: number ?? 0) }
}

private struct CacheIdentity: Equatable {
    let entity: ObjectIdentifier
    let number: Int64
}
