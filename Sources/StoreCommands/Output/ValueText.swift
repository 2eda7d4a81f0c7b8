internal import Foundation
internal import JSONReading
package import ObjectGraph
internal import PropertyLists

/// Converts values of properties to JSON, to cells of tables, and to CSV.
package enum ValueText {
    /// The text for nil in tables.
    package static let nilMark = "∅"

    // MARK: JSON

    /// Returns a value of an attribute as JSON: dates in ISO 8601, bytes in Base64, decimal numbers with all digits.
    package static func json(_ value: Any?, _ attribute: NSAttributeDescription) -> JSONValue {
        guard let value, !(value is NSNull) else { return .null }
        if let composite = attribute as? NSCompositeAttributeDescription, let values = value as? [String: Any] {
            return .object(composite.elements.map { .init(name: $0.name, value: json(values[$0.name], $0)) })
        }
        switch attribute.attributeType {
        case .booleanAttributeType: if let flag = flag(value) { return .bool(flag) }
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            if let number = (value as? NSNumber)?.int64Value ?? (value as? any BinaryInteger).map({ Int64($0) }) { return .integer(number) }
        case .doubleAttributeType: if let number = (value as? NSNumber)?.doubleValue ?? value as? Double { return .real(number) }
        case .floatAttributeType:
            // As a Float, which has fewer digits.
            if let number = (value as? NSNumber)?.floatValue ?? value as? Float {
                return number.isFinite ? .number("\(number)") : .real(Double(number))
            }
        case .transformableAttributeType: if let json = json(ofFoundation: value) { return json }
        default: break
        }
        return plain(value)
    }

    /// Returns the JSON of the value that a column with JSON is read as, with members in the order of their names; nil for any other value.
    static func json(ofFoundation value: Any) -> JSONValue? {
        // A fragment of text is written in the same way.
        guard JSONSerialization.isValidJSONObject([value]),
            let data = try? JSONSerialization.data(withJSONObject: [value], options: [.sortedKeys, .withoutEscapingSlashes]),
            let read = try? JSONReading.JSONValue(parsing: [UInt8](data))
        else { return nil }
        return read.array?.first.map(JSONValue.init)
    }

    /// Returns the value for a column with JSON.
    static func foundation(_ json: JSONReading.JSONValue) -> Any {
        switch json {
        case .object(let object): Dictionary(object.members.map { ($0.key, foundation($0.value)) }, uniquingKeysWith: { $1 })
        case .array(let elements): elements.map(foundation)
        case .string(let text): text
        case .integer(let number): NSNumber(value: number)
        case .number(let number): NSNumber(value: number)
        case .decimal(let digits): NSDecimalNumber(string: digits)
        case .bool(let flag): NSNumber(value: flag)
        case .null: NSNull()
        }
    }

    private static func plain(_ value: Any) -> JSONValue {
        switch value {
        case let text as String: .string(text)
        case let date as Date: .string(DateText.text(date))
        case let data as Data: .string(data.base64EncodedString())
        case let decimal as NSDecimalNumber: decimal == .notANumber ? .string("NaN") : .number(decimal.stringValue)
        case let decimal as Decimal: decimal.isNaN ? .string("NaN") : .number("\(decimal)")
        case let uuid as UUID: .string(uuid.uuidString)
        case let url as URL: .string(url.absoluteString)
        case let number as NSNumber: .real(number.doubleValue)
        case let object as NSManagedObject: .string(object.objectID.uriRepresentation().absoluteString)
        case let id as NSManagedObjectID: .string(id.uriRepresentation().absoluteString)
        default: .string(String(describing: value))
        }
    }

    /// Returns a value of an attribute, or of a relationship: IDs for objects.
    package static func json(_ value: Any?, _ property: NSPropertyDescription) -> JSONValue {
        if let attribute = property as? NSAttributeDescription { return json(value, attribute) }
        switch value {
        case nil: return .null
        case let set as NSOrderedSet: return .array(set.map(plain))
        case let set as NSSet: return .array(sorted(set.compactMap { $0 as? NSManagedObject }).map(plain))
        case let set as Set<NSManagedObject>: return .array(sorted(Array(set)).map(plain))
        case .some(let value): return plain(value)
        }
    }

    private static func sorted(_ objects: [NSManagedObject]) -> [NSManagedObject] {
        objects.sorted {
            $0.objectID.uriRepresentation().absoluteString.localizedStandardCompare($1.objectID.uriRepresentation().absoluteString)
                == .orderedAscending
        }
    }

    private static func flag(_ value: Any) -> Bool? { (value as? NSNumber)?.boolValue ?? value as? Bool }

    // MARK: Tables

    /// Returns a value for a table: shortened, and with a mark for nil.
    package static func cell(_ value: Any?, _ property: NSPropertyDescription) -> TextTable.Cell {
        guard let value, !(value is NSNull) else { return .init(nilMark) }
        if let data = value as? Data { return .init("<\(DisplayText.bytes(Int64(data.count)))>") }
        if let count = count(ofMany: value) { return .init("(\(DisplayText.grouped(count)))") }
        if let object = value as? NSManagedObject { return .init(short(object.objectID)) }
        switch json(value, property) {
        case .integer(let number): return .init("\(number)", isNumber: true)
        case .number(let digits): return .init(digits, isNumber: true)
        case .bool(let flag): return .init(flag ? "true" : "false")
        case .string(let text): return .init(text)
        case .null: return .init(nilMark)
        case let other: return .init(other.text(indent: false))
        }
    }

    private static func count(ofMany value: Any) -> Int? {
        switch value {
        case let set as NSOrderedSet: set.count
        case let set as NSSet: set.count
        case let set as Set<NSManagedObject>: set.count
        default: nil
        }
    }

    /// Returns the entity and key of an ID, in the form for `coredata get`: `Album/p12`.
    package static func short(_ id: NSManagedObjectID) -> String {
        id.uriRepresentation().absoluteString.split(separator: "/").suffix(2).joined(separator: "/")
    }

    // MARK: CSV

    /// Returns a value of an attribute, or of a relationship, as a field of CSV. For a column with JSON, it is the text of the JSON.
    package static func field(_ value: Any?, _ property: NSPropertyDescription) -> String {
        let json = json(value, property)
        guard let value, let attribute = property as? NSAttributeDescription, attribute.attributeType == .transformableAttributeType,
            self.json(ofFoundation: value) != nil
        else { return field(json) }
        return field(.string(json.text(indent: false)))
    }

    /// Returns a field of CSV (RFC 4180). Nil is empty, and empty text is in quotes.
    package static func field(_ value: JSONValue) -> String {
        switch value {
        case .null: ""
        case .string(let text):
            text.isEmpty || text.contains(where: { ",\"\n\r\r\n".contains($0) }) || text.first == " " || text.last == " "
                ? "\"" + text.replacing("\"", with: "\"\"") + "\"" : text
        case .bool, .integer, .number: value.text(indent: false)
        case .array, .object: field(.string(value.text(indent: false)))
        }
    }
}
