internal import Foundation

/// Copies and compares values of rows of two entities that have properties of the same names and types, such as those of a model and of a
/// copy of it with more attributes.
// Immutable.
package final class RowCopy: Sendable {
    fileprivate struct Step {
        let source: RowLayout.Slot
        let target: RowLayout.Slot
        let sourceIndex: Int
        let targetIndex: Int
    }

    fileprivate let attributes: [Step]
    fileprivate let references: [Step]
    /// The layout of the rows that values are copied to.
    private let layout: RowLayout

    /// Creates a plan for the stored attributes and to-one relationships that both entities have. Their models are in use.
    package init(from source: NSEntityDescription, to target: NSEntityDescription) {
        let (from, to) = (source.frozenParts, target.frozenParts)
        layout = to.layout
        var attributes: [Step] = []
        var references: [Step] = []
        for (index, property) in from.properties.enumerated() {
            guard !property.isTransient, let twin = to.byName[property.name], !twin.isTransient else { continue }
            let step = Step(
                source: from.layout.slots[index], target: to.layout.slots[twin.slotIndex], sourceIndex: index,
                targetIndex: twin.slotIndex)
            guard step.source.kind == step.target.kind else { continue }
            switch step.source.kind {
            case .objectID: references.append(step)
            case .objectIDs: continue
            default: attributes.append(step)
            }
        }
        (self.attributes, self.references) = (attributes, references)
    }

    /// Returns a new row with the values of another.
    ///
    /// - Parameters:
    ///   - unknown: The slot indexes of the source whose values become unknown.
    ///   - reference: Returns the ID of a destination in the space of the new row.
    package func row(
        _ source: Row, id: NSManagedObjectID, version: Int64, unknown: PropertySet = PropertySet(),
        reference: (NSManagedObjectID) throws -> NSManagedObjectID
    ) rethrows -> Row {
        let row = Row.blank(layout, objectID: id, version: version)
        let hasUnknown = !unknown.isEmpty
        for step in attributes {
            if hasUnknown, unknown.contains(step.sourceIndex) { row.setUnknown(at: step.target) } else { Self.copy(step, source, row) }
        }
        for step in references {
            if hasUnknown, unknown.contains(step.sourceIndex) || source.isUnknown(at: step.source) {
                row.setUnknown(at: step.target)
            } else if source.isUnknown(at: step.source) {
                row.setUnknown(at: step.target)
            } else if let id = source.objectID(at: step.source) {
                row.setObjectID(try reference(id), at: step.target)
            }
        }
        return row
    }

    /// Returns the slot indexes of the target whose values differ from the known ones of the source.
    package func differences(
        from source: Row, to target: Row, besides skipped: PropertySet = PropertySet(),
        reference: (NSManagedObjectID) throws -> NSManagedObjectID
    ) rethrows -> PropertySet {
        var changed = PropertySet()
        for step in attributes where !source.isUnknown(at: step.source) && !skipped.contains(step.targetIndex) {
            if !Self.isEqual(step, source, target) { changed.insert(step.targetIndex) }
        }
        for step in references where !source.isUnknown(at: step.source) && !skipped.contains(step.targetIndex) {
            let (new, old) = (try source.objectID(at: step.source).map(reference), target.objectID(at: step.target))
            if let new, let old, new.isSame(as: old), new.owningEntity === old.owningEntity { continue }
            if new != nil || old != nil { changed.insert(step.targetIndex) }
        }
        return changed
    }

    /// Copies some values into an exclusive row.
    ///
    /// - Parameter changed: The slot indexes of the target.
    package func copy(
        _ changed: PropertySet, from source: Row, to target: Row, reference: (NSManagedObjectID) throws -> NSManagedObjectID
    ) rethrows {
        for step in attributes where changed.contains(step.targetIndex) { Self.copy(step, source, target) }
        for step in references where changed.contains(step.targetIndex) {
            if source.isUnknown(at: step.source) { continue }
            target.setObjectID(try source.objectID(at: step.source).map(reference), at: step.target)
        }
    }

    /// Calls `body` with the destination of each known to-one relationship.
    package func forEachReference(of source: Row, _ body: (NSManagedObjectID) throws -> Void) rethrows {
        for step in references where !source.isUnknown(at: step.source) { if let id = source.objectID(at: step.source) { try body(id) } }
    }

    /// Returns the slot indexes of the source whose values are unknown, except to-many relationships.
    package func unknown(in source: Row) -> PropertySet {
        var unknown = PropertySet()
        if source.mayHaveUnknown { for index in source.unknownSlots { unknown.insert(index) } }
        for step in references where source.isUnknown(at: step.source) { unknown.insert(step.sourceIndex) }
        return unknown
    }

    // MARK: Values

    private static func copy(_ step: Step, _ source: Row, _ target: Row) {
        let (from, to) = (step.source, step.target)
        if source.mayHaveUnknown, source.isUnknown(at: from) { return target.setUnknown(at: to) }
        if target.mayHaveUnknown { target.setKnown(at: to) }
        if source.isNil(at: from) { return target.store(.null, in: to) }
        let place = target.slots + to.location.offset
        let value = source.slots + from.location.offset
        switch from.kind {
        case .integer, .boolean: place.storeBytes(of: value.load(as: Int64.self), as: Int64.self)
        case .double, .date: place.storeBytes(of: value.load(as: Double.self), as: Double.self)
        case .uuid: place.copyMemory(from: value, byteCount: 16)
        case .string: to.location.set(source.text(at: from), target.slots)
        case .data: to.location.set(source.data(at: from), target.slots)
        case .box: target.store(source.box(at: from).map { .box($0) } ?? .null, in: to)
        case .objectID, .objectIDs: return
        }
        target.setNil(false, at: to)
    }

    private static func isEqual(_ step: Step, _ source: Row, _ target: Row) -> Bool {
        let (from, to) = (step.source, step.target)
        if target.mayHaveUnknown, target.isUnknown(at: to) { return false }
        let (isNil, wasNil) = (source.isNil(at: from), target.isNil(at: to))
        if isNil || wasNil { return isNil && wasNil }
        let value = source.slots + from.location.offset
        let known = target.slots + to.location.offset
        switch from.kind {
        case .integer, .boolean: return value.load(as: Int64.self) == known.load(as: Int64.self)
        case .double, .date: return value.load(as: Double.self) == known.load(as: Double.self)
        case .uuid: return memcmp(value, known, 16) == 0
        case .string:
            if from.location.isPacked(source.slots), to.location.isPacked(target.slots) {
                let (left, right) = (
                    PackedBytes.bytes(source.slots, from.location.offset), PackedBytes.bytes(target.slots, to.location.offset)
                )
                return left.elementsEqual(right)
            }
            return source.text(at: from).utf8.elementsEqual(target.text(at: to).utf8)
        case .data: return source.data(at: from) == target.data(at: to)
        case .box: return source.box(at: from)?.isEqual(to: target.box(at: to)) ?? false
        case .objectID, .objectIDs: return true
        }
    }
}

/// Makes many rows with the values of others, in blocks that they share.
// Used on one thread at a time.
package final class RowCopyWriter {
    private let copy: RowCopy
    private let writer: PackedRowWriter
    private let places: [RowPlace]

    /// Creates a writer of rows of an entity.
    package init(_ copy: RowCopy, to target: NSEntityDescription) {
        self.copy = copy
        writer = PackedRowWriter(target)
        places = target.rowPlaces
    }

    /// Returns a new row with the values of another; unknown values of the other row become nil.
    ///
    /// - Parameters:
    ///   - unknown: The slot indexes of the other row whose values become unknown in the new one.
    ///   - reference: Returns the ID of a destination in the space of the new row.
    ///   - rest: Sets the values that the other row does not have. Every attribute must be set; a relationship that is not set is unknown.
    package func row(
        _ source: Row, id: NSManagedObjectID, version: Int64, unknown: PropertySet = PropertySet(),
        reference: (NSManagedObjectID) throws -> NSManagedObjectID, rest: (PackedRowWriter) -> Void = { _ in }
    ) rethrows -> Row {
        writer.begin()
        let mayHaveUnknown = source.mayHaveUnknown
        let leavesUnknown = !unknown.isEmpty
        for step in copy.attributes {
            if leavesUnknown, unknown.contains(step.sourceIndex) { continue }
            let (from, place) = (step.source, places[step.targetIndex])
            if source.isNil(at: from) || mayHaveUnknown && source.isUnknown(at: from) {
                writer.setNil(place)
                continue
            }
            let value = source.slots + from.location.offset
            switch from.kind {
            case .integer, .boolean: writer.set(value.load(as: Int64.self), at: place)
            case .double, .date: writer.set(value.load(as: Double.self), at: place)
            case .string:
                if from.location.isPacked(source.slots) {
                    writer.set(utf8: UnsafeRawBufferPointer(PackedBytes.bytes(source.slots, from.location.offset)), at: place)
                } else {
                    var text = source.text(at: from)
                    text.withUTF8 { writer.set(utf8: UnsafeRawBufferPointer($0), at: place) }
                }
            case .data:
                let data = source.data(at: from)
                // Bytes that are not packed are shared, and not even read: they may be mapped from a file.
                if data.count > PackedBytes.longestData {
                    writer.set(.data(data), at: place)
                } else {
                    data.withUnsafeBytes { writer.set(data: $0, at: place) }
                }
            case .uuid: writer.set(.uuid(value.load(as: UUID.self)), at: place)
            case .box: writer.set(source.box(at: from).map { .box($0) } ?? .null, at: place)
            case .objectID, .objectIDs: continue
            }
        }
        for step in copy.references {
            if leavesUnknown, unknown.contains(step.sourceIndex) { continue }
            let known = source.isUnknown(at: step.source) ? nil : source.objectID(at: step.source)
            do { writer.set(try known.map(reference), at: places[step.targetIndex]) } catch {
                writer.cancel()
                throw error
            }
        }
        rest(writer)
        let row = Row(writer.end(id, version: version))
        // It may be changed before it is shared.
        row.holdsReferences = true
        return row
    }
}

extension Box {
    fileprivate func isEqual(to other: Box?) -> Bool {
        guard let other else { return false }
        if self === other { return true }
        if let value = value as? AnyHashable, let known = other.value as? AnyHashable { return value == known }
        guard let value = value as? NSObject, let known = other.value as? NSObject else { return false }
        return value.isEqual(known)
    }
}
