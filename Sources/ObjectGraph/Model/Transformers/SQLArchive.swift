internal import Foundation
internal import Logging
internal import Predicates
internal import PropertyLists

/// Converts values of transformable and composite attributes to data and back: with the attribute's transformer, or by keyed archiving
/// where it has none.
package enum SQLArchive {
    /// Returns the value of data; nil where it cannot be determined.
    package static func value(of data: Data, _ attribute: NSAttributeDescription) throws -> Any? {
        if attribute.attributeType == .compositeAttributeType { return try composite(in: data) }
        guard let transformer = transformer(of: attribute) else { return try object(in: data) }
        // Unarchiving transformers work in the reverse direction, which Core Data accounts for.
        return transformer is NSSecureUnarchiveFromDataTransformer
            ? transformer.transformedValue(data) : transformer.reverseTransformedValue(data)
    }

    /// Returns the data that a store keeps of a value.
    ///
    /// - Throws: Code 134030 for a value that cannot be converted to data.
    package static func data(of value: Any, _ attribute: NSAttributeDescription) throws -> Data {
        if attribute.attributeType != .compositeAttributeType, let transformer = transformer(of: attribute) {
            let made =
                transformer is NSSecureUnarchiveFromDataTransformer
                ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)
            if let data = made as? Data { return data }
            throw unsavable(
                value, attribute, "The transformer \(attribute.valueTransformerName ?? "") makes no Data of it.",
                next: "Let it answer with Data.")
        }
        if attribute.attributeType == .compositeAttributeType {
            // Foundation's archiver stops the program at UUIDs and URLs.
            var writer = KeyedArchiveWriter()
            if let root = writer.value(value) { return try writer.data(root: root) }
        }
        guard let object = archivable(value) else {
            throw unsavable(
                value, attribute, "\(Swift.type(of: value)) cannot be archived.",
                next: "Use a property list or a class that conforms to NSCoding, or name a value transformer.")
        }
        return try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
    }

    private static func unsavable(_ value: Any, _ attribute: NSAttributeDescription, _ reason: String, next: String) -> NSError {
        CoreDataError.make(NSPersistentStoreSaveError, "A value of “\(attribute)” cannot be saved.", reason: reason, next: next)
    }

    /// Returns the transformer that an attribute names; nil where it names none, or one that does not exist: its values are then archived
    /// like those of an attribute without a transformer, which is logged once.
    private static func transformer(of attribute: NSAttributeDescription) -> ValueTransformer? {
        guard let name = attribute.valueTransformerName, !name.isEmpty else { return nil }
        if let transformer = ValueTransformer(forName: NSValueTransformerName(name)) { return transformer }
        if missing.withLock({ $0.insert("\(attribute) \(name)").inserted }) {
            Log.store.warning(
                "There is no value transformer “\(name)”: the values of “\(attribute)” are archived without it. Call ValueTransformer.setValueTransformer(_:forName:) before the store is used."
            )
        }
        return nil
    }

    /// The attributes, with the names of their transformers, whose transformer was missing.
    private static let missing = LockedBox<Set<String>>([])

    /// Returns the elements of a composite attribute by name; nil where the archive contains something else.
    package static func composite(in data: Data) throws -> [String: Any]? {
        let archive = try KeyedArchive(data)
        return try (archive.value(of: archive.rootIndex) ?? object(in: data)) as? [String: Any]
    }

    /// Returns the root object of a keyed archive.
    static func object(in data: Data) throws -> Any? {
        // Foundation's unarchiver stops the program at some damaged archives; this one throws.
        _ = try KeyedArchive(data)
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
        unarchiver.requiresSecureCoding = false
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        defer { unarchiver.finishDecoding() }
        let object = unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey)
        if let error = unarchiver.error { throw error }
        return object
    }

    /// Returns a value as an object that can be archived; nil where it cannot.
    static func archivable(_ value: Any) -> Any? {
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
            let objects = array.map(archivable)
            return objects.contains { $0 == nil } ? nil : NSArray(array: objects.compactMap { $0 })
        case let dictionary as [String: Any]:
            let result = NSMutableDictionary()
            for (key, value) in dictionary {
                guard let value = archivable(value) else { return nil }
                result.setObject(value, forKey: key as NSString)
            }
            return result
        case let set as Set<AnyHashable>:
            let objects = set.map { archivable($0.base) }
            return objects.contains { $0 == nil } ? nil : NSSet(array: objects.compactMap { $0 })
        case let object as any NSCoding: return object
        default: return nil
        }
    }
}
