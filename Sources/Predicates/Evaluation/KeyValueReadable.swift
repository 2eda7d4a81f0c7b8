/// An object whose properties can be read by name, so that predicates and sort descriptors can look at it.
///
/// Dictionaries need no conformance, and the stored properties of plain Swift structures and classes are found by reflection; conforming is
/// faster than that, and the only way to computed properties.
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

/// A plain Swift value as an object; its stored properties are read by reflection.
final class ReflectedValue {
    let value: Any

    init(_ value: Any) {
        self.value = value
    }
}
