internal import Foundation
public import Predicates

/// How the key paths of managed objects get their names.
///
/// A key path such as `\Track.album!.title` is read once on a *recording object*: an instance of the class, in no context, of a copy of the
/// entity whose layout says that reads are to be written down. The getter that the key path calls asks for its property as ever, by typed
/// access or by key, and the question is noted. A to-one relationship answers with another recording object, so that the path goes on.
extension NSManagedObject: KeyPathNaming {
    /// Names the properties of the model that a key path leads through.
    ///
    /// The getters on the way run a few times on objects without a context. A computed property has the name of the one property that it
    /// hands on unchanged; any other is an error.
    ///
    /// - Parameter keyPath: A key path from this class. The class must be that of an entity in a model that a container or coordinator has loaded.
    /// - Returns: The names of the properties; an empty array for `\Track.self` and `\Track.objectID`.
    /// - Throws: `InvalidPredicateError` naming the key path.
    public static func propertyPath(for keyPath: AnyKeyPath) throws -> [String]? {
        guard let root = Swift.type(of: keyPath).rootType as? NSManagedObject.Type else { return nil }
        if keyPath == \NSManagedObject.objectID || keyPath == \NSManagedObject.self { return [] }
        return try LoadedModels.shared.withEntity(for: root) { entity in
            guard root != NSManagedObject.self, let entity else {
                throw KeyPathRecorder.failure(keyPath, "no loaded model has an entity whose class is \(root)")
            }
            return try KeyPathRecorder.path(of: keyPath, from: root, RecordingModels.shared.twin(of: entity))
        }
    }
}

/// Notes which properties a key path reads. It is used by the one thread that reads the key path.
final class KeyPathRecorder {
    /// One property that was asked for.
    private struct Read {
        let object: NSManagedObject
        let property: NSPropertyDescription
        /// The type it was read as; nil when it was read by key.
        let type: Any.Type?
        /// The object that a to-one relationship answered with.
        let destination: NSManagedObject?
    }

    private let standIns: StandIns
    private var reads: [Read] = []

    private init(_ standIns: StandIns) { self.standIns = standIns }

    // MARK: Called by the accessors of recording objects

    /// Notes that a property of a recording object is asked for.
    static func note(_ property: NSPropertyDescription, as type: Any.Type?, of object: NSManagedObject) {
        current?.note(property, as: type, of: object)
    }

    /// What a recording object answers where it has no value of a type, or a raw value that is none of its cases. Nil for other objects.
    ///
    /// Nothing is asked of the value but to exist: a key path with `!` stops the program at nil.
    static func standIn<Value>(_ type: Value.Type, in object: NSManagedObject) -> Value? {
        guard object.owningEntity.frozen!.layout.recordsReads else { return nil }
        if let value = (type as? any KeyedManagedValue.Type)?.valueForNil as? Value { return value }
        // An enumeration with a raw value is a small number, and 0 its first case.
        guard _isPOD(type) else { return nil }
        return withUnsafeTemporaryAllocation(byteCount: max(MemoryLayout<Value>.size, 1), alignment: MemoryLayout<Value>.alignment) {
            bytes in
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            return bytes.load(as: Value.self)
        }
    }

    private static let threadKey = "CoreData.KeyPathRecorder"

    /// The recorder at work on this thread.
    private static var current: KeyPathRecorder? { Thread.current.threadDictionary[threadKey] as? KeyPathRecorder }

    private func note(_ property: NSPropertyDescription, as type: Any.Type?, of object: NSManagedObject) {
        var destination: NSManagedObject?
        if let relationship = property as? NSRelationshipDescription, !relationship.isToMany, let entity = relationship.destinationEntity {
            let answer = standIns.object(of: entity, entity.frozen!.objectClass)
            object.setState(.toOne(answer), of: relationship)
            destination = answer
        }
        reads.append(Read(object: object, property: property, type: type.map(Self.shown), destination: destination))
    }

    // MARK: Reading a key path

    /// The names along a key path.
    static func path(of keyPath: AnyKeyPath, from root: NSManagedObject.Type, _ entity: NSEntityDescription) throws -> [String] {
        // Two values tell a property that is handed on from one that is calculated with; nil and zero tell one that is replaced. A key path
        // with `!`, which its description shows, must not be read where there is nothing.
        var found: [String]?
        let description = String(describing: keyPath)
        for standIns in StandIns.allCases where standIns != .nothing || !description.contains("!") {
            let names = try KeyPathRecorder(standIns).names(along: keyPath, from: root, entity)
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
        let object = standIns.object(of: entity, entityClass.isSubclass(of: root) ? entityClass : root)
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

    /// Makes sure that the value at the end of a key path is the last property's, and not something made of it.
    private func check(_ value: Any?, at keyPath: AnyKeyPath, against last: Read) throws {
        let value = Self.withoutOptionals(value)
        // The ID of a related object is what stands for it in predicates.
        if let id = value as? NSManagedObjectID, id === last.destination?.identifier { return }
        let valueType: Any.Type = Swift.type(of: keyPath).valueType
        let wanted = Self.withoutOptionals(valueType)
        let name = last.property.name
        // What is kept as JSON is not comparable with the data it was made of.
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
        // A collection of none and an enumeration are known by their type; nothing can be told from their value.
        if last.property is NSRelationshipDescription || wanted is any RawRepresentable.Type { return }
        guard let kind = (last.property as? NSAttributeDescription)?.attributeType, StandIns.isComparable(kind) else { return }
        let expected = PropertyValue.comparable(last.object.anyAttribute(last.property))
        let result = PropertyValue.comparable(value)
        // A type that is not optional reads nil as its zero.
        if result != expected, expected != .null || !StandIns.isZero(result) { throw changed }
    }

    /// The type that a property shows for the one that its value is kept as.
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

/// A ``ManagedValue`` that stands for a value of another type, which properties show.
protocol ManagedValueWrapper {
    static var shown: Any.Type { get }
    static var shownOptional: Any.Type { get }
}

/// What an optional is recognised by.
private protocol OptionalType {
    static var wrapped: Any.Type { get }
    var value: Any? { get }
}

extension Optional: OptionalType {
    fileprivate static var wrapped: Any.Type { Wrapped.self }
    fileprivate var value: Any? { map { $0 as Any } }
}

extension PropertyValue {
    /// A value for comparing with another: Booleans are 0 and 1. What has no counterpart is an object that equals nothing.
    fileprivate static func comparable(_ value: Any?) -> PropertyValue {
        let converted = (try? PropertyValue(any: value)) ?? .object(ObjectReference(NSObject()))
        if case .bool(let flag) = converted { return .int64(flag ? 1 : 0) }
        return converted
    }
}
