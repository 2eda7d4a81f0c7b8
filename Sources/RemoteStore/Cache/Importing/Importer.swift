internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Imports the rows of a backend's answers: it changes only rows that differ, and none that is newer.
struct Importer {
    let file: CacheFile
    /// The ID space of the backend's rows.
    let decoding: AnswerDecoding
    let versions: VersionTable
    let catalog: Catalog
    let folding: (any PendingFolding)?
    /// A closure that removes a row whose object the backend no longer has, according to a request made at a time.
    let remove: @Sendable (CacheKey, UInt64, CacheTransaction) throws -> Void

    /// Imports rows.
    ///
    /// - Parameters:
    ///   - rows: The rows, with IDs of the backend.
    ///   - askedAt: The time of their request, in the order of the file.
    ///   - following: The number of rows that follow in further transactions.
    /// - Returns: The keys of the rows, in their order; nil for rows that are older than the deletion of their object.
    @discardableResult func take(
        _ rows: [Row], askedAt: UInt64, following: Int = 0, in transaction: CacheTransaction
    ) throws -> [CacheKey?] {
        if rows.isEmpty { return [] }
        let run = ImportRun(self, askedAt, transaction)
        return try run.take(rows, following)
    }

    /// Imports all members of a to-many relationship of an object.
    ///
    /// - Parameters:
    ///   - owner: The key of the object.
    ///   - members: The IDs of the backend.
    func takeList(
        _ relationship: NSRelationshipDescription, of owner: CacheKey, _ members: [NSManagedObjectID], askedAt: UInt64,
        in transaction: CacheTransaction
    ) throws {
        let run = ImportRun(self, askedAt, transaction)
        try run.placeMembers(members)
        try run.takeList(relationship.name, of: owner, members)
    }

    /// Returns whether a row of the file and a row of the backend with the same identifier belong to the same object, by the attribute that distinguishes them;
    /// nil if there is none.
    func isSame(_ stored: Row, _ row: Row) -> Bool? {
        guard let name = catalog.incarnation(of: row.knownObjectID.owningEntity),
            let new = row.knownObjectID.owningEntity.frozenParts.byName[name] as? NSAttributeDescription, !row.isUnknown(new),
            let old = file.entity(inner: stored.knownObjectID.owningEntity).inner.frozenParts.byName[name] as? NSAttributeDescription
        else { return nil }
        let (before, now) = (stored.value(of: old), row.value(of: new))
        return before.isNull || now.isNull ? nil : before == now
    }

    /// Returns the entity of the file for an object of the backend.
    func entity(_ id: NSManagedObjectID) -> CacheEntity { file.entity(id.owningEntity) }
}

/// The import of some rows.
// Used by the one thread that writes.
final class ImportRun {
    let importer: Importer
    let askedAt: UInt64
    let transaction: CacheTransaction
    /// The places of objects in the file, by the backend's IDs.
    @exclusivity(unchecked) private(set) var places = IDTable<Place>()
    /// The last entity that was looked up: rows mostly arrive entity by entity.
    @exclusivity(unchecked) private var last: Kind?
    private let uptime: Duration
    /// The time of the rows' request.
    private let askedUptime: Duration
    let now: Double
    /// Whether an object was deleted recently.
    private let hasGone: Bool
    /// The rows that have received versions without an order.
    @exclusivity(unchecked) private var tagged: [CacheKey] = []

    init(_ importer: Importer, _ askedAt: UInt64, _ transaction: CacheTransaction) {
        (self.importer, self.askedAt, self.transaction) = (importer, askedAt, transaction)
        uptime = importer.file.clock.uptime
        askedUptime = importer.file.order.uptime(of: askedAt)
        now = transaction.now
        hasGone = importer.file.order.hasGone
    }

    var file: CacheFile { importer.file }

    /// The place of an object in the file.
    struct Place {
        let key: CacheKey
        /// The row as the file has it; nil for a row that the transaction has created or edited.
        var row: Row?
    }

    /// An entity of the program.
    struct Kind {
        let outer: NSEntityDescription
        let entity: CacheEntity
        let hasToMany: Bool
        let hasRelationships: Bool
    }

    func kind(_ outer: NSEntityDescription) -> Kind {
        if let last, last.outer === outer { return last }
        let kind = Kind(
            outer: outer, entity: file.entity(outer), hasToMany: outer.hasToMany, hasRelationships: !outer.frozenParts.relationships.isEmpty
        )
        last = kind
        return kind
    }

    func take(_ rows: [Row], _ following: Int = 0) throws -> [CacheKey?] {
        try find(rows.map(\.knownObjectID))
        try findOtherForms(rows.map(\.knownObjectID)) { try transaction.adoptStubs(of: $0, in: $1) }
        var keys: [CacheKey?] = []
        keys.reserveCapacity(rows.count)
        // All keys are determined first, because rows may refer to each other.
        var hasNew = false
        var (areNew, stored) = (Array(repeating: false, count: rows.count), Array(repeating: Row?.none, count: rows.count))
        let unknown = rows.count - places.count
        var made = 0
        for (index, row) in rows.enumerated() {
            let id = row.knownObjectID
            if let place = places[id], try !isReplaced(place.key, by: row) {
                keys.append(place.key)
                stored[index] = place.row
            } else if let resource = importer.decoding.resourceID(id), !(hasGone && isGone(resource, row)) {
                let entity = kind(id.owningEntity).entity
                // If all rows are new, most of the following ones will be, too.
                let expected = max(1, unknown - made + (unknown == rows.count ? following : 0))
                let key = CacheKey(entity: entity, number: try file.newKey(entity, expecting: expected))
                made += 1
                places.set(Place(key: key), for: id)
                keys.append(key)
                if !hasNew { file.order.noteRead(key, uptime: uptime) }
                hasNew = true
                areNew[index] = true
            } else {
                keys.append(nil)
            }
        }
        var references: [NSManagedObjectID] = []
        var members: [NSManagedObjectID] = []
        for row in rows {
            let own = kind(row.knownObjectID.owningEntity)
            guard own.hasRelationships else { continue }
            own.entity.toInner?.forEachReference(of: row) { id in if places[id] == nil { references.append(id) } }
            if own.hasToMany { members += row.listedIDs.filter { places[$0] == nil } }
        }
        if !references.isEmpty { try place(references) }
        if !members.isEmpty { try placeMembers(members) }
        for index in rows.indices {
            guard let key = keys[index] else { continue }
            if areNew[index] { try insert(rows[index], key) } else { try take(rows[index], key, stored[index]) }
        }
        let filed = keys.compactMap { $0 }
        let (order, askedAt) = (file.order, askedAt)
        let tagged = tagged
        transaction.whenCommitted {
            order.note(filed, at: askedAt)
            if !tagged.isEmpty { order.noteCrossing(tagged, at: askedAt) }
        }
        return keys
    }

    /// Looks up the rows of resources.
    private func find(_ ids: [NSManagedObjectID]) throws {
        var wanted: [(entity: CacheEntity, resources: [ResourceID])] = []
        var current: Int?
        for id in ids {
            guard places.isEmpty || places[id] == nil, let resource = importer.decoding.resourceID(id) else { continue }
            let entity = kind(id.owningEntity).entity
            if current == nil || wanted[current ?? 0].entity.root != entity.root {
                current = wanted.firstIndex { $0.entity.root == entity.root } ?? wanted.count
                if current == wanted.count { wanted.append((entity, [])) }
            }
            wanted[current ?? 0].resources.append(resource)
        }
        places.reserveCapacity(places.count + ids.count)
        for (entity, resources) in wanted {
            try transaction.find(resources, in: entity) { resource, key, row in
                // The ID in the backend's space is the same for another entity of the inheritance tree.
                if let outer = key.entity.outer { places.set(Place(key: key, row: row), for: importer.decoding.id(resource, of: outer)) }
            }
        }
    }

    /// Looks up the rows of resources that were not found, with the given function for other forms of their identifiers.
    private func findOtherForms(
        _ ids: [NSManagedObjectID], _ keys: ([ResourceID], CacheEntity) throws -> [ResourceID: CacheKey]
    ) throws {
        var missing: [ObjectIdentifier: (entity: CacheEntity, ids: [ResourceID: NSManagedObjectID])] = [:]
        for id in ids where places[id] == nil {
            guard let resource = importer.decoding.resourceID(id) else { continue }
            let entity = kind(id.owningEntity).entity
            missing[ObjectIdentifier(entity), default: (entity, [:])].ids[resource] = id
        }
        for (entity, ids) in missing.values {
            for (resource, key) in try keys(Array(ids.keys), entity) {
                if let id = ids[resource] { places.set(Place(key: key), for: id) }
            }
        }
    }

    /// Looks up the rows of list members, like ``place(_:)``. A resource that was deleted after the request for the list has no place: it is not a member.
    func placeMembers(_ ids: [NSManagedObjectID]) throws {
        if !hasGone { return try place(ids) }
        try place(
            ids.filter { id in
                guard let resource = importer.decoding.resourceID(id) else { return true }
                return !isGone(resource, id, nil)
            })
    }

    /// Looks up the rows of referenced resources, and creates stubs for those without rows.
    func place(_ ids: [NSManagedObjectID]) throws {
        try find(ids)
        try findOtherForms(ids) { try transaction.keysOfOtherForms($0, in: $1) }
        for id in ids where places[id] == nil {
            guard let resource = importer.decoding.resourceID(id) else { continue }
            places.set(Place(key: try transaction.stub(of: resource, in: importer.entity(id)).key), for: id)
        }
    }

    /// Whether a resource was deleted after the request for its row, or the row has a version from before the deletion.
    private func isGone(_ resource: ResourceID, _ row: Row) -> Bool {
        isGone(resource, row.knownObjectID, importer.versions.version(row.knownObjectID, row.version))
    }

    /// Whether a resource was deleted after a request that returned it, in the version of that answer.
    private func isGone(_ resource: ResourceID, _ id: NSManagedObjectID, _ version: ResourceVersion?) -> Bool {
        guard hasGone, file.keeps(.newestRead),
            file.order.isGone(resource, importer.entity(id).root, version, since: askedAt, uptime: askedUptime)
        else { return false }
        file.order.noteSkip()
        return true
    }

    /// Whether a received row belongs to another object than the existing row with its identifier. If so, the existing row is removed.
    private func isReplaced(_ key: CacheKey, by row: Row) throws -> Bool {
        guard importer.catalog.hasIncarnations, let stored = try transaction.row(key), importer.isSame(stored, row) == false else {
            return false
        }
        let known = file.entity(inner: stored.knownObjectID.owningEntity)
        let state = known.state(of: stored)
        if state == .stub || state == .pendingInsert { return false }
        if isOlder(known.version(of: stored), importer.versions.version(row.knownObjectID, row.version), key) { return false }
        try importer.remove(key, askedAt, transaction)
        return true
    }

    private func innerID(_ id: NSManagedObjectID) throws -> NSManagedObjectID {
        guard let key = places[id]?.key else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "A reference of the backend to \(id) cannot be filed.",
                reason: "It has no identifier of the backend.", next: "Let the backend answer with identifiers.")
        }
        return file.innerID(key)
    }

    // MARK: One row

    private func insert(_ row: Row, _ key: CacheKey) throws {
        guard let resource = importer.decoding.resourceID(row.knownObjectID) else { return }
        let version = importer.versions.version(row.knownObjectID, row.version)
        if case .tag? = version { tagged.append(key) }
        try transaction.insert(key, resource, version, from: row, reference: innerID)
        let unknown = key.entity.toInner?.unknown(in: row) ?? PropertySet()
        let lists = try lists(row)
        if unknown.isEmpty && lists.isEmpty { return }
        guard let new = try transaction.edit(key) else { return }
        var knowledge = CacheEntity.Knowledge()
        if !unknown.isEmpty { knowledge.setUnknown(Set(unknown.names(of: row.knownObjectID.owningEntity))) }
        for (name, members) in lists { try takeList(name, members, new, &knowledge) }
        if knowledge != .usual { new.setKnowledge(knowledge) }
    }

    /// - Parameter read: The row as the file has it, if it was read.
    private func take(_ row: Row, _ key: CacheKey, _ read: Row?) throws {
        let version = importer.versions.version(row.knownObjectID, row.version)
        let kind = kind(row.knownObjectID.owningEntity)
        let entity = kind.entity
        guard let stored = try transaction.row(key, as: read) else { return }
        let known = file.key(of: stored).entity
        let state = known.state(of: stored)
        let before = known.version(of: stored)
        if isOlder(before, version, key) { return }
        if case .tag? = version, version != before {
            // Unknown values of the row are imported in any case.
            let isWhole = known.knowledge(of: stored).unknown.isEmpty && state != .stub
            if isWhole, file.keeps(.newestRead), file.order.crosses(key, askedAt: askedAt) { return }
            tagged.append(key)
        }
        if hasGone, let resource = importer.decoding.resourceID(row.knownObjectID), isGone(resource, row) { return }
        if state == .clean, known === entity, before == version || version == nil, !kind.hasToMany, known.isKnownAsUsual(stored),
            let copy = known.toInner, copy.unknown(in: row).isEmpty, try copy.differences(from: row, to: stored, reference: innerID).isEmpty
        {
            // Most rows of a refresh are unchanged.
            return
        }
        if state.isPending {
            guard let folding = importer.folding, let copy = known.toInner else { return }
            let confirmed = try copy.row(row, id: file.innerID(key), version: stored.version, reference: innerID)
            return try folding.receive(
                confirmed: confirmed, lists: lists(row), version: version, askedAt: askedAt, key: key, in: transaction)
        }
        if known !== entity, known.outer !== entity.outer, entity.inner.isKindOf(entity: known.inner) {
            // The row is of another entity than a reference has said.
            let replaced = try transaction.replace(key, by: entity)
            return try fill(replaced, row, version, entity)
        }
        let isStub = state == .stub
        // Nothing is copied if nothing differs.
        let differences = try known.toInner?.differences(from: row, to: stored, reference: innerID) ?? PropertySet()
        let unknown = known.toInner?.unknown(in: row) ?? PropertySet()
        var knowledge = known.knowledge(of: stored)
        let isOtherVersion = isStub || version == nil ? isStub : before != version
        if unknown.isEmpty {
            knowledge.setUnknown([])
        } else {
            let names = Set(unknown.names(of: row.knownObjectID.owningEntity))
            // The previously known values belong to another version.
            knowledge.setUnknown(isOtherVersion ? names : knowledge.unknown.intersection(names))
        }
        let lists = try lists(row)
        if differences.isEmpty, !isStub, before == version || version == nil, knowledge == known.knowledge(of: stored), lists.isEmpty {
            return
        }
        let edit = transaction.edit(stored)
        if !differences.isEmpty { try edit.take(row, reference: innerID) }
        if let version, version != before {
            if let before { file.order.noteReplaced(before.encoded, of: key, uptime: uptime) }
            edit.setVersion(version)
        }
        if isStub { edit.setState(.clean) }
        for (name, members) in lists { try takeList(name, members, edit, &knowledge) }
        edit.setKnowledge(knowledge)
        if edit.isChanged { edit.setFetchedAt(now) }
    }

    /// Fills a new row.
    private func fill(_ new: CacheRow, _ row: Row, _ version: ResourceVersion?, _ entity: CacheEntity) throws {
        try new.take(row, reference: innerID)
        new.setVersion(version)
        new.setState(.clean)
        new.setFetchedAt(now)
        var knowledge = CacheEntity.Knowledge()
        if let unknown = entity.toInner?.unknown(in: row), !unknown.isEmpty {
            knowledge.setUnknown(Set(unknown.names(of: row.knownObjectID.owningEntity)))
        }
        for (name, members) in try lists(row) { try takeList(name, members, new, &knowledge) }
        if knowledge != .usual { new.setKnowledge(knowledge) }
    }

    /// Whether the existing row is newer than the received one.
    ///
    /// - Parameters:
    ///   - before: The version of the existing row.
    ///   - version: The received version.
    private func isOlder(_ before: ResourceVersion?, _ version: ResourceVersion?, _ key: CacheKey) -> Bool {
        if !file.keeps(.newestRead) { return false }
        if case .number(let new)? = version, case .number(let old)? = before { return new < old }
        if file.order.isNewer(key, than: askedAt) {
            file.order.noteSkip()
            return true
        }
        guard let version, version != before else { return false }
        return file.order.wasReplaced(version.encoded, of: key, uptime: askedUptime)
    }
}
