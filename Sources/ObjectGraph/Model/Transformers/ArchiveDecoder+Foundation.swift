internal import Foundation
internal import PropertyLists

/// Foundation's values, which the decoder makes itself: their own initializers on Linux stop the program at fields of another type.
extension ArchiveDecoder {
    static let foundation: [String: AnyClass] = [
        "NSString": NSString.self, "NSMutableString": NSMutableString.self, "NSDate": NSDate.self, "NSData": NSData.self,
        "NSMutableData": NSMutableData.self, "NSUUID": NSUUID.self, "NSURL": NSURL.self, "NSNull": NSNull.self,
        "NSDecimalNumber": NSDecimalNumber.self, "NSDecimalNumberPlaceholder": NSDecimalNumber.self, "NSArray": NSArray.self,
        "NSMutableArray": NSMutableArray.self, "NSSet": NSSet.self, "NSMutableSet": NSMutableSet.self, "NSCountedSet": NSCountedSet.self,
        "NSOrderedSet": NSOrderedSet.self, "NSMutableOrderedSet": NSMutableOrderedSet.self, "NSDictionary": NSDictionary.self,
        "NSMutableDictionary": NSMutableDictionary.self,
    ]

    /// Foundation's other classes whose initializers cope with fields of any type.
    private static let safe: [AnyClass] = []

    static func isOfFoundation(_ type: AnyClass) -> Bool {
        let name = String(reflecting: type)
        return ["Foundation.", "FoundationNetworking.", "FoundationXML."].contains { name.hasPrefix($0) }
    }

    /// Returns whether the initializer of an allowed class may be called: that of any class of the program, but of few of Foundation's.
    static func isSafe(_ type: AnyClass) -> Bool { safe.contains { $0 == type } || !isOfFoundation(type) }

    /// Makes an object of one of the classes above.
    ///
    /// - Parameter within: The classes allowed for its elements.
    func foundationObject(_ object: KeyedArchive.Object, _ within: ArchiveClasses) throws -> NSObject {
        switch object.className {
        case "NSString": return NSString(string: try text(of: object))
        case "NSMutableString": return NSMutableString(string: try text(of: object))
        case "NSDate": return try known(object.date, object) as NSDate
        case "NSData": return NSData(data: try data(of: object))
        case "NSMutableData": return NSMutableData(data: try data(of: object))
        case "NSUUID": return try known(object.uuid, object) as NSUUID
        case "NSNull": return NSNull()
        case "NSURL": return try url(of: object)
        case "NSDecimalNumber", "NSDecimalNumberPlaceholder": return NSDecimalNumber(decimal: try known(object.decimal, object))
        case "NSArray": return NSArray(array: try elements(of: object, within))
        case "NSMutableArray": return NSMutableArray(array: try elements(of: object, within))
        case "NSSet": return NSSet(array: try distinct(elements(of: object, within)))
        case "NSMutableSet": return NSMutableSet(array: try distinct(elements(of: object, within)))
        case "NSOrderedSet": return NSOrderedSet(array: try distinct(elements(of: object, within)))
        case "NSMutableOrderedSet": return NSMutableOrderedSet(array: try distinct(elements(of: object, within)))
        case "NSCountedSet": return try countedSet(object, within)
        case "NSDictionary":
            let (keys, values) = try pairs(of: object, within)
            return NSDictionary(objects: values, forKeys: keys)
        case "NSMutableDictionary":
            let (keys, values) = try pairs(of: object, within)
            return NSMutableDictionary(objects: values, forKeys: keys)
        default: throw ArchiveClassRefusal(className: object.className, isKnown: false)
        }
    }

    private func known<Value>(_ value: Value?, _ object: KeyedArchive.Object) throws -> Value {
        guard let value else { throw Mistake(reason: "Object \(object.index) has the class \(object.className), but not its fields.") }
        return value
    }

    private func text(of object: KeyedArchive.Object) throws -> String {
        let bytes = object.raw("NS.bytes") as? Data
        let text = try known(object.raw("NS.string") as? String ?? bytes.flatMap { String(bytes: $0, encoding: .utf8) }, object)
        try spend(text.utf8.count / 64)
        return text
    }

    private func data(of object: KeyedArchive.Object) throws -> Data {
        try known((object.raw("NS.data") ?? object.raw("NS.bytes")) as? Data, object)
    }

    private func url(of object: KeyedArchive.Object) throws -> NSURL {
        let text = try known(object.reference("NS.relative").flatMap(archive.text), object)
        try spend(1 + text.utf8.count / 64)
        guard let base = object.reference("NS.base") else {
            // The base is missing or nil.
            _ = try known(!object.has("NS.base") || object.refersToNothing("NS.base") ? true : nil, object)
            return try known(URL(string: text), object) as NSURL
        }
        let origin = try known(try self.object(base, ArchiveClasses(allowed: [NSURL.self])) as? NSURL, object) as URL
        return try known(URL(string: text, relativeTo: origin), object) as NSURL
    }

    // MARK: Collections

    private func elements(of object: KeyedArchive.Object, _ within: ArchiveClasses) throws -> [Any] {
        if object.has("NS.objects") { return try known(object.references("NS.objects"), object).map { try self.object($0, within) } }
        // Ordered sets, and sets of Foundation on Linux, have a field for each element.
        _ = try known(object.className.hasSuffix("Set") ? true : nil, object)
        var values: [Any] = []
        while let element = object.reference("NS.object.\(values.count)") { values.append(try self.object(element, within)) }
        _ = try known(values.count == object.keys.count ? true : nil, object)
        return values
    }

    /// Pays for the comparisons that hashing will need, for elements of one hash are compared with each other.
    ///
    /// Arrays and dictionaries are refused: a cast of the collection to Swift's type would stop the program, for theirs have no hash.
    private func distinct(_ elements: [Any]) throws -> [Any] {
        var counts: [Int: Int] = [:]
        for element in elements {
            if element is NSArray || element is NSDictionary {
                throw ArchiveClassRefusal(className: element is NSArray ? "NSArray" : "NSDictionary", isKnown: true)
            }
            guard let element = element as? NSObject else {
                throw Mistake(reason: "A set or dictionary contains an object without a hash.")
            }
            let others = counts[element.hash, default: 0]
            try spend(others)
            counts[element.hash] = others + 1
        }
        return elements
    }

    private func countedSet(_ object: KeyedArchive.Object, _ within: ArchiveClasses) throws -> NSCountedSet {
        let set = NSCountedSet()
        let count = try known(object.integer("NS.count"), object)
        var elements: [(Any, Int)] = []
        for index in 0..<max(0, count) {
            let reference = try known(object.reference("NS.object\(index)"), object)
            let times = try known(object.integer("NS.count\(index)"), object)
            try spend(max(0, times))
            elements.append((try self.object(reference, within), times))
        }
        _ = try distinct(elements.map(\.0))
        for (element, times) in elements { for _ in 0..<max(0, times) { set.add(element) } }
        return set
    }

    private func pairs(of object: KeyedArchive.Object, _ within: ArchiveClasses) throws -> (keys: [NSObject], values: [Any]) {
        let keys = try known(object.references("NS.keys"), object)
        let values = try known(object.references("NS.objects"), object)
        guard keys.count == values.count else {
            throw Mistake(reason: "Object \(object.index) is a dictionary with \(keys.count) keys and \(values.count) values.")
        }
        let objects = try distinct(keys.map { try self.object($0, within) })
        return (objects.compactMap { $0 as? NSObject }, try values.map { try self.object($0, within) })
    }
}
