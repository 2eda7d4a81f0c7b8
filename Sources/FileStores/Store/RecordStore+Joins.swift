internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

// Pairs of join files. Everything here is called under the store's lock.

/// The pairs of one join file, by the records of both sides.
struct PairIndex {
    /// The records of pairs, by those of owners and members, each in order.
    private var ofOwners: [UInt32: [UInt32]] = [:]
    private var ofMembers: [UInt32: [UInt32]] = [:]

    init(_ store: RecordStore, _ join: JoinPlan) throws {
        let image = store.images[join.file]
        let names = image.plan.otherNames[join.shapeIndex]
        let reader = image.walking ?? store.format.reader(of: image)
        image.walking = reader
        var places: [UInt32: Double] = [:]
        do {
            for record in 0..<image.count where image.shape(record) === join.shape && !image.skipped.contains(record) {
                try reader.open(record)
                let number = UInt32(record)
                if let owner = try store.record(of: join.relationship.entity, reader.cell(names[0])) {
                    ofOwners[owner, default: []].append(number)
                }
                if let member = try store.record(of: join.relationship.destinationEntity, reader.cell(names[1])) {
                    ofMembers[member, default: []].append(number)
                }
                if names.count > 2 { places[number] = NumberText.double(reader.cell(names[2]).text, separator: 0x2E) }
            }
        } catch let mistake as FileMistake {
            throw image.error(mistake)
        }
        if names.count < 3 { return }
        // Records without a position, and those with equal positions, are in the order of the file.
        for (owner, records) in ofOwners {
            ofOwners[owner] = records.sorted { (places[$0] ?? .infinity, $0) < (places[$1] ?? .infinity, $1) }
        }
    }

    func records(_ side: JoinPlan.Side, _ record: Int) -> [UInt32] { (side == .owner ? ofOwners : ofMembers)[UInt32(record)] ?? [] }
}

extension RecordStore {
    /// Clears the caches of related objects.
    func forgetRelated() {
        inverses = [:]
        pairs = plan.joins.map { _ in nil }
    }

    /// Returns the record for the key in a cell.
    fileprivate func record(of entity: NSEntityDescription?, _ cell: Cell) throws -> UInt32? {
        guard let root = entity?.rootEntity, let file = fileOfRoot[ObjectIdentifier(root)] else { return nil }
        return try record(in: file, root: root, key: cell.text).map { UInt32($0) }
    }

    func pairIndex(_ index: Int) throws -> PairIndex {
        if let known = pairs[index] { return known }
        let made = try PairIndex(self, plan.joins[index])
        pairs[index] = made
        return made
    }

    // MARK: Reading

    /// Returns the objects of a relationship with a join file; nil for another relationship.
    func pairedIDs(_ relationship: NSRelationshipDescription, of record: Int) throws -> [NSManagedObjectID]? {
        for (index, join) in plan.joins.enumerated() {
            guard let side = join.side(of: relationship) else { continue }
            let found = try pairIndex(index)
            var ids = try found.records(side, record).map { try relatedID(join, Int($0), side) }
            if join.isSymmetric {
                let known = Set(ids)
                ids += try found.records(.member, record).map { try relatedID(join, Int($0), .member) }.filter { !known.contains($0) }
            }
            return ids
        }
        return nil
    }

    /// Returns the object of a pair that is related to one side.
    private func relatedID(_ join: JoinPlan, _ pair: Int, _ side: JoinPlan.Side) throws -> NSManagedObjectID {
        let image = images[join.file]
        let name = image.plan.otherNames[join.shapeIndex][side == .owner ? 1 : 0]
        let reader = image.walking ?? format.reader(of: image)
        image.walking = reader
        do {
            try reader.open(pair)
            let relationship = side == .owner ? join.relationship : join.inverse ?? join.relationship
            return try destination(relationship, reader.cell(name).text, image, reader.place(name))
        } catch let mistake as FileMistake {
            throw image.error(mistake)
        }
    }

    /// Checks a record of a join file.
    ///
    /// - Throws: ``FileMistake`` for a position that is not a number, and, if the layout checks references, for a key without a record.
    func checkPair(_ record: Int, in file: Int) throws {
        let image = images[file]
        let shapeIndex = image.shapeIndex(record)
        guard let join = plan.joins.first(where: { $0.file == file && $0.shapeIndex == shapeIndex }) else { return }
        let names = image.plan.otherNames[shapeIndex]
        let reader = image.decoding ?? format.reader(of: image)
        image.decoding = reader
        try reader.open(record)
        if names.count > 2 {
            let cell = reader.cell(names[2])
            if !cell.isNil, !cell.text.isEmpty, NumberText.double(cell.text, separator: 0x2E) == nil {
                throw FileMistake(
                    offset: reader.place(names[2]),
                    expected: "a number in “\(image.plan.names[names[2]])”, found “\(NumberText.string(cell.text).prefix(60))”")
            }
        }
        if plan.layout.checksReferences {
            for (name, entity) in zip(names, [join.relationship.entity, join.relationship.destinationEntity])
            where try self.record(of: entity, reader.cell(name)) == nil {
                throw FileMistake(
                    offset: reader.place(name),
                    expected:
                        "the key of a record of “\(entity?.name ?? "")” in “\(image.plan.names[name])”, found “\(NumberText.string(reader.cell(name).text))”"
                )
            }
        }
    }

    func checkPairOrFail(_ record: Int, in file: Int) throws {
        do { try checkPair(record, in: file) } catch let mistake as FileMistake { throw images[file].error(mistake) }
    }

    // MARK: Changes of others

    /// An ordered list with pairs that others have changed.
    struct ChangedOrder {
        let join: JoinPlan
        let owner: String
    }

    /// Returns the ordered lists that differ between two states of a file.
    func changedOrders(_ old: RecordImage, _ new: RecordImage, _ file: Int) throws -> [ChangedOrder] {
        var changed: [ChangedOrder] = []
        for join in plan.joins where join.file == file && join.relationship.isOrdered {
            let (before, after) = (try pairTexts(join, old), try pairTexts(join, new))
            let owners = Set(before.filter { after[$0.key] != $0.value }.keys.map(\.owner))
                .union(after.filter { before[$0.key] != $0.value }.keys.map(\.owner))
            changed += owners.map { ChangedOrder(join: join, owner: $0) }
        }
        return changed
    }

    private struct Pair: Hashable { let owner, member: String }

    private func pairTexts(_ join: JoinPlan, _ image: RecordImage) throws -> [Pair: String] {
        let names = image.plan.otherNames[join.shapeIndex]
        let reader = format.reader(of: image)
        var texts: [Pair: String] = [:]
        for record in 0..<image.count where image.shape(record) === join.shape && !image.skipped.contains(record) {
            do throws(FileMistake) { try reader.open(record) } catch { throw image.error(error) }
            let cells = names.map { NumberText.string(reader.cell($0).text) }
            texts[Pair(owner: cells[0], member: cells[1])] = cells.count > 2 ? cells[2] : ""
        }
        return texts
    }

    /// Increments the version of a list's owner after a change by others, so that a save of the old order is a conflict.
    func raiseVersion(_ change: ChangedOrder) throws {
        guard let root = change.join.relationship.entity?.rootEntity, let file = fileOfRoot[ObjectIdentifier(root)] else { return }
        let found = change.owner.withUTF8ForReading { text in
            Result { try record(in: file, root: root, key: UnsafeRawBufferPointer(text)) }
        }
        guard let record = try found.get() else { return }
        let image = images[file]
        if image.bumps.isEmpty { image.bumps = Array(repeating: 0, count: image.count) }
        image.bumps[record] += 1
        if !image.rows.isEmpty { image.rows[record] = nil }
    }
}
