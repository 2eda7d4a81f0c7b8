internal import Foundation
public import Predicates

/// Finds the property names of key paths from managed objects.
///
/// A key path such as `\Track.album!.title` is read once on a *recording object*: an instance of the class without a context, whose
/// entity is a copy with a layout that records reads. The getter that the key path calls reads its property as usual, by typed access or
/// by key, and the read is recorded. A to-one relationship returns another recording object, so that the path continues.
extension NSManagedObject: KeyPathNaming {
    /// Returns the names of the properties along a key path.
    ///
    /// The getters of the path run a few times on objects without a context. A computed property has the name of the one property whose
    /// value it returns unchanged; any other computed property is an error.
    ///
    /// - Parameter keyPath: A key path from this class, whose entity must belong to a model that a container or coordinator has loaded.
    /// - Returns: The names of the properties; an empty array for `\Track.self` and `\Track.objectID`.
    /// - Throws: `InvalidPredicateError` naming the key path.
    public static func propertyPath(for keyPath: AnyKeyPath) throws -> [String]? {
        guard let root = Swift.type(of: keyPath).rootType as? NSManagedObject.Type else { return nil }
        if keyPath == \NSManagedObject.objectID || keyPath == \NSManagedObject.self { return [] }
        return try LoadedModels.shared.withEntity(for: root) { entity in
            guard root != NSManagedObject.self, let entity else {
                throw KeyPathRecorder.failure(keyPath, "no loaded model has an entity whose class is \(root)")
            }
            return try KeyPathRecorder.path(of: keyPath, from: root, RecordingModels.shared.recordingCopy(of: entity))
        }
    }
}

/// Records the properties that a key path reads. Used by the thread that reads the key path only.
final class KeyPathRecorder {
    /// A recorded read.
    private struct Read {
        let object: NSManagedObject
        let property: NSPropertyDescription
        /// The type of a typed read; nil for a read by key.
        let type: Any.Type?
        /// Whether the value was read as another type than it is stored as.
        let isConverted: Bool
        /// The object returned for a to-one relationship.
        let destination: NSManagedObject?
    }

    private let placeholders: PlaceholderValues
    private var reads: [Read] = []

    private init(_ placeholders: PlaceholderValues) { self.placeholders = placeholders }

    // MARK: Called by the accessors of recording objects

    /// Records the read of a property of a recording object.
    static func note(_ property: NSPropertyDescription, as type: Any.Type?, of object: NSManagedObject, isConverted: Bool = false) {
        current?.note(property, as: type, of: object, isConverted)
    }

    /// Returns a placeholder for a recording object's missing value, or for a raw value without a case. Returns nil for other objects.
    ///
    /// The value only has to exist: a key path with `!` stops the program at nil.
    static func placeholder<Value>(_ type: Value.Type, in object: NSManagedObject) -> Value? {
        guard object.owningEntity.frozen!.layout.recordsReads else { return nil }
        return Placeholder.value(of: type)
    }

    private static let threadKey = "CoreData.KeyPathRecorder"

    /// The active recorder of this thread.
    private static var current: KeyPathRecorder? { Thread.current.threadDictionary[threadKey] as? KeyPathRecorder }

    private func note(_ property: NSPropertyDescription, as type: Any.Type?, of object: NSManagedObject, _ isConverted: Bool) {
        var destination: NSManagedObject?
        if let relationship = property as? NSRelationshipDescription, !relationship.isToMany, let entity = relationship.destinationEntity {
            let answer = placeholders.object(of: entity, entity.frozen!.objectClass)
            object.setState(.toOne(answer), of: relationship)
            destination = answer
        }
        reads.append(
            Read(object: object, property: property, type: type.map(Self.shown), isConverted: isConverted, destination: destination))
    }

    // MARK: Reading a key path

    /// Returns the names along a key path.
    static func path(of keyPath: AnyKeyPath, from root: NSManagedObject.Type, _ entity: NSEntityDescription) throws -> [String] {
        // Two different values distinguish a property that is returned unchanged from a computed one; nil and zero reveal replaced values. A key path
        // with `!`, which its description shows, must not be read if the value is nil.
        var found: [String]?
        let description = String(describing: keyPath)
        if description.hasSuffix("!"), !Placeholder.exists(forForced: Swift.type(of: keyPath).valueType) {
            throw failure(keyPath, "no value can be made to read it with; leave out the “!”")
        }
        for placeholders in PlaceholderValues.allCases where placeholders != .nothing || !description.contains("!") {
            let names = try KeyPathRecorder(placeholders).names(along: keyPath, from: root, entity)
            if let found, found != names { throw failure(keyPath, "it does not always lead through the same properties") }
            found = names
        }
        return found ?? []
    }

    static func failure(_ keyPath: AnyKeyPath, _ reason: String) -> InvalidPredicateError {
        InvalidPredicateError(
            kind: .unknownKeyPath,
            message: "The key path \(keyPath) to a \(Swift.type(of: keyPath).valueType) names no property of the model: \(reason)")
    }

    private func names(along keyPath: AnyKeyPath, from root: NSManagedObject.Type, _ entity: NSEntityDescription) throws -> [String] {
        let entityClass = entity.frozen!.objectClass
        let object = placeholders.object(of: entity, entityClass.isSubclass(of: root) ? entityClass : root)
        let value = read(keyPath, on: object)
        guard let last = reads.last else {
            if let result = value as? NSObject, result === object || result === object.identifier { return [] }
            throw Self.failure(keyPath, "it reads none")
        }
        var owner: NSManagedObject? = object
        for read in reads {
            guard read.object === owner else { throw Self.failure(keyPath, "it reads several that do not follow each other") }
            owner = read.destination
        }
        try check(value, at: keyPath, against: last)
        return reads.map(\.property.name)
    }

    private func read(_ keyPath: AnyKeyPath, on object: NSManagedObject) -> Any? {
        let thread = Thread.current.threadDictionary
        let outer = thread[Self.threadKey]
        thread[Self.threadKey] = self
        defer { thread[Self.threadKey] = outer }
        return (object as Any)[keyPath: keyPath]
    }

    /// Checks that the key path's result is the value of the last property, and not computed from it.
    private func check(_ value: Any?, at keyPath: AnyKeyPath, against last: Read) throws {
        let value = Self.withoutOptionals(value)
        // Predicates represent a related object by its ID.
        if let id = value as? NSManagedObjectID, id === last.destination?.identifier { return }
        let valueType: Any.Type = Swift.type(of: keyPath).valueType
        let wanted = Self.withoutOptionals(valueType)
        let name = last.property.name
        // A decoded value is not comparable with the data it is stored as.
        if let coded = last.type as? any CodedValueMarker.Type, coded.valueType == wanted { return }
        if let type = last.type, type != valueType, Self.wrapped(valueType) != type,
            Self.wrapped(type) != valueType || !String(describing: keyPath).hasSuffix("!")
        {
            throw Self.failure(keyPath, "“\(name)” is a \(type)")
        }
        let changed = Self.failure(keyPath, "“\(name)” has another value")
        if let destination = last.destination {
            guard value as? NSManagedObject === destination else { throw changed }
            return
        }
        // An empty collection, an enumeration or a converted value is recognised by its type; its value reveals nothing.
        if last.isConverted || last.property is NSRelationshipDescription || wanted is any RawRepresentable.Type { return }
        guard let kind = (last.property as? NSAttributeDescription)?.attributeType, PlaceholderValues.isComparable(kind) else { return }
        let expected = PropertyValue.comparable(last.object.anyAttribute(last.property))
        let result = PropertyValue.comparable(value)
        // A non-optional type reads nil as its zero.
        if result != expected, expected != .null || !PlaceholderValues.isZero(result) { throw changed }
    }

    /// Returns the property type for the type that its value is stored as.
    private static func shown(_ type: Any.Type) -> Any.Type {
        if let wrapper = type as? any ManagedValueWrapper.Type { return wrapper.shown }
        return (wrapped(type) as? any ManagedValueWrapper.Type)?.shownOptional ?? type
    }

    private static func wrapped(_ type: Any.Type) -> Any.Type? { (type as? any OptionalType.Type)?.wrapped }

    private static func withoutOptionals(_ type: Any.Type) -> Any.Type { wrapped(type).map { withoutOptionals($0) } ?? type }

    private static func withoutOptionals(_ value: Any?) -> Any? {
        guard let value, let optional = value as? any OptionalType else { return value }
        return withoutOptionals(optional.value)
    }
}

/// A ``ManagedValue`` that wraps a value of another type, which is the type of the property.
protocol ManagedValueWrapper {
    static var shown: Any.Type { get }
    static var shownOptional: Any.Type { get }
}

/// An optional type.
private protocol OptionalType {
    static var wrapped: Any.Type { get }
    var value: Any? { get }
}

extension Optional: OptionalType {
    fileprivate static var wrapped: Any.Type { Wrapped.self }
    fileprivate var value: Any? { map { $0 as Any } }
}

extension PropertyValue {
    /// Returns a comparable form of a value: Booleans as 0 and 1. A value without one becomes an object that is equal to nothing.
    fileprivate static func comparable(_ value: Any?) -> PropertyValue {
        let converted = (try? PropertyValue(any: value)) ?? .object(ObjectReference(NSObject()))
        if case .bool(let flag) = converted { return .int64(flag ? 1 : 0) }
        return converted
    }
}
