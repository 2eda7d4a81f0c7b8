internal import Foundation

/// A structure that is stored as a composite attribute: each of its properties is an element. The macro `@Composite` of the product
/// CoreDataMacros adds the conformance.
public protocol CompositeValue: KeyedManagedValue {
    /// The declarations of the elements.
    static var compositeElements: [PropertyDeclaration] { get }
    /// The values of the elements, by name, without nil values.
    var compositeValues: [String: Any] { get }
    /// Creates a structure from the values of its elements.
    init(compositeValues values: [String: Any])
}

extension CompositeValue {
    /// Nil: the type has no value for it; declare the property optional, or give it a default.
    public static var valueForNil: Self? { nil }

    /// Returns the value at `place`, or nil.
    public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> Self? {
        (object.currentValue(of: place.property(of: object)) as? [String: Any]).map(Self.init(compositeValues:))
            ?? KeyPathRecorder.placeholder(Self.self, in: object)
    }

    /// Stores a value or nil at `place`.
    public static func setOptional(_ value: Self?, in object: NSManagedObject, at place: PropertyPlace) {
        object.setCurrentValue(value?.compositeValues, of: place.property(of: object))
    }

    /// Returns whether a property of the model can be read as this type.
    public static func fits(_ property: NSPropertyDescription) -> Bool { isAttribute(property, .compositeAttributeType) }
}

/// Reads and writes the elements of composite attributes.
public enum CompositeElements {
    /// Returns the value of an element.
    ///
    /// - Parameters:
    ///   - name: The name of the element.
    ///   - values: The values by name.
    ///   - defaultValue: The value for nil.
    public static func read<Value: ManagedValue>(_ name: String, _ values: [String: Any], default defaultValue: Value) -> Value {
        read(name, values) ?? defaultValue
    }

    /// Returns the value of an element; nil if it has none.
    public static func read<Value: ManagedValue>(_ name: String, _ values: [String: Any]) -> Value? {
        guard let value = values[name] else { return nil }
        if let composite = Value.self as? any CompositeValue.Type {
            return (value as? [String: Any]).flatMap { composite.init(compositeValues: $0) as? Value }
        }
        if let enumeration = Value.self as? any RawRepresentable.Type, let made = make(enumeration, of: value) as? Value { return made }
        return value as? Value
    }

    private static func make<Enumeration: RawRepresentable>(_ type: Enumeration.Type, of value: Any) -> Any? {
        (value as? Enumeration.RawValue).flatMap { Enumeration(rawValue: $0) }
    }

    /// Adds the value of an element unless it is nil.
    public static func write<Value: ManagedValue>(_ value: Value?, _ name: String, _ values: inout [String: Any]) {
        values[name] = value.flatMap { DeclaredType.modelValue($0) }
    }

    static func description(of type: any CompositeValue.Type, named name: String) throws -> NSAttributeDescription {
        let composite = NSCompositeAttributeDescription()
        composite.modelFileAttributes["composite"] = String(describing: type)
        composite.elements = try type.compositeElements.map { element in
            do {
                guard let attribute = try element.made() as? NSAttributeDescription else {
                    throw DeclarationMistake("A composite is made of attributes alone.")
                }
                return attribute
            } catch let mistake as DeclarationMistake { throw DeclarationMistake("In “\(element.name)” of \(type): \(mistake.text)") }
        }
        return composite
    }
}
