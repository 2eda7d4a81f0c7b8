#if PostgreSQL
internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// Converts attributes between rows and columns.
enum ColumnValues {
    /// The largest distance from 2001, in seconds, that a date may have: PostgreSQL's dates end in 294276.
    private static let dateLimit = 9.2e12

    // MARK: Dates

    /// Returns the seconds since 2001 of microseconds since 2000. Infinite dates become the most distant ones of `Date`.
    @inline(__always) static func seconds(_ microseconds: Int64) -> Double {
        if microseconds == .max { return Date.distantFuture.timeIntervalSinceReferenceDate }
        if microseconds == .min { return Date.distantPast.timeIntervalSinceReferenceDate }
        let (since2001, overflows) = microseconds.subtractingReportingOverflow(DatabaseEpoch.secondsBefore2001 * 1_000_000)
        return overflows ? Date.distantPast.timeIntervalSinceReferenceDate : Double(since2001) / 1e6
    }

    /// Returns the microseconds since 2000 of seconds since 2001, rounded; nil if PostgreSQL has no such date.
    static func microseconds(_ seconds: Double) -> Int64? {
        // Bounded: within the dates that PostgreSQL has.
        guard seconds.isFinite, abs(seconds) < dateLimit, seconds > -2e11 else { return nil }
        // Bounded: within the dates that PostgreSQL has.
        return Int64((seconds * 1e6).rounded()) + DatabaseEpoch.secondsBefore2001 * 1_000_000
    }

    /// Returns whether infinite dates lie on another side of a date than the dates that they are read as.
    static func reachesInfinity(_ value: BinaryValue) -> Bool {
        switch value {
        case .date(let microseconds): microseconds <= first || microseconds >= last
        case .array(let elements, _): elements.contains(where: reachesInfinity)
        default: false
        }
    }

    private static let first = bound(.distantPast)
    private static let last = bound(.distantFuture)

    /// Returns a date of a predicate. A date outside PostgreSQL's range becomes one beyond all stored dates.
    static func bound(_ date: Date) -> Int64 {
        let seconds = date.timeIntervalSinceReferenceDate
        return microseconds(seconds) ?? (seconds < 0 ? .min : .max)
    }

    // MARK: Writing

    /// Returns the value of an attribute in a row.
    ///
    /// - Throws: Code 134030 for a value that no column holds.
    static func value(
        of row: Row, _ slot: RowLayout.Slot, _ storage: SQLStorage, _ attribute: NSAttributeDescription
    ) throws -> BinaryValue {
        if row.isNil(at: slot) { return .null(storage.type) }
        let place = row.slots + slot.location.offset
        switch storage {
        case .integer: return .integer(place.load(as: Int64.self))
        case .boolean: return .boolean(place.load(as: Int64.self) != 0)
        case .double: return .double(place.load(as: Double.self))
        case .date:
            let seconds = place.load(as: Double.self)
            guard let microseconds = microseconds(seconds) else {
                throw unsavable(attribute, "PostgreSQL's dates do not reach \(seconds) seconds from 2001.")
            }
            return .date(microseconds)
        case .text: return .text(row.text(at: slot))
        case .data, .externalData: return .bytes(row.data(at: slot))
        case .uuid: return .uuid(place.load(as: UUID.self))
        case .uri: return .text((row.box(at: slot)?.value as? URL)?.absoluteString ?? "")
        case .decimal:
            guard let number = row.box(at: slot)?.value as? Decimal else { return .null(storage.type) }
            return .numeric(number)
        case .transformable, .composite:
            guard let value = row.box(at: slot)?.value else { return .null(storage.type) }
            return .bytes(try AttributeArchive.data(of: value, attribute))
        }
    }

    private static func unsavable(_ attribute: NSAttributeDescription, _ reason: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "A value of “\(attribute)” cannot be saved.", reason: reason, next: "Set another value.")
    }

    // MARK: Reading

    /// Returns the value of a column that is not plain.
    static func value(
        _ bytes: UnsafeRawBufferPointer, _ storage: SQLStorage, _ attribute: NSAttributeDescription
    ) throws -> StorableValue {
        switch storage {
        case .uri:
            let text = PostgreSQLText.decoded(bytes)
            guard let url = text.isEmpty ? URLComponents().url : URL(string: text) else {
                throw unreadable(attribute, "its column holds a text that is not a URL")
            }
            return .box(Box(url))
        case .decimal:
            guard let number = BinaryNumeric.decimal(bytes) else {
                throw unreadable(attribute, "its column holds \(BinaryNumeric.numeral(bytes) ?? "no number"), which Decimal does not")
            }
            return .box(Box(number))
        case .transformable, .composite: return .box(Box(try archived(Data(bytes), attribute)))
        case .text: return .string(PostgreSQLText.decoded(bytes))
        case .data, .externalData: return .data(Data(bytes))
        case .uuid: return .uuid(bytes.loadUnaligned(as: UUID.self))
        case .integer: return .integer(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)))
        case .boolean: return .integer(bytes.first == 0 ? 0 : 1)
        case .double: return .double(Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))))
        case .date: return .double(seconds(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))))
        }
    }

    /// Returns the value of an archive, or the data itself if that is another thing, or contains an object of a class that is not allowed.
    private static func archived(_ data: Data, _ attribute: NSAttributeDescription) throws -> Any {
        do {
            if let value = try AttributeArchive.value(of: data, attribute) { return value }
        } catch let damage as AttributeArchive.Damage {
            throw unreadable(attribute, "its archive is damaged. \(damage.reason)")
        } catch let refusal as ArchiveClassRefusal {
            Log.warnOnce(
                Log.store,
                "Values of “\(attribute)” stay bytes. \(refusal) Name the class as the attribute's own, or in the allowedTopLevelClasses of a transformer."
            )
        } catch {
            Log.store.debug("A value of \(attribute) stays bytes, for its archive cannot be opened: \(error)")
        }
        return data
    }

    static func unreadable(_ attribute: NSAttributeDescription, _ reason: String) -> NSError {
        CoreDataError.make(
            NSCoreDataError, "A value of “\(attribute)” cannot be read from the database.", reason: "Its row is damaged: \(reason).",
            next: "Fix the row, or give the attribute another type.")
    }
}

extension SQLStorage {
    /// The type of parameters.
    var type: UInt32 {
        switch self {
        case .integer: PostgreSQLType.integer
        case .boolean: PostgreSQLType.boolean
        case .double: PostgreSQLType.double
        case .date: PostgreSQLType.date
        case .text, .uri: PostgreSQLType.text
        case .data, .externalData, .transformable, .composite: PostgreSQLType.bytes
        case .uuid: PostgreSQLType.uuid
        case .decimal: PostgreSQLType.numeric
        }
    }
}

extension BinaryValue {
    /// Creates the value of a parameter of a query.
    init(_ value: SQLValue) {
        switch value {
        case .null: self = .null(PostgreSQLType.text)
        // Predicates compare Booleans as numbers.
        case .boolean(let flag): self = .integer(flag ? 1 : 0)
        case .integer(let number): self = .integer(number)
        case .real(let number): self = .double(number)
        case .decimal(let number), .exactDecimal(let number): self = .numeric(number)
        case .text(let text): self = .text(text)
        case .date(let date): self = .date(ColumnValues.bound(date))
        case .blob(let data): self = .bytes(data)
        case .uuid(let uuid): self = .uuid(uuid)
        case .list(let elements): self = Self.list(elements.map(BinaryValue.init))
        case .unlimited: self = .null(PostgreSQLType.integer)
        }
    }

    /// Returns an array of one type: numbers of several types are converted to one that holds all of them.
    private static func list(_ elements: [BinaryValue]) -> BinaryValue {
        func isNull(_ element: BinaryValue) -> Bool { if case .null = element { true } else { false } }
        let types = Set(elements.filter { !isNull($0) }.map(\.type))
        guard types.count > 1 else {
            let type = types.first ?? PostgreSQLType.text
            return .array(elements.map { isNull($0) ? .null(type) : $0 }, of: type)
        }
        if !types.contains(PostgreSQLType.numeric) {
            let doubles = elements.map { element -> BinaryValue in
                switch element {
                case .integer(let number): .double(Double(number))
                default: element
                }
            }
            return .array(doubles, of: PostgreSQLType.double)
        }
        let decimals = elements.map { element -> BinaryValue in
            switch element {
            case .integer(let number): .numeric(Decimal(number))
            case .double(let number): Decimal(string: "\(number)").map(BinaryValue.numeric) ?? .numeric(.nan)
            default: element
            }
        }
        return .array(decimals, of: PostgreSQLType.numeric)
    }
}
#endif
