package import Foundation

/// Encodes a keyed archive object by object, with any class names.
///
/// Foundation's archiver on Linux uses the names of its own classes, and stops the program at some values.
package struct KeyedArchiveWriter {
    /// The index of an object in the archive.
    package struct Reference: Hashable {
        let index: Int
        /// A reference to `$null`.
        package static let null = Reference(index: 0)
    }

    /// The value of a field.
    package enum Field {
        case integer(Int)
        case real(Double)
        case flag(Bool)
        case data(Data)
        case reference(Reference)
        case references([Reference])
    }

    private enum Entry {
        case plain(Any)
        case reserved
        case object([(String, Field)], classIndex: Int)
        case names([String])
    }

    private var entries: [Entry] = [.plain("$null")]
    private var texts: [String: Reference] = [:]
    private var classes: [String: Int] = [:]

    package init() {}

    private mutating func append(_ entry: Entry) -> Reference {
        entries.append(entry)
        return Reference(index: entries.count - 1)
    }

    // MARK: Objects

    /// Reserves the index of an object that is defined later, so that others may refer to it.
    package mutating func reserve() -> Reference { append(.reserved) }

    /// Defines a reserved object.
    ///
    /// - Parameters:
    ///   - reference: An index from ``reserve()``.
    ///   - classes: The class and its superclasses, without `NSObject`.
    ///   - fields: The fields of the object.
    package mutating func define(_ reference: Reference, _ classes: [String], _ fields: [(String, Field)]) {
        let name = classes[0]
        if self.classes[name] == nil { self.classes[name] = append(.names(classes + ["NSObject"])).index }
        entries[reference.index] = .object(fields, classIndex: self.classes[name].unsafelyUnwrapped)
    }

    /// Adds an object that nothing refers to yet.
    package mutating func object(_ classes: [String], _ fields: [(String, Field)]) -> Reference {
        let reference = reserve()
        define(reference, classes, fields)
        return reference
    }

    /// Adds a string; equal strings are one object.
    package mutating func text(_ text: String) -> Reference {
        if let known = texts[text] { return known }
        let reference = append(.plain(text))
        texts[text] = reference
        return reference
    }

    /// Adds a string, or returns a reference to `$null`.
    package mutating func text(orNull text: String?) -> Reference {
        guard let text else { return .null }
        return self.text(text)
    }

    package mutating func array(_ elements: [Reference]) -> Reference {
        object(["NSArray"], [("NS.objects", .references(elements))])
    }

    package mutating func set(_ elements: [Reference]) -> Reference {
        object(["NSSet"], [("NS.objects", .references(elements))])
    }

    package mutating func dictionary(_ pairs: [(String, Reference)]) -> Reference {
        let keys = pairs.map { text($0.0) }
        return object(["NSDictionary"], [("NS.keys", .references(keys)), ("NS.objects", .references(pairs.map(\.1)))])
    }

    // MARK: Values

    /// Adds a value: a string, a number, a date, data, a UUID, a URL, or an array, set or dictionary of them.
    ///
    /// - Returns: Nil for any other value.
    package mutating func value(_ value: Any) -> Reference? {
        switch value {
        case let text as String: return self.text(text)
        case let number as NSDecimalNumber: return decimal(number.decimalValue)
        case let number as Decimal: return decimal(number)
        // A cast would convert the number 1 to a Boolean.
        case let number as NSNumber where type(of: value) is AnyClass: return append(.plain(number))
        case let flag as Bool: return append(.plain(flag))
        case let number as NSNumber: return append(.plain(number))
        case let data as Data: return append(.plain(data))
        case let date as Date: return object(["NSDate"], [("NS.time", .real(date.timeIntervalSinceReferenceDate))])
        case let id as UUID:
            return object(["NSUUID"], [("NS.uuidbytes", .data(withUnsafeBytes(of: id.uuid) { Data($0) }))])
        case let url as URL:
            return object(["NSURL"], [("NS.base", .reference(.null)), ("NS.relative", .reference(text(url.absoluteString)))])
        case is NSNull: return object(["NSNull"], [])
        case let elements as [Any]: return list(elements).map { array($0) }
        case let elements as Set<AnyHashable>:
            return list(elements.map(\.base).sorted { "\($0)" < "\($1)" }).map { set($0) }
        case let pairs as [AnyHashable: Any]:
            var result: [(String, Reference)] = []
            for (key, element) in pairs.sorted(by: { "\($0.key)" < "\($1.key)" }) {
                guard let name = key.base as? String, let reference = self.value(element) else { return nil }
                result.append((name, reference))
            }
            return dictionary(result)
        default: return nil
        }
    }

    private mutating func list(_ elements: [Any]) -> [Reference]? {
        var result: [Reference] = []
        for element in elements {
            guard let reference = value(element) else { return nil }
            result.append(reference)
        }
        return result
    }

    /// 16-bit digits in little-endian order, a decimal exponent and a sign.
    private mutating func decimal(_ number: Decimal) -> Reference {
        var digits: [UInt16] = []
        var rest = number.isNaN ? 0 : number.significand
        while rest != 0 {
            var quotient = rest / 65536
            var whole = Decimal()
            NSDecimalRound(&whole, &quotient, 0, .down)
            digits.append(UInt16(truncatingIfNeeded: NSDecimalNumber(decimal: rest - whole * 65536).intValue))
            rest = whole
        }
        let bytes = digits.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        return object(
            ["NSDecimalNumberPlaceholder", "NSDecimalNumber", "NSNumber", "NSValue"],
            [
                ("NS.exponent", .integer(number.isNaN || number.isZero ? 0 : number.exponent)), ("NS.length", .integer(digits.count)),
                ("NS.negative", .flag(number.isNaN || number.sign == .minus)), ("NS.compact", .flag(true)), ("NS.mantissa.bo", .integer(1)),
                ("NS.mantissa", .data(Data(bytes) + Data(count: 16 - bytes.count))),
            ])
    }

    // MARK: Other archives

    /// Adds the objects of another archive.
    ///
    /// - Returns: Its root object.
    /// - Throws: ``BinaryPropertyList/FormatError`` when the data is not a keyed archive, or contains values that this framework's archives
    ///   do not.
    package mutating func embed(_ data: Data) throws -> Reference {
        let archive = try KeyedArchive(data)
        let list = archive.list
        let base = entries.count
        func moved(_ index: Int) -> Reference { index == 0 ? .null : Reference(index: base + index - 1) }
        for (number, node) in archive.objects.enumerated().dropFirst() {
            switch list.nodes[node] {
            case .string(let text): entries.append(.plain(text))
            case .integer(let number): entries.append(.plain(number))
            case .unsigned(let number): entries.append(.plain(number))
            case .real(let number): entries.append(.plain(number))
            case .bool(let flag): entries.append(.plain(flag))
            case .data(let data): entries.append(.plain(data))
            case .dictionary:
                let pairs = KeyedArchive.dictionary(node, in: list) ?? [:]
                if let names = pairs["$classes"], case .array(let chain) = list.nodes[names] {
                    entries.append(.names(chain.compactMap { if case .string(let name) = list.nodes[$0] { name } else { nil } }))
                    continue
                }
                guard let description = pairs["$class"], case .uid(let classIndex) = list.nodes[description] else {
                    throw BinaryPropertyList.FormatError(reason: "Object \(number) has no class.")
                }
                let fields = try pairs.filter { $0.key != "$class" }.sorted { $0.key < $1.key }.map { key, value in
                    (key, try KeyedArchiveWriter.field(list.nodes[value], in: list, moved))
                }
                entries.append(.object(fields, classIndex: moved(classIndex).index))
            default: throw BinaryPropertyList.FormatError(reason: "Object \(number) is of an unexpected kind.")
            }
        }
        return moved(archive.rootIndex)
    }

    private static func field(
        _ node: BinaryPropertyList.Node, in list: BinaryPropertyList, _ moved: (Int) -> Reference
    ) throws -> Field {
        switch node {
        case .integer(let number): return .integer(Int(number))
        case .real(let number): return .real(number)
        case .bool(let flag): return .flag(flag)
        case .data(let data): return .data(data)
        case .uid(let index): return .reference(moved(index))
        case .array(let elements):
            return .references(
                try elements.map {
                    guard case .uid(let index) = list.nodes[$0] else {
                        throw BinaryPropertyList.FormatError(reason: "A list holds values.")
                    }
                    return moved(index)
                })
        default: throw BinaryPropertyList.FormatError(reason: "A field is of an unexpected kind.")
        }
    }

    // MARK: The archive

    /// Encodes the archive as a binary property list; equal archives always produce equal bytes.
    ///
    /// - Parameter root: The root object.
    package func data(root: Reference) throws -> Data {
        func plain(_ field: Field) -> BinaryPropertyListWriter.Node {
            switch field {
            case .integer(let number): .integer(Int64(number))
            case .real(let number): .real(number)
            case .flag(let flag): .flag(flag)
            case .data(let data): .data(data)
            case .reference(let reference): .reference(reference.index)
            case .references(let list): .array(list.map { .reference($0.index) })
            }
        }
        let objects = try entries.map { entry -> BinaryPropertyListWriter.Node in
            switch entry {
            case .plain(let value): return try Self.node(value)
            case .reserved: return .text("$null")
            case .names(let chain):
                return .dictionary([("$classname", .text(chain.first ?? "")), ("$classes", .array(chain.map { .text($0) }))])
            case .object(let fields, let classIndex):
                return .dictionary([("$class", .reference(classIndex))] + fields.map { ($0.0, plain($0.1)) })
            }
        }
        return BinaryPropertyListWriter.data(
            of: .dictionary([
                ("$archiver", .text("NSKeyedArchiver")), ("$version", .integer(100_000)),
                ("$top", .dictionary([("root", .reference(root.index))])), ("$objects", .array(objects)),
            ]))
    }

    private static func node(_ value: Any) throws -> BinaryPropertyListWriter.Node {
        // A cast would convert the number 1 to a Boolean, and 2.0 to an integer.
        if type(of: value) is AnyClass, let number = value as? NSNumber { return node(number) }
        switch value {
        case let text as String: return .text(text)
        case let data as Data: return .data(data)
        case let number as Int64: return .integer(number)
        case let number as UInt64: return .unsigned(number)
        case let number as Double: return .real(number)
        case let flag as Bool: return .flag(flag)
        case let number as NSNumber: return node(number)
        default: throw BinaryPropertyList.FormatError(reason: "\(type(of: value)) is not a value of a property list.")
        }
    }

    private static func node(_ number: NSNumber) -> BinaryPropertyListWriter.Node {
        // The two Booleans are singletons; a number from an `Int8` has the same type code.
        if number === NSNumber(value: true) || number === NSNumber(value: false) { return .flag(number.boolValue) }
        return switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "d"), UInt8(ascii: "f"): .real(number.doubleValue)
        case UInt8(ascii: "Q"): .unsigned(number.uint64Value)
        default: .integer(number.int64Value)
        }
    }
}
