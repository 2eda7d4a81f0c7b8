/// An object whose properties predicates and sort descriptors can read by name.
///
/// Dictionaries need no conformance, and the stored properties of plain Swift structures and classes are found by reflection; a
/// conformance is faster, and required for computed properties.
public protocol KeyValueReadable: AnyObject {
    /// Reads a property.
    ///
    /// - Parameter key: The name of the property; never a path.
    /// - Returns: Its value, or nil.
    func value(forKey key: String) -> Any?
}

/// A Swift dictionary as an object.
final class KeyedValues: KeyValueReadable {
    let values: [String: Any]

    init(_ values: [String: Any]) {
        self.values = values
    }

    var original: Any { values }

    func value(forKey key: String) -> Any? {
        values[key]
    }
}

/// A plain Swift value as an object, whose stored properties are read by reflection.
final class ReflectedValue {
    let value: Any

    init(_ value: Any) {
        self.value = value
    }
}
