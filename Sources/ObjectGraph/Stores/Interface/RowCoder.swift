internal import Foundation

/// Encodes IDs, rows and changes of one store, so that they can be stored and sent later.
///
/// ```swift
/// let coder = RowCoder(for: store)
/// var bytes = ByteWriter()
/// try coder.encode(row, into: &bytes)
/// ```
///
/// The bytes are valid for models with equal persistent properties, see ``fingerprint``. Decoding any bytes returns values or throws an
/// error; bytes that may have been altered need a checksum, which ``data(of:)`` adds.
@_spi(Stores)
// Immutable.
public final class RowCoder: Sendable {
    let forms: [RowForm]
    private let formsByLayout: [ObjectIdentifier: RowForm]
    private let numbers: [ObjectIdentifier: Int]
    let token: StoreToken
    /// A number over everything that the encoding depends on: entities, persistent properties and their types. Bytes encoded with another
    /// fingerprint must not be decoded.
    public let fingerprint: UInt64

    /// Creates a coder for the rows of a store.
    ///
    /// - Parameter store: The store of the rows' IDs, which must have a coordinator, because its model defines the rows.
    public init(for store: NSPersistentStore) {
        let entities = (store.persistentStoreCoordinator?.managedObjectModel.entities ?? []).filter { $0.frozen != nil }
        token = store.token
        let sorted = entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
        forms = sorted.enumerated().map { RowForm($1, number: $0) }
        formsByLayout = Dictionary(forms.map { (ObjectIdentifier($0.layout), $0) }, uniquingKeysWith: { first, _ in first })
        numbers = Dictionary(forms.map { (ObjectIdentifier($0.entity), $0.number) }, uniquingKeysWith: { first, _ in first })
        let text = forms.map(\.description).joined(separator: "\n")
        fingerprint = SHA2.sha256(Data(text.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    // MARK: IDs

    private static let integerTag: UInt8 = 0
    private static let stringTag: UInt8 = 1
    private static let uuidTag: UInt8 = 2
    private static let temporaryTag: UInt8 = 3

    /// Encodes an ID of the store, or a temporary one.
    ///
    /// - Throws: Code 134060 for an ID of another store.
    public func encode(_ id: NSManagedObjectID, into bytes: inout ByteWriter) throws {
        guard let number = numbers[ObjectIdentifier(id.owningEntity)], id.token === token || id.isTemporary else {
            throw CoreDataError.make(
                NSCoreDataError, "\(id) cannot be written as bytes.", reason: "It is an object of another store or model.",
                next: "Use a coder for its store.", info: [NSAffectedObjectsErrorKey: [id]])
        }
        bytes.reserve(32)
        bytes.put(short: UInt64(number))
        encode(id.reference, into: &bytes)
    }

    func encode(_ reference: NSManagedObjectID.Reference, into bytes: inout ByteWriter) {
        switch reference {
        case .integer(let number):
            bytes.put(Self.integerTag)
            bytes.put(signed: number)
        case .string(let text):
            bytes.put(Self.stringTag)
            bytes.append(text)
        case .uuid(let uuid), .temporary(let uuid):
            if case .uuid = reference { bytes.put(Self.uuidTag) } else { bytes.put(Self.temporaryTag) }
            withUnsafeBytes(of: uuid.uuid) { bytes.put($0) }
        }
    }

    /// Decodes an ID.
    ///
    /// - Throws: Code 259 for invalid bytes.
    public func decodeID(from bytes: inout ByteReader) throws -> NSManagedObjectID { try decodeID(of: form(&bytes).entity, from: &bytes) }

    func form(_ bytes: inout ByteReader) throws -> RowForm {
        let number = try bytes.short()
        guard number < UInt64(forms.count) else { throw ByteReader.damaged("There is no entity \(number).") }
        return forms[Int(number)]
    }

    func decodeID(of entity: NSEntityDescription, from bytes: inout ByteReader) throws -> NSManagedObjectID {
        switch try bytes.byte() {
        case Self.integerTag: return NSManagedObjectID(entity: entity, token: token, reference: .integer(try bytes.signed()))
        case Self.stringTag: return NSManagedObjectID(entity: entity, token: token, reference: .string(try bytes.text()))
        case Self.uuidTag: return NSManagedObjectID(entity: entity, token: token, reference: .uuid(try Self.uuid(&bytes)))
        case Self.temporaryTag: return NSManagedObjectID(entity: entity, token: nil, reference: .temporary(try Self.uuid(&bytes)))
        default: throw ByteReader.damaged("An ID before \(bytes.position) is of no known kind.")
        }
    }

    static func uuid(_ bytes: inout ByteReader) throws -> UUID { UUID(uuid: try bytes.bytes(16).loadUnaligned(as: uuid_t.self)) }

    // MARK: Rows

    func form(of layout: RowLayout) throws -> RowForm {
        if let form = formsByLayout[ObjectIdentifier(layout)] { return form }
        throw CoreDataError.make(
            NSCoreDataError, "A row cannot be written as bytes.", reason: "It is of another model than its store.",
            next: "Use a coder for its store.")
    }

    /// Encodes a row with its ID, its version and its unknown properties.
    ///
    /// - Throws: Code 134030 for a value that cannot be encoded; code 134060 for a row of another store.
    public func encode(_ row: Row, into bytes: inout ByteWriter) throws { try encode(row, as: form(of: row.layout), into: &bytes) }

    /// Encodes the rows of changes in order, up to a number of bytes, for a store's log.
    ///
    /// - Parameters:
    ///   - start: The index of the first change.
    ///   - byteCount: The number of bytes after which to stop. At least one row is encoded.
    /// - Returns: The index after the last encoded change, and the number of rows; a deletion has none.
    /// - Throws: The errors of ``encode(_:into:)-(Row,_)``.
    public func encodeRows(
        of changes: [StoreChange], from start: Int = 0, upTo byteCount: Int = .max, into bytes: inout ByteWriter
    ) throws -> (end: Int, rowCount: Int) {
        var (index, rowCount) = (start, 0)
        var last: RowForm?
        while index < changes.count, bytes.count < byteCount || rowCount == 0 {
            if let slots = changes[index].rowSlots {
                try Row.with(slots) { row in
                    let isSame = last.map { row.isOf($0.layout) } ?? false
                    if !isSame { last = try form(of: row.layout) }
                    try encode(row, as: last.known("it has just been set where it was not right"), into: &bytes)
                }
                rowCount += 1
            }
            index += 1
        }
        return (index, rowCount)
    }

    /// Decodes a row.
    ///
    /// - Throws: Code 259 for invalid bytes.
    public func decodeRow(from bytes: inout ByteReader) throws -> Row {
        let form = try form(&bytes)
        let id = try decodeID(of: form.entity, from: &bytes)
        return try decodeRow(of: id, as: form, from: &bytes)
    }
}

extension Row {
    /// Returns whether the row has a layout, without counting a reference to its own.
    @inline(__always) fileprivate func isOf(_ layout: RowLayout) -> Bool {
        block.withUnsafeMutablePointerToHeader { Unmanaged.passUnretained($0.pointee.layout).toOpaque() }
            == Unmanaged.passUnretained(layout).toOpaque()
    }
}
