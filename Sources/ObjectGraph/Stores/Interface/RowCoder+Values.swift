internal import Foundation
internal import Predicates

// The encoding of a row: the number of its entity, its key, its version, a byte of flags, the bitmaps of nil and of unknown values if there are any,
// and the values in the order of their names.

extension RowCoder {
    private static let hasNil: UInt8 = 1
    private static let hasUnknown: UInt8 = 2

    func encode(_ row: Row, as form: RowForm, into bytes: inout ByteWriter) throws {
        bytes.reserve(form.fixedSize)
        bytes.put(short: UInt64(form.number))
        try row.withUncountedID { id in
            guard let id, id.token === token || id.isTemporary else {
                throw CoreDataError.make(
                    NSCoreDataError, "A row cannot be written as bytes.", reason: "It is of another store.",
                    next: "Use a coder for its store.")
            }
            encode(id.reference, into: &bytes)
        }
        bytes.reserve(form.fixedSize)
        bytes.put(signed: row.version)
        try form.fields.withUnsafeBufferPointer { fields in
            let flags = flags(of: row, form, fields)
            bytes.put(flags)
            if flags == 0 {
                for index in fields.indices { try put(row, fields[index], form, into: &bytes) }
                return
            }
            if flags & Self.hasNil != 0 { putBits(fields, into: &bytes) { !row.isUnknown(in: $0) && row.isNil(at: $0.slot) } }
            if flags & Self.hasUnknown != 0 { putBits(fields, into: &bytes) { row.isUnknown(in: $0) } }
            for field in fields where !row.isNil(at: field.slot) && !row.isUnknown(in: field) { try put(row, field, form, into: &bytes) }
        }
    }

    /// Returns the flags: whether values are nil, and whether values are unknown.
    @inline(__always) private func flags(of row: Row, _ form: RowForm, _ fields: UnsafeBufferPointer<RowForm.Field>) -> UInt8 {
        if !form.hasRelationships, !row.mayHaveUnknown {
            for word in form.nilWords where row.slots.load(fromByteOffset: word.offset, as: UInt64.self) & word.mask != 0 {
                return Self.hasNil
            }
            return 0
        }
        var flags: UInt8 = 0
        for field in fields {
            if row.isUnknown(in: field) { flags |= Self.hasUnknown } else if row.isNil(at: field.slot) { flags |= Self.hasNil }
        }
        return flags
    }

    private func putBits(
        _ fields: UnsafeBufferPointer<RowForm.Field>, into bytes: inout ByteWriter, _ isSet: (RowForm.Field) -> Bool
    ) {
        var start = 0
        while start < fields.count {
            var bits: UInt8 = 0
            for index in start..<min(start + 8, fields.count) where isSet(fields[index]) { bits |= 1 << UInt8(index - start) }
            bytes.put(bits)
            start += 8
        }
    }

    /// Writes one value. Space for values of fixed size is reserved.
    @inline(__always) private func put(
        _ row: Row, _ field: RowForm.Field, _ form: RowForm, into bytes: inout ByteWriter
    ) throws {
        let slot = field.slot
        let place = row.slots + slot.location.offset
        switch slot.kind {
        case .integer: bytes.put(signed: place.load(as: Int64.self))
        case .boolean: bytes.put(place.load(as: Int64.self) == 0 ? 0 : 1)
        case .double, .date: bytes.put(fixed: place.load(as: UInt64.self))
        case .uuid: bytes.put(UnsafeRawBufferPointer(start: place, count: 16))
        case .string:
            if slot.location.isPacked(row.slots) {
                bytes.append(counted: UnsafeRawBufferPointer(PackedBytes.bytes(row.slots, slot.location.offset)))
            } else {
                // Read in place without counting a reference, and not changed.
                SlotPointer(row.slots).place(slot.location.offset, of: String.self).pointee.withUTF8 {
                    bytes.append(counted: UnsafeRawBufferPointer($0))
                }
            }
            bytes.reserve(form.fixedSize)
        case .data:
            if slot.location.isPacked(row.slots) {
                bytes.append(counted: UnsafeRawBufferPointer(PackedBytes.bytes(row.slots, slot.location.offset)))
            } else {
                SlotPointer(row.slots).place(slot.location.offset, of: Data.self).pointee.withUnsafeBytes { bytes.append(counted: $0) }
            }
            bytes.reserve(form.fixedSize)
        case .box:
            if let box = row.box(at: slot) { try encode(box, form.attribute(field), into: &bytes) }
            bytes.reserve(form.fixedSize)
        case .objectID:
            if let id = row.objectID(at: slot) { try encode(id, into: &bytes) }
            bytes.reserve(form.fixedSize)
        case .objectIDs:
            let ids = row.objectIDs(at: slot)?.ids ?? []
            bytes.put(short: UInt64(ids.count))
            for id in ids { try encode(id, into: &bytes) }
            bytes.reserve(form.fixedSize)
        }
    }

    private func encode(_ box: Box, _ attribute: NSAttributeDescription, into bytes: inout ByteWriter) throws {
        switch (attribute.attributeType, box.value) {
        case (.decimalAttributeType, let number as Decimal): bytes.append(number.description)
        case (.URIAttributeType, let url as URL): bytes.append(url.absoluteString)
        case (.objectIDAttributeType, let id as NSManagedObjectID): try encode(id, into: &bytes)
        default:
            // Foundation stops the program at some altered archives: archives that fail their checksum are not decoded.
            try AttributeArchive.data(of: box.value, attribute).withUnsafeBytes { archive in
                bytes.append(fixed: Checksum.of(archive))
                bytes.append(counted: archive)
            }
        }
    }

    // MARK: Reading

    func decodeRow(of id: NSManagedObjectID, as form: RowForm, from bytes: inout ByteReader) throws -> Row {
        let row = Row.blank(form.layout, objectID: id, version: try bytes.signed())
        let flags = try bytes.byte()
        guard flags <= Self.hasNil | Self.hasUnknown else { throw ByteReader.damaged("A row before \(bytes.position) has wrong flags.") }
        let none = try flags & Self.hasNil == 0 ? nil : bytes.bytes(form.bitmapSize)
        let unknown = try flags & Self.hasUnknown == 0 ? nil : bytes.bytes(form.bitmapSize)
        for (index, field) in form.fields.enumerated() {
            if let none, none[index / 8] & (1 << UInt8(index % 8)) != 0 {
                // A nil list is unknown, and marked so.
                guard field.slot.kind != .objectIDs else { throw ByteReader.damaged("A list before \(bytes.position) is nil.") }
                continue
            }
            if let unknown, unknown[index / 8] & (1 << UInt8(index % 8)) != 0 {
                row.setUnknown(at: field.slot)
                continue
            }
            try read(field, form, into: row, from: &bytes)
        }
        row.checkInvariants()
        return row
    }

    /// Decodes one value into a row that is not shared yet.
    private func read(_ field: RowForm.Field, _ form: RowForm, into row: Row, from bytes: inout ByteReader) throws {
        let slot = field.slot
        let place = row.slots + slot.location.offset
        switch slot.kind {
        case .integer: place.storeBytes(of: try bytes.signed(), as: Int64.self)
        case .boolean:
            let byte = try bytes.byte()
            guard byte < 2 else { throw wrong(field, form) }
            place.storeBytes(of: Int64(byte), as: Int64.self)
        case .double, .date: place.storeBytes(of: try bytes.fixed(), as: UInt64.self)
        case .uuid: place.copyMemory(from: try bytes.bytes(16).baseAddress.known("there are sixteen"), byteCount: 16)
        case .string: SlotPointer(row.slots).place(slot.location.offset, of: String.self).pointee = try bytes.text()
        case .data: SlotPointer(row.slots).place(slot.location.offset, of: Data.self).pointee = Data(try bytes.countedBytes())
        case .box: row.store(.box(Box(try value(of: field, form, from: &bytes))), in: slot)
        case .objectID: row.setObjectID(try related(by: field, form, from: &bytes), at: slot)
        case .objectIDs:
            let count = try bytes.count()
            let ids = try (0..<count).map { _ in try related(by: field, form, from: &bytes) }
            row.setObjectIDs(ids.isEmpty ? .empty : ObjectIDList(ids), at: slot)
        }
        row.setNil(false, at: slot)
        if let attribute = form.properties[field.number] as? NSAttributeDescription, !AttributeCheck.holds(row, slot, attribute) {
            throw wrong(field, form)
        }
    }

    private func wrong(_ field: RowForm.Field, _ form: RowForm) -> NSError {
        ByteReader.damaged("A value of “\(form.properties[field.number])” is none that it can have.")
    }

    private func related(by field: RowForm.Field, _ form: RowForm, from bytes: inout ByteReader) throws -> NSManagedObjectID {
        let id = try decodeID(from: &bytes)
        guard let destination = (form.properties[field.number] as? NSRelationshipDescription)?.destinationEntity,
            id.owningEntity.isKindOf(entity: destination)
        else { throw wrong(field, form) }
        return id
    }

    private func value(of field: RowForm.Field, _ form: RowForm, from bytes: inout ByteReader) throws -> Any {
        let attribute = form.attribute(field)
        switch attribute.attributeType {
        case .decimalAttributeType:
            let text = try bytes.text()
            // Foundation parses numeric prefixes of strings.
            guard let number = Decimal(string: text), !number.isNaN, number.description == text else { throw wrong(field, form) }
            return number
        case .URIAttributeType:
            guard let url = URL(string: try bytes.text()) else { throw wrong(field, form) }
            return url
        case .objectIDAttributeType: return try decodeID(from: &bytes)
        default:
            let sum = try bytes.fixed()
            let archive = try bytes.countedBytes()
            guard sum == Checksum.of(archive), let value = (try? AttributeArchive.value(of: Data(archive), attribute)) ?? nil else {
                throw wrong(field, form)
            }
            return value
        }
    }
}

extension RowForm {
    func attribute(_ field: Field) -> NSAttributeDescription { properties[field.number] as! NSAttributeDescription }
}

extension Row {
    /// Returns whether a value is unknown.
    @inline(__always) fileprivate func isUnknown(in field: RowForm.Field) -> Bool {
        switch field.slot.kind {
        case .objectID, .objectIDs: isUnknown(at: field.slot)
        default: mayHaveUnknown && isUnknown(at: field.slot)
        }
    }
}
