internal import Foundation

/// Archives the values of transformable attributes, as Core Data does where no transformer is named: by keyed archives.
enum SQLArchive {
    static func value(of data: Data, _ attribute: NSAttributeDescription) throws -> Any? {
        if attribute.attributeType == .compositeAttributeType {
            let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
            unarchiver.requiresSecureCoding = false
            return unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey) as? [String: Any]
        }
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
        unarchiver.requiresSecureCoding = false
        defer { unarchiver.finishDecoding() }
        return unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey)
    }

    /// The archive of a value.
    ///
    /// - Throws: code 134030 for a value that cannot be archived.
    static func data(of value: Any, _ attribute: NSAttributeDescription) throws -> Data {
        guard let object = object(value) else {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "A value of “\(attribute)” cannot be saved.",
                reason: "\(Swift.type(of: value)) cannot be archived.",
                next:
                    "Use a class that conforms to NSCoding, or a property list: texts, numbers, dates, data, arrays and dictionaries of them."
            )
        }
        return try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
    }

    /// A value as an object that can be archived; nil where it cannot.
    private static func object(_ value: Any) -> Any? {
        switch value {
        case let text as String: return text as NSString
        case let number as NSNumber: return number
        case let flag as Bool: return NSNumber(value: flag)
        case let number as Int: return NSNumber(value: number)
        case let number as Double: return NSNumber(value: number)
        case let number as Float: return NSNumber(value: number)
        case let number as any BinaryInteger: return Int64(exactly: number).map { NSNumber(value: $0) }
        case let date as Date: return date as NSDate
        case let data as Data: return data as NSData
        case let uuid as UUID: return uuid as NSUUID
        case let url as URL: return url as NSURL
        case let array as [Any]:
            let objects = array.map(object)
            return objects.contains { $0 == nil } ? nil : NSArray(array: objects.compactMap { $0 })
        case let dictionary as [String: Any]:
            let result = NSMutableDictionary()
            for (key, value) in dictionary {
                guard let value = object(value) else { return nil }
                result.setObject(value, forKey: key as NSString)
            }
            return result
        case let set as Set<AnyHashable>:
            let objects = set.map { object($0.base) }
            return objects.contains { $0 == nil } ? nil : NSSet(array: objects.compactMap { $0 })
        case let object as any NSCoding: return object
        default: return nil
        }
    }
}
