internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// The state of a row in a cache's file.
enum CacheState: Int64, Sendable {
    /// The row equals the backend's resource.
    case clean = 0
    /// The identity of a resource whose values were not read, but to which others refer.
    case stub = 1
    /// A new object that the backend does not have yet.
    case pendingInsert = 2
    /// Changed since it was read.
    case pendingUpdate = 3
    /// The object was deleted, and is kept until the backend has confirmed it. It is not displayed.
    case pendingDelete = 4
    /// A change of it was refused, or has failed permanently.
    case failed = 5
    /// Others have changed the same properties.
    case conflicting = 6
    /// It is unknown whether its change has reached the backend.
    case unknown = 7

    /// Whether it has a pending change.
    var isPending: Bool { rawValue >= CacheState.pendingInsert.rawValue }
    /// Whether a fetch may return it.
    var isShown: Bool { self != .stub && self != .pendingDelete }
}

/// The key of a row in a cache's file: numbers are unique among the entities of one inheritance tree.
struct CacheKey: Hashable, Sendable {
    /// The entity of the row, or one of its ancestors.
    let entity: CacheEntity
    /// The number of the row, which is also that of the object's ID in contexts.
    let number: Int64

    static func == (left: CacheKey, right: CacheKey) -> Bool { left.number == right.number && left.entity.root == right.entity.root }

    func hash(into hasher: inout Hasher) {
        hasher.combine(number)
        hasher.combine(entity.root)
    }
}

/// An entity of a cache's file, and the entity of the program's model from which it was copied.
// Immutable; interned knowledge is in a `LockedBox`.
final class CacheEntity: Sendable {
    /// The entity of the program's model; nil for an entity of the cache's own.
    let outer: NSEntityDescription?
    /// The entity of the file.
    let inner: NSEntityDescription
    /// The identity of the root entity.
    let root: ObjectIdentifier
    /// The copiers of values between the program's or the backend's rows and rows of the file; nil for an entity of the cache's own.
    let toInner: RowCopy?
    let toOuter: RowCopy?
    /// The common part of the keys of IDs.
    private let innerBase: Int64
    private let outerBase: Int64

    /// An attribute that the cache has added.
    struct Column: Sendable {
        let attribute: NSAttributeDescription
        let slot: RowLayout.Slot
        let place: RowPlace

        init?(_ name: String, _ entity: NSEntityDescription) {
            guard let attribute = entity.frozenParts.byName[name] as? NSAttributeDescription else { return nil }
            self.attribute = attribute
            slot = entity.frozenParts.layout.slots[attribute.slotIndex]
            place = entity.rowPlaces[attribute.slotIndex]
        }
    }
    /// The attributes that the cache has added; nil for an entity of its own.
    ///
    /// It is a class because it is accessed for each row: copying a structure would count the references to all attributes.
    final class Columns: Sendable {
        let resource: Column
        let version: Column
        let fetchedAt: Column
        let lastUsed: Column
        let state: Column
        let known: Column

        init?(_ entity: NSEntityDescription, _ names: CacheModel.Names) {
            guard let resource = Column(names.resource, entity), let version = Column(names.version, entity),
                let fetchedAt = Column(names.fetchedAt, entity), let lastUsed = Column(names.lastUsed, entity),
                let state = Column(names.state, entity), let known = Column(names.known, entity)
            else { return nil }
            (self.resource, self.version, self.fetchedAt) = (resource, version, fetchedAt)
            (self.lastUsed, self.state, self.known) = (lastUsed, state, known)
        }
    }
    let columns: Columns?
    /// The knowledge about rows, by the text of their column.
    private let known = LockedBox<[String: Knowledge]>([:])

    init(inner: NSEntityDescription, outer: NSEntityDescription?, _ names: CacheModel.Names) {
        (self.inner, self.outer) = (inner, outer)
        root = ObjectIdentifier(inner.top)
        toInner = outer.map { RowCopy(from: $0, to: inner) }
        toOuter = outer.map { RowCopy(from: inner, to: $0) }
        innerBase = NSManagedObjectID.keyBase(of: inner)
        outerBase = outer.map { NSManagedObjectID.keyBase(of: $0) } ?? 0
        columns = Columns(inner, names)
    }

    /// The name of the entity.
    var name: String { inner.name ?? "?" }

    /// Returns the ID of a row in the file.
    func innerID(_ number: Int64, _ token: StoreToken) -> NSManagedObjectID {
        NSManagedObjectID(entity: inner, token: token, number: number, keyBase: innerBase)
    }

    /// Returns the contexts' ID of a row.
    func outerID(_ number: Int64, _ token: StoreToken) -> NSManagedObjectID {
        NSManagedObjectID(entity: outer ?? inner, token: token, number: number, keyBase: outerBase)
    }

    // MARK: The added attributes of a row

    /// Returns the backend's identifier of a row's object; nil for a new one.
    func resource(of row: Row) -> ResourceID? { resourceText(of: row).flatMap(ResourceID.init(fileText:)) }

    func resourceText(of row: Row) -> String? {
        guard let slot = columns?.resource.slot, !row.isNil(at: slot) else { return nil }
        return row.text(at: slot)
    }

    /// Returns the version that the backend has given.
    func version(of row: Row) -> ResourceVersion? {
        guard let slot = columns?.version.slot, !row.isNil(at: slot) else { return nil }
        return ResourceVersion(encoded: row.text(at: slot))
    }

    func state(of row: Row) -> CacheState {
        guard let slot = columns?.state.slot, !row.isNil(at: slot) else { return .clean }
        return CacheState(rawValue: row.slots.load(fromByteOffset: slot.location.offset, as: Int64.self)) ?? .clean
    }

    /// Returns the time at which the values of a row were read, by the wall clock; nil if they never were.
    func fetchedAt(_ row: Row) -> Double? { columns.flatMap { number($0.fetchedAt, row) } }

    func lastUsed(_ row: Row) -> Double? { columns.flatMap { number($0.lastUsed, row) } }

    private func number(_ column: Column, _ row: Row) -> Double? {
        row.isNil(at: column.slot) ? nil : row.slots.load(fromByteOffset: column.slot.location.offset, as: Double.self)
    }

    /// Returns the version of a row for contexts: it changes with the displayed values.
    func shownVersion(of row: Row) -> Int64 { row.version &- knowledge(of: row).silentWrites }

    /// Whether a context has saved a row, or created it again, since it had a version for contexts.
    func wasSaved(_ row: Row, since version: Int64) -> Bool {
        knowledge(of: row).savedVersion > version || shownVersion(of: row) < version
    }

    /// Whether the knowledge about a row is the usual one.
    func isKnownAsUsual(_ row: Row) -> Bool { columns.map { row.isNil(at: $0.known.slot) } ?? true }

    /// Returns the knowledge about a row.
    func knowledge(of row: Row) -> Knowledge {
        guard let slot = columns?.known.slot, !row.isNil(at: slot) else { return .usual }
        let text = row.text(at: slot)
        return known.withLock { known in
            if let interned = known[text] { return interned }
            let new = Knowledge(text, inner)
            if known.count < 10_000 { known[text] = new }
            return new
        }
    }

    /// The knowledge about a row's object. The usual one is: all attributes and to-one relationships, and no list.
    struct Knowledge: Sendable, Equatable {
        /// The names of the attributes and to-one relationships that are unknown.
        private(set) var unknown: Set<String> = []
        /// The to-many relationships whose lists are complete, with the time at which they were read.
        var lists: [String: Double] = [:]
        /// The number of writes that did not change the displayed values: an unknown value became known, or the state changed.
        fileprivate(set) var silentWrites: Int64 = 0
        /// The row's version for contexts after the last save of a context; 0 if no context has saved the row since it was created.
        fileprivate(set) var savedVersion: Int64 = 0
        /// The unknown slots of the file's entity.
        private(set) var unknownSlots = PropertySet()

        static let usual = Knowledge()

        init() {}

        fileprivate init(_ text: String, _ entity: NSEntityDescription) {
            for part in text.split(separator: ",") {
                if part.first == "=" {
                    savedVersion = Int64(part.dropFirst()) ?? 0
                } else if part.first == "#" {
                    silentWrites = Int64(part.dropFirst()) ?? 0
                } else if let at = part.firstIndex(of: "@") {
                    lists[String(part[..<at])] = Double(part[part.index(after: at)...]) ?? 0
                } else {
                    unknown.insert(String(part))
                }
            }
            for name in unknown { if let slot = entity.frozenParts.byName[name]?.slotIndex { unknownSlots.insert(slot) } }
        }

        /// Returns the knowledge after another write that does not change the displayed values.
        func afterSilentWrite() -> Knowledge {
            var copy = self
            copy.silentWrites += 1
            return copy
        }

        /// Returns the knowledge after a save of a context.
        func afterSave(version: Int64) -> Knowledge {
            var copy = self
            copy.savedVersion = version
            return copy
        }

        mutating func setUnknown(_ names: Set<String>) { unknown = names }

        /// The text of the column; nil for the usual knowledge.
        var text: String? {
            if unknown.isEmpty, lists.isEmpty, silentWrites == 0, savedVersion == 0 { return nil }
            var parts = unknown.sorted() + lists.sorted { $0.key < $1.key }.map { "\($0.key)@\(Int64($0.value))" }
            if silentWrites != 0 { parts.append("#\(silentWrites)") }
            if savedVersion != 0 { parts.append("=\(savedVersion)") }
            return parts.joined(separator: ",")
        }

        static func == (left: Knowledge, right: Knowledge) -> Bool { left.unknown == right.unknown && left.lists == right.lists }
    }
}
