import Foundation

/// The constants on the right side of IN, prepared for lookups in a hash table.
struct ConstantCollection {
    let isEmpty: Bool
    let hasNull: Bool
    /// The integers, in any original type.
    private(set) var integers: Set<Int64> = []
    /// The values whose equality agrees with their hashes: strings, dates, identifiers, objects.
    private(set) var hashed: Set<PropertyValue> = []
    /// All other values, compared one by one: fractions and collections.
    private(set) var others: [PropertyValue] = []

    init(_ elements: [PropertyValue]) {
        isEmpty = elements.isEmpty
        hasNull = elements.contains(.null)
        for element in elements {
            switch element.canonicalForHashing {
            case .null: break
            case .int64(let value): integers.insert(value)
            case .double, .decimal, .bool, .array, .set: others.append(element)
            case let value: hashed.insert(value)
            }
        }
    }

    /// Whether all elements are integers.
    var isIntegers: Bool { hashed.isEmpty && others.isEmpty && !hasNull && !isEmpty }

    /// All elements as strings, if all are strings.
    var strings: Set<String>? {
        guard integers.isEmpty, others.isEmpty, !hasNull, !isEmpty else { return nil }
        var strings: Set<String> = []
        for value in hashed {
            guard case .string(let text) = value else { return nil }
            strings.insert(text)
        }
        return strings
    }

    /// Returns whether a value is an element.
    func contains(_ value: PropertyValue) -> Bool {
        switch value.canonicalForHashing {
        case .null: false
        case .int64(let number): integers.contains(number)
        case .double, .decimal, .bool, .array, .set: others.contains { $0.isNumericallyEqual(value) }
        case let value: hashed.contains(value)
        }
    }

    /// Returns the result of `value IN collection`, in agreement with ``ValueTest``.
    func truth(of value: PropertyValue, logic: NilLogic) -> Truth {
        if value.isNull { return logic == .twoValued ? Truth(hasNull) : isEmpty ? .no : .unknown }
        if contains(value) { return .yes }
        return hasNull && logic == .threeValued ? .unknown : .no
    }
}
