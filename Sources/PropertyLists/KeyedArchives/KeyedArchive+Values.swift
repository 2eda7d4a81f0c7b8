package import Foundation

extension KeyedArchive {
    /// Returns the value of an object: a string, a number, a date, data, a UUID, a URL, or a collection of them; nil for anything else.
    package func value(of index: Int) -> Any? {
        guard objects.indices.contains(index) else { return nil }
        var budget = self.budget
        return value(node: objects[index], index: index, depth: 0, budget: &budget)
    }

    /// Returns the string of an object, nil for any other object.
    package func text(of index: Int) -> String? {
        guard objects.indices.contains(index) else { return nil }
        switch list.nodes[objects[index]] {
        case .string(let text): return index == 0 ? nil : text
        case .dictionary:
            guard let object = object(index), ["NSString", "NSMutableString"].contains(object.className) else { return nil }
            return object.raw("NS.string") as? String
        default: return nil
        }
    }

    func value(node: Int, index: Int?, depth: Int, budget: inout Int) -> Any? {
        budget -= 1
        guard depth <= KeyedArchive.depthLimit, budget > 0 else { return nil }
        switch list.nodes[node] {
        case .null: return nil
        case .bool(let flag): return flag
        case .integer(let number): return Int(number)
        case .unsigned(let number): return number
        case .real(let number): return number
        case .date(let seconds): return Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let data): return data
        case .string(let text): return text == "$null" ? nil : text
        case .array: return nil
        case .uid(let index):
            guard index != 0, objects.indices.contains(index) else { return nil }
            return value(node: objects[index], index: index, depth: depth + 1, budget: &budget)
        case .dictionary: break
        }
        guard let index, let object = object(index) else { return nil }
        budget -= object.fields.count
        switch object.className {
        case "NSString", "NSMutableString": return object.raw("NS.string")
        case "NSDate": return object.date
        case "NSData", "NSMutableData": return object.raw("NS.data")
        case "NSUUID": return object.uuid
        case "NSURL":
            // The base of a relative URL may be any object, even the URL itself; such URLs are not supported.
            guard let reference = object.reference("NS.relative"), object.reference("NS.base") == nil else { return nil }
            return text(of: reference).flatMap { URL(string: $0) }
        case "NSDecimalNumber", "NSDecimalNumberPlaceholder": return object.decimal
        case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSOrderedSet":
            guard let elements = object.elements() else { return nil }
            var values: [Any] = []
            for element in elements {
                guard objects.indices.contains(element) else { return nil }
                if let value = value(node: objects[element], index: element, depth: depth + 1, budget: &budget) { values.append(value) }
            }
            return values
        case "NSDictionary", "NSMutableDictionary":
            guard let pairs = object.pairs() else { return nil }
            var values: [AnyHashable: Any] = [:]
            for (key, element) in pairs {
                guard objects.indices.contains(element) else { return nil }
                values[key] = value(node: objects[element], index: element, depth: depth + 1, budget: &budget)
            }
            return values
        default: return nil
        }
    }
}

extension KeyedArchive.Object {
    /// Returns the value of a field that is not a reference.
    package func raw(_ key: String) -> Any? {
        guard let node = fields[key] else { return nil }
        switch archive.list.nodes[node] {
        case .string(let text): return text
        case .real(let number): return number
        case .integer(let number): return Int(number)
        case .unsigned(let number): return number
        case .data(let data): return data
        case .bool(let flag): return flag
        default: return nil
        }
    }

    /// The date of an archived `NSDate`.
    package var date: Date? {
        let seconds = (raw("NS.time") as? Double) ?? (raw("NS.time") as? Int).map { Double($0) }
        guard let seconds, seconds.isFinite else { return nil }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    /// The identifier of an archived `NSUUID`.
    package var uuid: UUID? {
        guard let bytes = raw("NS.uuidbytes") as? Data, bytes.count == 16 else { return nil }
        return UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
    }

    /// The number of an archived `NSDecimalNumber`: 16-bit digits, an exponent of ten and a sign.
    package var decimal: Decimal? {
        guard let mantissa = raw("NS.mantissa") as? Data, mantissa.count == 16, let exponent = integer("NS.exponent"),
            let length = integer("NS.length"), (0...8).contains(length), (-128...127).contains(exponent)
        else { return nil }
        // NS.mantissa.bo: 1 for little endian, 2 for big endian.
        let isLittle = integer("NS.mantissa.bo") != 2
        let bytes = [UInt8](mantissa)
        var number = Decimal()
        for index in (0..<length).reversed() {
            let low = UInt16(bytes[index * 2])
            let high = UInt16(bytes[index * 2 + 1])
            number = number * 65536 + Decimal(Int(isLittle ? high << 8 | low : low << 8 | high))
        }
        if length == 0 { return flag("NS.negative") ? .nan : 0 }
        guard let scale = Decimal(string: "1e\(exponent)") else { return nil }
        number *= scale
        return flag("NS.negative") ? -number : number
    }
}
