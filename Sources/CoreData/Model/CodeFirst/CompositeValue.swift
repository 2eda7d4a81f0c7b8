internal import Foundation

/// A structure that is kept as a composite attribute: each of its properties is an attribute of its own in the model. The macro `@Composite` of the product CoreDataMacros makes a structure one.
public protocol CompositeValue: KeyedManagedValue {
    /// What it is made of.
    static var compositeElements: [PropertyDeclaration] { get }
    /// The values of the elements by their names; those that are nil are left out.
    var compositeValues: [String: Any] { get }
    /// Makes one of the values of its elements.
    init(compositeValues values: [String: Any])
}

extension CompositeValue {
    /// There is none: declare the property optional, or give it a default.
    public static var valueForNil: Self? { nil }

    /// Returns the value at `place`, or nil.
    public static func getOptional(from object: NSManagedObject, at place: PropertyPlace) -> Self? {
        (object.currentValue(of: place.property(of: object)) as? [String: Any]).map(Self.init(compositeValues:))
            ?? KeyPathRecorder.standIn(Self.self, in: object)
    }

    /// Stores a value or nil at `place`.
    public static func setOptional(_ value: Self?, in object: NSManagedObject, at place: PropertyPlace) {
        object.setCurrentValue(value?.compositeValues, of: place.property(of: object))
    }

    /// Returns whether a property of the model can be read as this type.
    public static func fits(_ property: NSPropertyDescription) -> Bool { isAttribute(property, .compositeAttributeType) }
}

/// The values of a composite attribute while a structure is made of them or they are taken out of one.
public enum CompositeElements {
    /// The value of an element.
    ///
    /// - Parameters:
    ///   - name: the name of the element.
    ///   - values: the values by their names.
    ///   - defaultValue: what stands for nil.
    public static func read<Value: ManagedValue>(_ name: String, _ values: [String: Any], default defaultValue: Value) -> Value {
        read(name, values) ?? defaultValue
    }

    /// The value of an element; nil where it has none.
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

    /// Puts the value of an element among the others, unless it is nil.
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
