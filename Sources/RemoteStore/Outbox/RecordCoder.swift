internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Encodes and decodes pending changes exactly: a change that is sent again after a restart equals the original.
///
/// Bytes that were altered or truncated are an error; they never become another change.
enum RecordCoder {
    /// The first byte: the version of the format. Version 1 had no uploads, version 2 no key of the next row, version 3 no time of sending, and version 4 no
    /// other additions.
    static let form: UInt8 = 5
    /// The format that always contains the time of sending.
    static let formOfTimes: UInt8 = 4
    /// The format of records without additions. Earlier versions can read it.
    static let plainForm: UInt8 = 3

    /// The optional parts of a record that the plain format cannot store.
    struct Additions: OptionSet {
        let rawValue: UInt8
        /// The time when it was first sent.
        static let time = Additions(rawValue: 1)
        /// The mark that it was accepted without an identifier.
        static let acceptance = Additions(rawValue: 2)
        /// The user who made it.
        static let principal = Additions(rawValue: 4)
        /// The mark that it was accepted to be made later.
        static let later = Additions(rawValue: 8)
    }

    private static func damaged(_ reason: String) -> NSError {
        CoreDataError.make(
            CocoaError.Code.fileReadCorruptFile.rawValue, "A pending change cannot be read.", reason: reason,
            next: "Restore the cache's file from a copy, or sign out with the choice to drop pending changes.")
    }

    // MARK: Checksums

    /// Returns the bytes that `body` writes, with the version of the format and a checksum.
    static func seal(as form: UInt8 = plainForm, _ body: (inout ByteWriter) throws -> Void) rethrows -> Data {
        var content = ByteWriter()
        content.append(form)
        try body(&content)
        let sum = content.withUnsafeBytes { Checksum.of($0) }
        content.append(fixed: sum)
        return content.withUnsafeBytes { Data($0) }
    }

    /// Calls `body` with a reader of sealed bytes.
    ///
    /// - Throws: Code 259 for other bytes.
    static func open<Result>(_ data: Data, _ body: (inout ByteReader, UInt8) throws -> Result) throws -> Result {
        try data.withUnsafeBytes { all in
            guard all.count > 8 else { throw damaged("There are \(all.count) bytes.") }
            let content = UnsafeRawBufferPointer(rebasing: all[..<(all.count - 8)])
            var end = ByteReader(UnsafeRawBufferPointer(rebasing: all[(all.count - 8)...]))
            guard try end.fixed() == Checksum.of(content) else { throw damaged("Its checksum is wrong.") }
            var bytes = ByteReader(content)
            let found = try bytes.byte()
            guard (1...form).contains(found) else { throw damaged("Its form is \(found), which this version does not know.") }
            let result = try body(&bytes, found)
            guard bytes.remaining == 0 else { throw damaged("\(bytes.remaining) bytes are left over.") }
            return result
        }
    }

    // MARK: Identifiers and versions

    static func write(_ id: ResourceID, _ bytes: inout ByteWriter) {
        switch id {
        case .integer(let number):
            bytes.append(0)
            bytes.append(signed: number)
        case .string(let text):
            bytes.append(1)
            bytes.append(text)
        case .uuid(let uuid):
            bytes.append(2)
            write(uuid, &bytes)
        case .composite(let parts):
            bytes.append(3)
            bytes.append(short: UInt64(parts.count))
            for part in parts { write(part, &bytes) }
        }
    }

    static func readID(_ bytes: inout ByteReader, depth: Int = 0) throws -> ResourceID {
        switch try bytes.byte() {
        case 0: return .integer(try bytes.signed())
        case 1: return .string(try bytes.text())
        case 2: return .uuid(try readUUID(&bytes))
        case 3:
            guard depth < 32 else { throw damaged("An identifier is nested too deep.") }
            return .composite(try (0..<(try bytes.count())).map { _ in try readID(&bytes, depth: depth + 1) })
        case let other: throw damaged("There is no identifier of kind \(other).")
        }
    }

    static func write(_ uuid: UUID, _ bytes: inout ByteWriter) { withUnsafeBytes(of: uuid.uuid) { bytes.append($0) } }

    static func readUUID(_ bytes: inout ByteReader) throws -> UUID {
        UUID(uuid: try bytes.bytes(16).loadUnaligned(as: uuid_t.self))
    }

    static func write(_ version: ResourceVersion?, _ bytes: inout ByteWriter) {
        switch version {
        case nil: bytes.append(0)
        case .number(let number)?:
            bytes.append(1)
            bytes.append(signed: number)
        case .tag(let tag)?:
            bytes.append(2)
            bytes.append(tag)
        }
    }

    static func readVersion(_ bytes: inout ByteReader) throws -> ResourceVersion? {
        switch try bytes.byte() {
        case 0: return nil
        case 1: return .number(try bytes.signed())
        case 2: return .tag(try bytes.text())
        case let other: throw damaged("There is no version of kind \(other).")
        }
    }

    // MARK: Values

    static func write(_ reference: ResourceReference, _ bytes: inout ByteWriter) {
        write(reference.id, &bytes)
        write(reference.entity, &bytes)
    }

    static func readReference(_ bytes: inout ByteReader) throws -> ResourceReference {
        ResourceReference(try readID(&bytes), entity: try readText(&bytes))
    }

    static func write(_ text: String?, _ bytes: inout ByteWriter) {
        bytes.append(text == nil ? 0 : 1)
        if let text { bytes.append(text) }
    }

    static func readText(_ bytes: inout ByteReader) throws -> String? { try readFlag(&bytes) ? try bytes.text() : nil }

    static func readFlag(_ bytes: inout ByteReader) throws -> Bool {
        switch try bytes.byte() {
        case 0: return false
        case 1: return true
        case let other: throw damaged("\(other) is neither true nor false.")
        }
    }

    /// Writes a value.
    ///
    /// - Throws: Code 134030 for a value of a type that cannot be stored.
    static func write(_ value: PropertyValue, _ bytes: inout ByteWriter) throws {
        switch value {
        case .null: bytes.append(0)
        case .bool(let flag):
            bytes.append(1)
            bytes.append(flag ? 1 : 0)
        case .int64(let number):
            bytes.append(2)
            bytes.append(signed: number)
        case .double(let number):
            bytes.append(3)
            bytes.append(fixed: number.bitPattern)
        case .decimal(let number):
            bytes.append(4)
            bytes.append(number.description)
        case .string(let text):
            bytes.append(5)
            bytes.append(text)
        case .date(let date):
            bytes.append(6)
            bytes.append(fixed: date.timeIntervalSinceReferenceDate.bitPattern)
        case .data(let data):
            bytes.append(7)
            data.withUnsafeBytes { bytes.append(counted: $0) }
        case .uuid(let uuid):
            bytes.append(8)
            write(uuid, &bytes)
        case .url(let url):
            bytes.append(9)
            bytes.append(url.relativeString)
            write(url.baseURL?.absoluteString, &bytes)
        case .array(let values):
            bytes.append(10)
            bytes.append(short: UInt64(values.count))
            for value in values { try write(value, &bytes) }
        case .set(let values):
            bytes.append(11)
            bytes.append(short: UInt64(values.count))
            for value in values { try write(value, &bytes) }
        case .object(let object) where object.object is ArchivedValue:
            bytes.append(12)
            (object.object as? ArchivedValue)?.data.withUnsafeBytes { bytes.append(counted: $0) }
        case .object(let object):
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "A change cannot be kept until it is sent.",
                reason: "It has a value of \(type(of: object.object)), which a backend cannot get.",
                next: "Make the attribute transformable, with a transformer that makes data of the value.")
        }
    }

    static func readValue(_ bytes: inout ByteReader, depth: Int = 0) throws -> PropertyValue {
        switch try bytes.byte() {
        case 0: return .null
        case 1: return .bool(try readFlag(&bytes))
        case 2: return .int64(try bytes.signed())
        case 3: return .double(Double(bitPattern: try bytes.fixed()))
        case 4:
            let text = try bytes.text()
            guard let number = Decimal(string: text), number.description == text else { throw damaged("“\(text)” is no number.") }
            return .decimal(number)
        case 5: return .string(try bytes.text())
        case 6: return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: try bytes.fixed())))
        case 7: return .data(Data(try bytes.countedBytes()))
        case 8: return .uuid(try readUUID(&bytes))
        case 9:
            let (text, base) = (try bytes.text(), try readText(&bytes))
            guard let url = URL(string: text, relativeTo: base.flatMap { URL(string: $0) }) else { throw damaged("“\(text)” is no URL.") }
            return .url(url)
        case let kind where kind == 10 || kind == 11:
            guard depth < 32 else { throw damaged("A value is nested too deep.") }
            let values = try (0..<(try bytes.count())).map { _ in try readValue(&bytes, depth: depth + 1) }
            return kind == 10 ? .array(values) : .set(Set(values))
        case 12: return .object(ObjectReference(ArchivedValue(Data(try bytes.countedBytes()))))
        case let other: throw damaged("There is no value of kind \(other).")
        }
    }

    static func write(_ value: ResourceValue, _ bytes: inout ByteWriter) throws {
        switch value {
        case .value(let value):
            bytes.append(0)
            try write(value, &bytes)
        case .one(let reference):
            bytes.append(reference == nil ? 1 : 2)
            if let reference { write(reference, &bytes) }
        case .many(let references):
            bytes.append(3)
            write(references, &bytes)
        }
    }

    static func readResourceValue(_ bytes: inout ByteReader) throws -> ResourceValue {
        switch try bytes.byte() {
        case 0: return .value(try readValue(&bytes))
        case 1: return .one(nil)
        case 2: return .one(try readReference(&bytes))
        case 3: return .many(try readReferences(&bytes))
        case let other: throw damaged("There is no value of kind \(other).")
        }
    }

    static func write(_ references: [ResourceReference], _ bytes: inout ByteWriter) {
        bytes.append(short: UInt64(references.count))
        for reference in references { write(reference, &bytes) }
    }

    static func readReferences(_ bytes: inout ByteReader) throws -> [ResourceReference] {
        try (0..<(try bytes.count())).map { _ in try readReference(&bytes) }
    }

    static func write(_ values: [String: ResourceValue], _ bytes: inout ByteWriter) throws {
        bytes.append(short: UInt64(values.count))
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            bytes.append(name)
            try write(value, &bytes)
        }
    }

    static func readValues(_ bytes: inout ByteReader) throws -> [String: ResourceValue] {
        var values: [String: ResourceValue] = [:]
        for _ in 0..<(try bytes.count()) { values[try bytes.text()] = try readResourceValue(&bytes) }
        return values
    }

    static func write(_ lists: [String: BackendChange.ListChange], _ bytes: inout ByteWriter) {
        bytes.append(short: UInt64(lists.count))
        for (name, list) in lists.sorted(by: { $0.key < $1.key }) {
            bytes.append(name)
            write(list.added, &bytes)
            write(list.removed, &bytes)
            bytes.append(list.members == nil ? 0 : 1)
            if let members = list.members { write(members, &bytes) }
        }
    }

    static func readLists(_ bytes: inout ByteReader) throws -> [String: BackendChange.ListChange] {
        var lists: [String: BackendChange.ListChange] = [:]
        for _ in 0..<(try bytes.count()) {
            let name = try bytes.text()
            let (added, removed) = (try readReferences(&bytes), try readReferences(&bytes))
            lists[name] = .init(added: added, removed: removed, members: try readFlag(&bytes) ? try readReferences(&bytes) : nil)
        }
        return lists
    }

    static func write(_ uploads: [String: PendingRecord.Upload], _ bytes: inout ByteWriter) throws {
        bytes.append(short: UInt64(uploads.count))
        for (name, upload) in uploads.sorted(by: { $0.key < $1.key }) {
            bytes.append(name)
            write(upload.key, &bytes)
            bytes.append(signed: upload.size)
            write(upload.token, &bytes)
            bytes.append(signed: upload.confirmed)
            bytes.append(upload.reference == nil ? 0 : 1)
            if let reference = upload.reference { try write(reference, &bytes) }
        }
    }

    static func readUploads(_ bytes: inout ByteReader) throws -> [String: PendingRecord.Upload] {
        var uploads: [String: PendingRecord.Upload] = [:]
        for _ in 0..<(try bytes.count()) {
            let name = try bytes.text()
            var upload = PendingRecord.Upload(key: try readUUID(&bytes), size: try bytes.signed(), token: try readText(&bytes))
            upload.confirmed = try bytes.signed()
            if try readFlag(&bytes) { upload.reference = try readResourceValue(&bytes) }
            uploads[name] = upload
        }
        return uploads
    }

    // MARK: Changes

    static func write(_ change: BackendChange, _ bytes: inout ByteWriter) throws {
        bytes.append(signed: Int64(change.key.number))
        bytes.append(change.kind == .insert ? 0 : change.kind == .update ? 1 : 2)
        bytes.append(change.entity)
        bytes.append(change.id == nil ? 0 : 1)
        if let id = change.id { write(id, &bytes) }
        try write(change.values, &bytes)
        bytes.append(short: UInt64(change.changedProperties.count))
        for name in change.changedProperties.sorted() { bytes.append(name) }
        write(change.lists, &bytes)
        write(change.version, &bytes)
        write(change.idempotencyKey, &bytes)
    }

    static func readChange(_ bytes: inout ByteReader) throws -> BackendChange {
        guard let number = Int(exactly: try bytes.signed()) else { throw damaged("A key is too large.") }
        let kind: Resource.Saving.Kind
        switch try bytes.byte() {
        case 0: kind = .insert
        case 1: kind = .update
        case 2: kind = .delete
        case let other: throw damaged("There is no change of kind \(other).")
        }
        let entity = try bytes.text()
        let id = try readFlag(&bytes) ? try readID(&bytes) : nil
        let values = try readValues(&bytes)
        let changed = Set(try (0..<(try bytes.count())).map { _ in try bytes.text() })
        let lists = try readLists(&bytes)
        let version = try readVersion(&bytes)
        return BackendChange(
            kind, entity, id: id, values, changedProperties: changed, lists: lists, version: version, key: .init(number),
            idempotencyKey: try readUUID(&bytes))
    }
}
