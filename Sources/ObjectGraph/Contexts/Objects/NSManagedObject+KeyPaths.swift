internal import Foundation
internal import Predicates

extension NSManagedObject {
    /// Returns the value at a key path, such as `"album.band.name"` or `"tracks.@count"`.
    ///
    /// A path may continue into composite attributes: `"place.latitude"`; an element that the model does not have is nil. A path through
    /// a to-many relationship returns an array with the values of all its objects. The operators are `@count`, `@sum`, `@avg`, `@min`,
    /// `@max`, `@unionOfObjects` and `@distinctUnionOfObjects`; an unknown operator stops the program with a message.
    public func value(forKeyPath keyPath: String) -> Any? {
        Self.value(of: self, at: keyPath.split(separator: ".")[...])
    }

    /// Sets the value at a key path over to-one relationships. Nothing is set where one of them is nil.
    ///
    /// A path into a composite attribute sets one element and keeps the others; a nil attribute gets that element only. An element that
    /// the model does not have stops the program with a message, like an unknown key.
    public func setValue(_ value: Any?, forKeyPath keyPath: String) {
        let keys = keyPath.split(separator: ".").map(String.init)
        guard let key = keys.first, keys.count > 1 else { return setValue(value, forKey: keyPath) }
        let rest = keys.dropFirst()
        if let composite = owningEntity.frozen?.byName[key] as? NSCompositeAttributeDescription {
            let elements = self.value(forKey: key) as? [String: Any] ?? [:]
            return setValue(Self.elements(elements, of: composite, with: value, at: rest), forKey: key)
        }
        (self.value(forKey: key) as? NSManagedObject)?.setValue(value, forKeyPath: rest.joined(separator: "."))
    }

    /// Returns the elements of a composite attribute after setting the value at a path in it.
    private static func elements(
        _ elements: [String: Any], of composite: NSCompositeAttributeDescription, with value: Any?, at path: ArraySlice<String>
    ) -> [String: Any] {
        guard let key = path.first else { return elements }
        guard let element = composite.elements.first(where: { $0.name == key }) else {
            stopProgram(
                "The composite attribute “\(composite)” has no element “\(key)”. Its elements: "
                    + composite.elements.map(\.name).joined(separator: ", ") + ".")
        }
        var elements = elements
        if path.count == 1 {
            elements[key] = AttributeCheck.unwrapped(value)
            return elements
        }
        guard let inner = element as? NSCompositeAttributeDescription else {
            stopProgram("“\(key)” of the composite attribute “\(composite)” has no elements.")
        }
        elements[key] = Self.elements(elements[key] as? [String: Any] ?? [:], of: inner, with: value, at: path.dropFirst())
        return elements
    }

    private static func value(of subject: Any?, at path: ArraySlice<Substring>) -> Any? {
        guard let key = path.first.map(String.init), let subject else { return subject }
        let rest = path.dropFirst()
        if let object = subject as? NSManagedObject { return value(of: object.value(forKey: key), at: rest) }
        if let composite = subject as? [String: Any] { return value(of: composite[key], at: rest) }
        guard let elements = elements(of: subject) else { return nil }
        if !key.hasPrefix("@") { return elements.compactMap { value(of: $0, at: path) } }
        if key == "@count" { return NSNumber(value: elements.count) }
        let values = elements.compactMap { value(of: $0, at: rest) }
        switch key {
        case "@sum": return sum(values) as NSDecimalNumber
        case "@avg": return values.isEmpty ? NSDecimalNumber.zero : (sum(values) / Decimal(values.count)) as NSDecimalNumber
        case "@min": return values.min(by: isBefore)
        case "@max": return values.max(by: isBefore)
        case "@unionOfObjects": return values
        case "@distinctUnionOfObjects":
            var seen: Set<AnyHashable> = []
            return values.filter { value in (value as? AnyHashable).map { seen.insert($0).inserted } ?? true }
        default: stopProgram("There is no collection operator “\(key)”.")
        }
    }

    private static func elements(of value: Any) -> [Any]? {
        switch value {
        case let set as Set<NSManagedObject>: Array(set)
        case let ordered as NSOrderedSet: ordered.array
        case let array as [Any]: array
        default: nil
        }
    }

    private static func sum(_ values: [Any]) -> Decimal {
        values.reduce(into: Decimal(0)) { $0 += ($1 as? NSNumber)?.decimalValue ?? 0 }
    }

    private static func isBefore(_ left: Any, _ right: Any) -> Bool {
        switch (left, right) {
        case (let left as NSNumber, let right as NSNumber): left.compare(right) == .orderedAscending
        case (let left as String, let right as String): left < right
        case (let left as Date, let right as Date): left < right
        default: false
        }
    }
}
