internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

// Records as rows. Everything here is called under the store's lock.

extension RecordStore {
    /// Returns the file and the record of an object; nil if there is none.
    func record(of id: NSManagedObjectID) throws -> (file: Int, record: Int)? {
        guard let file = fileOfRoot[ObjectIdentifier(id.owningEntity.rootEntity)] else { return nil }
        let image = images[file]
        let expected = image.expected
        if expected < image.rows.count, image.rows[expected].map({ $0.knownObjectID.isSame(as: id) }) ?? false {
            image.expected = expected + 1
            return (file, expected)
        }
        let found = RecordKey.text(id.reference).withUTF8ForReading { text in
            Result { try record(in: file, root: id.owningEntity.rootEntity, key: UnsafeRawBufferPointer(text), of: id) }
        }
        return try found.get().map {
            image.expected = $0 + 1
            return (file, $0)
        }
    }

    /// Returns the record with a key; nil if there is none.
    ///
    /// - Parameter id: The ID with that key, if there is one. It is compared with the IDs of decoded rows, without looking at the text.
    func record(
        in file: Int, root: NSEntityDescription, key: UnsafeRawBufferPointer, of id: NSManagedObjectID? = nil
    ) throws -> Int? {
        let image = images[file]
        if image.isKeyless || image.count == 0 {
            guard let number = NumberText.integer(key), let record = image.record(numbered: number), !image.skipped.contains(record),
                image.shape(record).root === root
            else { return nil }
            return record
        }
        let finding = image.finding ?? format.reader(of: image)
        image.finding = finding
        let record = try image.index.find(RecordKey.hash(key)) { other in
            if let id, !image.rows.isEmpty, let row = image.rows[other] { return row.knownObjectID.isSame(as: id) }
            let shape = image.shapeIndex(other)
            guard image.plan.shapes[shape].root === root else { return false }
            do throws(FileMistake) { try finding.open(other) } catch { throw image.error(error) }
            return finding.cell(image.plan.keyNames[shape]).text.elementsEqual(key)
        }
        return record.flatMap { image.skipped.contains($0) ? nil : $0 }
    }

    func row(with id: NSManagedObjectID) throws -> Row? {
        guard let (file, record) = try record(of: id) else { return nil }
        let row = try row(record, in: file)
        // If the record now has another subentity, it is not the requested object.
        return row.knownObjectID.isSame(as: id) ? row : nil
    }

    /// Returns the row of a record.
    func row(_ record: Int, in file: Int) throws -> Row {
        let image = images[file]
        if !image.rows.isEmpty, let row = image.rows[record] { return row }
        do {
            let row = try decodedRow(record, in: file)
            if !image.rows.isEmpty { image.rows[record] = row }
            return row
        } catch let mistake as FileMistake {
            throw image.error(mistake)
        }
    }

    /// Returns the ID of a record.
    func id(_ record: Int, in file: Int) throws -> NSManagedObjectID {
        let image = images[file]
        if !image.rows.isEmpty, let row = image.rows[record] { return row.knownObjectID }
        let shape = image.shapeIndex(record)
        let reference: NSManagedObjectID.Reference
        if image.isKeyless {
            reference = .integer(image.numbers[record])
        } else {
            let finding = image.finding ?? format.reader(of: image)
            image.finding = finding
            do throws(FileMistake) { try finding.open(record) } catch { throw image.error(error) }
            reference = RecordKey.reference(finding.cell(image.plan.keyNames[shape]).text)
        }
        return NSManagedObjectID(entity: image.plan.shapes[shape].entity, token: token, reference: reference)
    }

    /// Decodes a record.
    ///
    /// - Throws: ``FileMistake`` for a value that is invalid for its property.
    func decodedRow(_ record: Int, in file: Int) throws -> Row {
        let image = images[file]
        let reader = image.decoding ?? format.reader(of: image)
        image.decoding = reader
        try reader.open(record)
        let (plan, shapeIndex) = (image.plan, image.shapeIndex(record))
        let shape = plan.shapes[shapeIndex]
        let names = plan.fieldNames[shapeIndex]
        let writer = shape.writer
        writer.begin()
        defer { if writer.isWriting { writer.cancel() } }
        for index in shape.fields.indices {
            let field = shape.fields[index]
            let cell = reader.cell(names[index])
            switch field.role {
            case .attribute(let codec):
                guard codec.read(cell, writer, field.place) else {
                    throw FileMistake(
                        offset: reader.place(names[index]),
                        expected: "\(codec.expectation) in “\(field.name)”, found “\(NumberText.string(cell.text).prefix(60))”")
                }
            case .toOne, .list: try decode(field, cell, writer, image, reader.place(names[index]))
            }
        }
        let reference =
            image.isKeyless ? .integer(image.numbers[record]) : RecordKey.reference(reader.cell(plan.keyNames[shapeIndex]).text)
        let id = NSManagedObjectID(entity: shape.entity, token: token, reference: reference)
        var version: Int64 = 1
        if plan.versionName >= 0 {
            let cell = reader.cell(plan.versionName)
            if !cell.isNil {
                guard let number = NumberText.integer(cell.text), number > 0 else {
                    throw FileMistake(offset: reader.place(plan.versionName), expected: "a version: a number from 1")
                }
                version = number
            }
        }
        if !image.bumps.isEmpty { version += Int64(image.bumps[record]) }
        for (relationship, place) in shape.derived where !relationship.isToMany {
            writer.set(try derivedIDs(relationship, of: record, in: file).first, at: place)
        }
        return Row(writer.end(id, version: version))
    }

    private func decode(_ field: RecordField, _ cell: Cell, _ writer: PackedRowWriter, _ image: RecordImage, _ place: Int) throws {
        guard let relationship = field.relationship else { return }
        let isEmpty = cell.isNil || cell.text.isEmpty
        if case .toOne = field.role {
            return writer.set(isEmpty ? nil : try destination(relationship, cell.text, image, place), at: field.place)
        }
        if isEmpty { return writer.set([NSManagedObjectID](), at: field.place) }
        let keys = try format.keys(in: cell)
        let ids = try keys.map { key in
            let result = key.withUTF8ForReading { text in
                Result { try destination(relationship, UnsafeRawBufferPointer(text), image, place) }
            }
            return try result.get()
        }
        if Set(ids).count < ids.count { throw FileMistake(offset: place, expected: "each key once in “\(field.name)”") }
        writer.set(ids, at: field.place)
    }

    /// Returns the ID of the object with a key.
    func destination(
        _ relationship: NSRelationshipDescription, _ key: UnsafeRawBufferPointer, _ image: RecordImage, _ place: Int
    ) throws -> NSManagedObjectID {
        let entity = relationship.destinationEntity.known("a relationship in use has a destination")
        var kind = entity
        if !entity.subentities.isEmpty || plan.layout.checksReferences, let file = fileOfRoot[ObjectIdentifier(entity.rootEntity)] {
            if let record = try record(in: file, root: entity.rootEntity, key: key) {
                kind = images[file].shape(record).entity
            } else if plan.layout.checksReferences {
                throw FileMistake(
                    offset: place, expected: "the key of a record of “\(entity)” in “\(relationship)”, found “\(NumberText.string(key))”")
            }
        }
        return NSManagedObjectID(entity: kind, token: token, reference: RecordKey.reference(key))
    }

    // MARK: Relationships that follow from others

    func relatedIDs(_ relationship: NSRelationshipDescription, of id: NSManagedObjectID) throws -> [NSManagedObjectID] {
        guard let (file, record) = try record(of: id) else { return [] }
        let shape = images[file].shape(record)
        if shape.derived.contains(where: { $0.relationship.name == relationship.name }) {
            return try derivedIDs(relationship, of: record, in: file)
        }
        return try row(record, in: file).relatedIDs(relationship)
    }

    /// Returns the objects whose records refer to a record.
    func derivedIDs(_ relationship: NSRelationshipDescription, of record: Int, in file: Int) throws -> [NSManagedObjectID] {
        if !plan.joins.isEmpty, let ids = try pairedIDs(relationship, of: record) { return ids }
        guard let inverse = relationship.storedInverse, let root = inverse.entity?.rootEntity,
            let others = fileOfRoot[ObjectIdentifier(root)]
        else { return [] }
        let index: InverseIndex
        if let known = inverses[ObjectIdentifier(inverse)] {
            index = known
        } else {
            index = try InverseIndex(self, inverse, owners: file, members: others)
            inverses[ObjectIdentifier(inverse)] = index
        }
        return try index.members(of: record).map { try id(Int($0), in: others) }
    }
}

extension RecordImage {
    /// Returns the record with a number; nil if there is none. Numbers ascend.
    func record(numbered number: Int64) -> Int? {
        var (low, high) = (0, numbers.count)
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low < numbers.count && numbers[low] == number ? low : nil
    }
}

/// The records that refer to each record by a relationship, in the order of the file.
struct InverseIndex {
    private var starts: [UInt32]
    private var list: [UInt32]

    init(_ store: RecordStore, _ relationship: NSRelationshipDescription, owners: Int, members: Int) throws {
        let image = store.images[members]
        let reader = image.walking ?? store.format.reader(of: image)
        image.walking = reader
        let root = store.images[owners].plan.shapes.first { $0.entity.isKindOf(entity: relationship.destinationEntity ?? $0.entity) }?.root
        let names = image.plan.shapes.enumerated().map { index, shape in
            shape.fields.firstIndex { $0.property.name == relationship.name && $0.relationship != nil }.map {
                image.plan.fieldNames[index][$0]
            }
        }
        var pairs: [(owner: UInt32, member: UInt32)] = []
        func add(_ key: UnsafeRawBufferPointer, _ record: Int) throws {
            guard let root, let owner = try store.record(in: owners, root: root, key: key) else { return }
            pairs.append((UInt32(owner), UInt32(record)))
        }
        do {
            for record in 0..<image.count where !image.skipped.contains(record) {
                guard let name = names[image.shapeIndex(record)] else { continue }
                try reader.open(record)
                let cell = reader.cell(name)
                if cell.isNil || cell.text.isEmpty { continue }
                guard relationship.isToMany else {
                    try add(cell.text, record)
                    continue
                }
                for key in try store.format.keys(in: cell) {
                    let result = key.withUTF8ForReading { text in Result { try add(UnsafeRawBufferPointer(text), record) } }
                    try result.get()
                }
            }
        } catch let mistake as FileMistake {
            throw image.error(mistake)
        }
        var counts = Array(repeating: UInt32(0), count: store.images[owners].count + 1)
        for pair in pairs { counts[Int(pair.owner) + 1] += 1 }
        for index in counts.indices.dropFirst() { counts[index] += counts[index - 1] }
        starts = counts
        list = Array(repeating: 0, count: pairs.count)
        for pair in pairs {
            list[Int(counts[Int(pair.owner)])] = pair.member
            counts[Int(pair.owner)] += 1
        }
    }

    func members(of record: Int) -> ArraySlice<UInt32> {
        guard record + 1 < starts.count else { return [] }
        return list[Int(starts[record])..<Int(starts[record + 1])]
    }
}
