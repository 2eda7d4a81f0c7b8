internal import Foundation
@_spi(Stores) internal import ObjectGraph

extension RecordStore {
    /// Collects the changes of a save in join files: new records for added pairs, and deletions for removed pairs and deleted objects.
    ///
    /// Pairs that others have added or removed meanwhile stay so, except those that the save changes.
    func collectPairs(_ changes: StoreChangeSet, _ parts: inout [RecordChanges]) throws {
        for join in plan.joins {
            var pairs = PairChanges(self, join)
            for change in changes.inserted + changes.updated {
                for list in change.lists {
                    guard let relationship = change.entity.relationshipsByName[list.name], let side = join.side(of: relationship) else {
                        continue
                    }
                    try pairs.add(list, of: change.objectID, side)
                }
            }
            for change in changes.deleted { try pairs.removeAll(of: change.objectID) }
            try pairs.finish(&parts[join.file])
        }
    }

    fileprivate func pairRecords(_ join: JoinPlan, _ side: JoinPlan.Side, of record: Int) throws -> [UInt32] {
        guard let index = plan.joins.firstIndex(where: { $0 === join }) else { return [] }
        return try pairIndex(index).records(side, record)
    }

    /// Returns the record of a pair of keys; nil if there is none.
    fileprivate func pairRecord(_ join: JoinPlan, _ key: String) throws -> Int? {
        let found = key.withUTF8ForReading { text in
            Result { try record(in: join.file, root: join.shape.root, key: UnsafeRawBufferPointer(text)) }
        }
        return try found.get()
    }
}

/// The changes of the pairs of one join file.
private struct PairChanges {
    private let store: RecordStore
    private let join: JoinPlan
    /// The keys of new pairs, in the order in which they were added, with the texts for their columns.
    private var added: [(key: String, owner: String, member: String)] = []
    /// The keys of new pairs as references, which are equal by their bytes, as keys are. Strings are equal by canonical equivalence.
    private var addedKeys: Set<NSManagedObjectID.Reference> = []
    private var removed: Set<Int> = []
    /// The members of ordered lists, by owner.
    private var orders: [(owner: NSManagedObjectID, members: [NSManagedObjectID])] = []

    init(_ store: RecordStore, _ join: JoinPlan) { (self.store, self.join) = (store, join) }

    mutating func add(_ list: ListDifference, of id: NSManagedObjectID, _ side: JoinPlan.Side) throws {
        for other in list.removed {
            if let record = try record(id, other, side) { removed.insert(record) }
            if join.isSymmetric, let record = try record(other, id, side) { removed.insert(record) }
        }
        for other in list.added {
            let (owner, member) = side == .owner ? (id, other) : (other, id)
            let (ownerText, memberText) = (RecordKey.text(owner.reference), RecordKey.text(member.reference))
            let key = try pairKey(ownerText, memberText)
            if try store.pairRecord(join, key) != nil || addedKeys.contains(.string(key)) { continue }
            if join.isSymmetric {
                let turned = try pairKey(memberText, ownerText)
                if try store.pairRecord(join, turned) != nil || addedKeys.contains(.string(turned)) { continue }
            }
            addedKeys.insert(.string(key))
            added.append((key, ownerText, memberText))
        }
        if side == .owner, join.relationship.isOrdered, let members = list.members { orders.append((id, members)) }
    }

    mutating func removeAll(of id: NSManagedObjectID) throws {
        guard let found = try store.record(of: id) else { return }
        for (side, entity) in [(JoinPlan.Side.owner, join.relationship.entity), (.member, join.relationship.destinationEntity)] {
            guard let entity, id.owningEntity.isKindOf(entity: entity) else { continue }
            for record in try store.pairRecords(join, side, of: found.record) { removed.insert(Int(record)) }
        }
    }

    /// Returns the record of a pair.
    private func record(_ id: NSManagedObjectID, _ other: NSManagedObjectID, _ side: JoinPlan.Side) throws -> Int? {
        let texts = [RecordKey.text(id.reference), RecordKey.text(other.reference)]
        return try store.pairRecord(join, side == .owner ? pairKey(texts[0], texts[1]) : pairKey(texts[1], texts[0]))
    }

    /// Returns the values of the columns of a pair, by name.
    private func columnValues(_ owner: String, _ member: String) throws -> [String: String] {
        var values: [String: String] = [:]
        for (text, columns) in [(owner, join.layout.owner), (member, join.layout.member)] {
            guard let parts = CompositeKey.parts(text, count: columns.count) else {
                throw failure("The key “\(text)” has not \(columns.count) values.")
            }
            for (column, part) in zip(columns, parts) {
                if let known = values.updateValue(part, forKey: column), !known.utf8.elementsEqual(part.utf8) {
                    throw failure("The keys “\(owner)” and “\(member)” have different values for “\(column)”, which they have in common.")
                }
            }
        }
        return values
    }

    private func failure(_ reason: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "A pair of “\(join.relationship)” cannot be written.", reason: reason,
            next: "Remove the object from the relationship.")
    }

    private func pairKey(_ owner: String, _ member: String) throws -> String {
        let values = try columnValues(owner, member)
        return CompositeKey.text(join.shape.keyColumns.map { values[$0] ?? "" })
    }

    // MARK: Writing

    mutating func finish(_ part: inout RecordChanges) throws {
        let plan = store.images[join.file].plan
        var places: [NSManagedObjectID.Reference: Int64] = [:]
        if join.layout.order != nil { places = try newPlaces(&part) }
        for (key, owner, member) in added {
            var texts: [Int: String] = [:]
            for (column, value) in try columnValues(owner, member) {
                if let name = plan.columns.firstIndex(of: column) { texts[name] = value }
            }
            if let order = plan.otherNames[join.shapeIndex].dropFirst(2).first {
                texts[order] = String(try places[.string(key)] ?? nextPlace(owner))
            }
            part.insertions.append(.init(shape: join.shapeIndex, key: key, row: nil, version: 1, texts: texts))
        }
        part.deletions += removed
    }

    /// Returns the positions of new pairs in ordered lists, and notes pairs whose positions change.
    ///
    /// A pair keeps its position if that is greater than that of the previous pair, so that few records change.
    private mutating func newPlaces(_ part: inout RecordChanges) throws -> [NSManagedObjectID.Reference: Int64] {
        var places: [NSManagedObjectID.Reference: Int64] = [:]
        guard let order = store.images[join.file].plan.otherNames[join.shapeIndex].dropFirst(2).first else { return places }
        for (owner, members) in orders {
            var last: Double?
            for member in members {
                let key = try pairKey(RecordKey.text(owner.reference), RecordKey.text(member.reference))
                let record = try store.pairRecord(join, key).flatMap { removed.contains($0) ? nil : $0 }
                let known = try record.flatMap { try self.place($0, order) }
                let place = known.flatMap { known in last.map { known > $0 } ?? true ? known : nil } ?? Self.next(last)
                if let record, known != place {
                    part.updates.append(
                        .init(record: record, row: nil, changed: PropertySet(), version: 1, texts: [order: String(Int64(place))]))
                } else if record == nil {
                    places[.string(key)] = Int64(place)
                }
                last = place
            }
        }
        return places
    }

    /// Returns the next whole number after a position.
    private static func next(_ place: Double?) -> Double { (place ?? 0).rounded(.down) + 1 }

    /// Returns the position of a record; nil if it has none, or one that exceeds the range of whole numbers.
    private func place(_ record: Int, _ order: Int) throws -> Double? {
        let image = store.images[join.file]
        let reader = image.walking ?? store.format.reader(of: image)
        image.walking = reader
        do throws(FileMistake) { try reader.open(record) } catch { throw image.error(error) }
        // Bounded: a fraction, of which each has its opposite.
        return NumberText.double(reader.cell(order).text, separator: 0x2E).flatMap { abs($0) < 1e15 ? $0 : nil }
    }

    /// Returns the position after all pairs of an owner, for a pair that is not in the owner's list.
    private func nextPlace(_ owner: String) throws -> Int64 {
        let order = store.images[join.file].plan.otherNames[join.shapeIndex][2]
        guard let root = join.relationship.entity?.rootEntity, let file = store.fileOfRoot[ObjectIdentifier(root)] else { return 1 }
        let found = owner.withUTF8ForReading { text in
            Result { try store.record(in: file, root: root, key: UnsafeRawBufferPointer(text)) }
        }
        guard let record = try found.get() else { return 1 }
        let known = try store.pairRecords(join, .owner, of: record).compactMap { try place(Int($0), order) }
        return Int64(Self.next(known.max()))
    }
}
