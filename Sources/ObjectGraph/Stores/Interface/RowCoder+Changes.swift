public import Foundation

// The encoding of changes: flags, row, base, changed properties, lists.

extension RowCoder {
    private static let hasRow: UInt8 = 1
    private static let hasBase: UInt8 = 2
    private static let hasIdentity: UInt8 = 4
    private static let isMissing: UInt8 = 8
    /// The first bytes of sealed changes.
    private static let magic: UInt64 = 0x3153_4547_4E41_4843

    /// Encodes a change completely.
    ///
    /// - Throws: The errors of ``encode(_:into:)-(Row,_)``.
    public func encode(_ change: StoreChange, into bytes: inout ByteWriter) throws {
        var flags: UInt8 = 0
        if change.row != nil { flags |= Self.hasRow }
        if change.base != nil { flags |= Self.hasBase }
        if change.identity != nil { flags |= Self.hasIdentity }
        if change.wasMissing { flags |= Self.isMissing }
        bytes.append(flags)
        if let row = change.row { try encode(row, into: &bytes) }
        if let base = change.base { try encode(base, into: &bytes) }
        if let identity = change.identity { try encode(identity, into: &bytes) }
        let form = try form(of: change.entity.frozenParts.layout)
        let changed = form.properties.indices.filter { change.changed.contains(form.properties[$0].slotIndex) }
        bytes.append(short: UInt64(changed.count))
        for number in changed { bytes.append(short: UInt64(number)) }
        bytes.append(short: UInt64(change.lists.count))
        for list in change.lists {
            bytes.append(short: UInt64(form.properties.firstIndex { $0.slotIndex == list.slotIndex } ?? 0))
            try encode(list.added, into: &bytes)
            try encode(list.removed, into: &bytes)
            bytes.append(list.members == nil ? 0 : 1)
            if let members = list.members { try encode(members, into: &bytes) }
        }
    }

    private func encode(_ ids: [NSManagedObjectID], into bytes: inout ByteWriter) throws {
        bytes.append(short: UInt64(ids.count))
        for id in ids { try encode(id, into: &bytes) }
    }

    /// Decodes a change.
    ///
    /// - Throws: Code 259 for invalid bytes.
    public func decodeChange(from bytes: inout ByteReader) throws -> StoreChange {
        let flags = try bytes.byte()
        guard flags < 16, flags & (Self.hasRow | Self.hasBase | Self.hasIdentity) != 0 else {
            throw ByteReader.damaged("A change before \(bytes.position) has wrong flags.")
        }
        let row = try flags & Self.hasRow == 0 ? nil : decodeRow(from: &bytes)
        let base = try flags & Self.hasBase == 0 ? nil : decodeRow(from: &bytes)
        let identity = try flags & Self.hasIdentity == 0 ? nil : decodeID(from: &bytes)
        let entity = (identity ?? row?.objectID ?? base?.objectID).known(
            "a change that was read has one of the three, and rows that were read have IDs"
        ).owningEntity
        if let row, let base, row.layout !== base.layout {
            throw ByteReader.damaged("A change before \(bytes.position) is of two entities.")
        }
        let form = try form(of: entity.frozenParts.layout)
        var changed = PropertySet()
        for _ in 0..<(try bytes.count()) { changed.insert(try property(form, from: &bytes).slotIndex) }
        var lists: [ListDifference] = []
        for _ in 0..<(try bytes.count()) { lists.append(try decodeList(form, from: &bytes)) }
        return StoreChange(
            row: row, base: base, changed: changed, lists: lists, wasMissing: flags & Self.isMissing != 0, identity: identity)
    }

    private func property(_ form: RowForm, from bytes: inout ByteReader) throws -> NSPropertyDescription {
        let number = try bytes.short()
        guard number < UInt64(form.properties.count) else { throw ByteReader.damaged("“\(form.entity)” has no property \(number).") }
        return form.properties[Int(number)]
    }

    private func decodeList(_ form: RowForm, from bytes: inout ByteReader) throws -> ListDifference {
        let property = try property(form, from: &bytes)
        guard let relationship = property as? NSRelationshipDescription, relationship.isToMany,
            let destination = relationship.destinationEntity
        else { throw ByteReader.damaged("“\(property)” of “\(form.entity)” has no list.") }
        func ids() throws -> [NSManagedObjectID] {
            try (0..<(try bytes.count())).map { _ in
                let id = try decodeID(from: &bytes)
                if id.owningEntity.isKindOf(entity: destination) { return id }
                throw ByteReader.damaged("“\(relationship)” leads to \(id), which is no “\(destination)”.")
            }
        }
        let (added, removed) = (try ids(), try ids())
        let members = try bytes.byte() == 0 ? nil : ids()
        return ListDifference(
            slotIndex: relationship.slotIndex, name: relationship.name, added: added, removed: removed, members: members)
    }

    // MARK: Whole saves

    /// Encodes all changes of a save.
    ///
    /// - Throws: The errors of ``encode(_:into:)-(Row,_)``.
    public func encode(_ changes: StoreChangeSet, into bytes: inout ByteWriter) throws {
        for part in [changes.inserted, changes.updated, changes.deleted, changes.locked] {
            bytes.append(short: UInt64(part.count))
            for change in part { try encode(change, into: &bytes) }
        }
    }

    /// Decodes all changes of a save.
    ///
    /// - Throws: Code 259 for invalid bytes.
    public func decodeChanges(from bytes: inout ByteReader) throws -> StoreChangeSet {
        func part() throws -> [StoreChange] { try (0..<(try bytes.count())).map { _ in try decodeChange(from: &bytes) } }
        var changes = StoreChangeSet()
        changes.inserted = try part()
        changes.updated = try part()
        changes.deleted = try part()
        changes.locked = try part()
        return changes
    }

    /// Returns a save as data to store or send, sealed by a checksum and the ``fingerprint``.
    ///
    /// - Throws: The errors of ``encode(_:into:)-(Row,_)``.
    public func data(of changes: StoreChangeSet) throws -> Data {
        var bytes = ByteWriter()
        bytes.append(fixed: Self.magic)
        bytes.append(fixed: fingerprint)
        bytes.append(fixed: 0)
        try encode(changes, into: &bytes)
        let sum = bytes.withUnsafeBytes { Checksum.of(UnsafeRawBufferPointer(rebasing: $0[24...])) }
        bytes.replace(fixed: sum, at: 16)
        return bytes.data
    }

    /// Returns the save in data.
    ///
    /// - Throws: Code 259 for damaged data, 134100 for data of another model.
    public func changes(in data: Data) throws -> StoreChangeSet {
        try data.withUnsafeBytes { data in
            var bytes = ByteReader(data)
            guard try bytes.fixed() == Self.magic else { throw ByteReader.damaged("They are not changes.") }
            guard try bytes.fixed() == fingerprint else {
                throw CoreDataError.make(
                    NSPersistentStoreIncompatibleVersionHashError, "Changes cannot be read.",
                    reason: "They were written with another version of the model.", next: "Read them with the model they were written with."
                )
            }
            guard try bytes.fixed() == Checksum.of(UnsafeRawBufferPointer(rebasing: data[24...])) else {
                throw ByteReader.damaged("They are not as they were written.")
            }
            let changes = try decodeChanges(from: &bytes)
            guard bytes.remaining == 0 else { throw ByteReader.damaged("There are \(bytes.remaining) more than there should be.") }
            return changes
        }
    }
}
