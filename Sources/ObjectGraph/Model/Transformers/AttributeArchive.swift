internal import Foundation
internal import Logging
internal import Platform
internal import Predicates
internal import PropertyLists

/// Converts values of transformable and composite attributes to data and back: with the attribute's transformer, or by keyed archiving if it has
/// none.
///
/// Archives are not trusted: only values, and objects of the classes that the transformer or the attribute allows, are made from them.
package enum AttributeArchive {
    /// An archive that is damaged.
    package struct Damage: Error {
        package let reason: String
    }

    /// Returns the value of data; nil if it cannot be determined.
    ///
    /// - Throws: ``Damage`` for a damaged archive; another error for an archive that contains an object of a class that is not allowed.
    package static func value(of data: Data, _ attribute: NSAttributeDescription) throws -> Any? {
        if attribute.attributeType == .compositeAttributeType { return try composite(in: data) }
        guard let transformer = transformer(of: attribute) else { return try object(in: data, allowed: classes(of: attribute)) }
        // Unarchiving transformers work in the reverse direction, which Core Data accounts for.
        guard let unarchiver = transformer as? NSSecureUnarchiveFromDataTransformer else {
            return transformer.reverseTransformedValue(data)
        }
        if let value = unarchiver.transformedValue(data) { return value }
        // A transformer cannot throw, so this searches for the cause.
        _ = try object(in: data, allowed: ArchiveClasses(allowed: type(of: unarchiver).allowedTopLevelClasses))
        return nil
    }

    /// Returns the name of an attribute's transformer; nil for keyed archiving.
    private static func transformerName(of attribute: NSAttributeDescription) -> String? {
        guard let name = attribute.valueTransformerName, !name.isEmpty,
            name != NSValueTransformerName.keyedUnarchiveFromDataTransformerName.rawValue
        else { return nil }
        return name
    }

    /// The classes that an attribute without a transformer allows: values, and its own.
    private static func classes(of attribute: NSAttributeDescription) -> ArchiveClasses {
        guard let name = attribute.attributeValueClassName?.drop(while: { $0 == "." }), !name.isEmpty, name != "NSObject" else {
            return .onlyValues
        }
        return ArchiveClasses(allowed: ArchiveClasses.values, allowedName: String(name))
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
        let classes = attribute.attributeType == .compositeAttributeType ? .onlyValues : classes(of: attribute)
        do {
            if let data = try archive(of: value, allowed: classes) { return data }
        } catch let refusal as ArchiveClassRefusal {
            throw unsavable(
                value, attribute, "Objects of class \(refusal.className) would not be made from the archive again.",
                next: "Name it as the attribute's class, or in the allowedTopLevelClasses of a NSSecureUnarchiveFromDataTransformer.")
        }
        throw unsavable(
            value, attribute, "\(Swift.type(of: value)) cannot be archived.",
            next: "Use a property list or a class that conforms to NSCoding, or name a value transformer.")
    }

    private static func unsavable(_ value: Any, _ attribute: NSAttributeDescription, _ reason: String, next: String) -> NSError {
        CoreDataError.make(NSPersistentStoreSaveError, "A value of “\(attribute)” cannot be saved.", reason: reason, next: next)
    }

    /// Returns the transformer that an attribute names; nil if it names none, or one that does not exist: its values are then archived like those of
    /// an attribute without a transformer, which is logged once.
    private static func transformer(of attribute: NSAttributeDescription) -> ValueTransformer? {
        guard let name = transformerName(of: attribute) else { return nil }
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

    /// Returns the elements of a composite attribute by name; nil if the archive contains another object.
    package static func composite(in data: Data) throws -> [String: Any]? {
        guard let archive = try? KeyedArchive(data), let value = archive.value(of: archive.rootIndex) else {
            return try object(in: data, allowed: .onlyValues) as? [String: Any]
        }
        return value as? [String: Any]
    }

    /// Returns the root object of a keyed archive; nil for data that is not an archive.
    static func object(in data: Data, allowed: ArchiveClasses) throws -> Any? {
        do {
            return try ArchiveDecoder.object(in: data, allowed: allowed)
        } catch let mistake as BinaryPropertyList.FormatError {
            // Data of another kind is not a damaged archive.
            guard BinaryPropertyList.isOne(data) || data.starts(with: Array("<?xml".utf8)) else { return nil }
            throw Damage(reason: mistake.reason)
        }
    }

    // MARK: Writing

    /// Archives a value.
    ///
    /// - Returns: Nil for a value that cannot be archived.
    /// - Throws: ``ArchiveClassRefusal`` for a value that could not be read again.
    static func archive(of value: Any, allowed: ArchiveClasses) throws -> Data? {
        guard let object = try archivable(value, allowed, depth: 0) else { return nil }
        // Foundation's archiver stops the program at decimal numbers, and makes one object of 1, 1.0 and true.
        var writer = KeyedArchiveWriter()
        if let root = writer.value(object) { return try writer.data(root: root) }
        guard !containsDecimals(object) else { return nil }
        return try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
    }

    private static func containsDecimals(_ value: Any) -> Bool {
        switch value {
        case is NSDecimalNumber: true
        case let list as NSArray: list.contains { containsDecimals($0) }
        case let set as NSSet: set.contains { containsDecimals($0) }
        case let set as NSOrderedSet: set.contains { containsDecimals($0) }
        case let dictionary as NSDictionary: dictionary.contains { containsDecimals($0.key) || containsDecimals($0.value) }
        default: false
        }
    }

    /// Whether a value has no hash once it is Foundation's: it can be in no set, and is not a key of a dictionary.
    private static func isWithoutHash(_ value: Any) -> Bool {
        value is NSArray || value is NSDictionary || value is [Any] || value is [AnyHashable: Any]
    }

    /// Returns a value as an object that can be archived; nil if it cannot.
    private static func archivable(_ value: Any, _ allowed: ArchiveClasses, depth: Int) throws -> Any? {
        guard depth < ArchiveDecoder.depthLimit else { return nil }
        func objects(_ elements: some Sequence<Any>) throws -> [Any]? {
            var objects: [Any] = []
            for element in elements {
                guard let object = try archivable(element, allowed.within, depth: depth + 1) else { return nil }
                objects.append(object)
            }
            return objects
        }
        let object: Any? =
            switch value {
            // A cast of these to Swift's types would stop the program.
            case let set as NSSet where set.objectEnumerator().contains(where: isWithoutHash): nil
            case let dictionary as NSDictionary where dictionary.keyEnumerator().contains(where: isWithoutHash): nil
            case let text as String: text as NSString
            case let number as NSNumber: number
            case let flag as Bool: NSNumber(value: flag)
            case let number as Int: NSNumber(value: number)
            case let number as Double: NSNumber(value: number)
            case let number as Float: NSNumber(value: number)
            case let number as any BinaryInteger: Int64(exactly: number).map { NSNumber(value: $0) }
            case let number as Decimal: NSDecimalNumber(decimal: number)
            case let date as Date: date as NSDate
            case let data as Data: data as NSData
            case let uuid as UUID: uuid as NSUUID
            case let url as URL: url as NSURL
            case let array as [Any]: try objects(array).map { NSArray(array: $0) }
            // Swift's arrays and dictionaries have a hash, which Foundation's do not have for Swift: a cast of the archived form would stop
            // the program.
            case let dictionary as [AnyHashable: Any] where dictionary.keys.contains { isWithoutHash($0.base) }: nil
            case let set as Set<AnyHashable> where set.contains { isWithoutHash($0.base) }: nil
            case let dictionary as [AnyHashable: Any]:
                try objects(dictionary.values).flatMap { values in
                    try objects(dictionary.keys.lazy.map(\.base)).map { keys in
                        let result = NSMutableDictionary()
                        for (key, value) in zip(keys, values) { (key as? AnyHashable).map { result.setObject(value, forKey: $0) } }
                        return result.copy()
                    }
                }
            case let set as Set<AnyHashable>: try objects(set.lazy.map(\.base)).map { NSSet(array: $0) }
            case let set as NSOrderedSet: try objects(set.array).map { NSOrderedSet(array: $0) }
            case let object as any NSCoding: object
            default: nil
            }
        if let object = object as? any NSCoding, let type = type(of: object) as? AnyClass, !allowed.allow(type) {
            throw ArchiveClassRefusal(className: NSStringFromClass(type), isKnown: true)
        }
        return object
    }
}
