internal import Foundation
internal import Predicates

extension NSManagedObject {
    /// Returns the value at a key path, such as `"album.band.name"` or `"tracks.@count"`.
    ///
    /// A path may continue into composite attributes: `"place.latitude"`; an element that the model does not have is nil. A path through
    /// a to-many relationship returns an array with the values of all its objects. The operators are `@count`, `@sum`, `@avg`, `@min`,
    /// `@max`, `@unionOfObjects` and `@distinctUnionOfObjects`; an unknown operator stops the program with a message. Of no values the sum
    /// is 0, and average, minimum and maximum are nil, as in predicates.
    public func value(forKeyPath keyPath: String) -> Any? {
        Self.value(of: self, at: keyPath.split(separator: ".")[...])
    }

    /// Sets the value at a key path over to-one relationships. Sets nothing if one of them is nil.
    ///
    /// A path into a composite attribute sets one element and keeps the others; a nil attribute gets that element only. An element that
    /// the model does not have stops the program with a message, like an unknown key.
    public func setValue(_ value: Any?, forKeyPath keyPath: String) {
        var object = self
        var keys = keyPath.split(separator: ".").map(String.init)[...]
        while let key = keys.popFirst(), !keys.isEmpty {
            if let composite = object.owningEntity.frozen?.byName[key] as? NSCompositeAttributeDescription {
                let elements = object.value(forKey: key) as? [String: Any] ?? [:]
                return object.setValue(Self.elements(elements, of: composite, with: value, at: keys), forKey: key)
            }
            guard let next = object.value(forKey: key) as? NSManagedObject else { return }
            object = next
        }
        object.setValue(value, forKey: keyPath.split(separator: ".").last.map(String.init) ?? keyPath)
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
        var (subject, path) = (subject, path)
        // A path may be as long as its text: keys of one object do not recurse.
        while let key = path.first {
            if let object = subject as? NSManagedObject {
                subject = object.value(forKey: String(key))
            } else if let composite = subject as? [String: Any] {
                subject = composite[String(key)]
            } else {
                break
            }
            path = path.dropFirst()
        }
        guard let key = path.first.map(String.init), let subject else { return subject }
        let rest = path.dropFirst()
        guard let elements = elements(of: subject) else { return nil }
        if !key.hasPrefix("@") { return collection(elements.compactMap { value(of: $0, at: path) }, like: subject) }
        if key == "@count" { return NSNumber(value: elements.count) }
        let values = elements.compactMap { value(of: $0, at: rest) }
        switch key {
        case "@sum": return sum(values) as NSDecimalNumber
        case "@avg": return values.isEmpty ? nil : (sum(values) / Decimal(values.count)) as NSDecimalNumber
        case "@min": return values.min(by: isBefore)
        case "@max": return values.max(by: isBefore)
        case "@unionOfObjects": return values
        case "@distinctUnionOfObjects":
            var seen: Set<AnyHashable> = []
            return values.filter { value in (value as? AnyHashable).map { seen.insert($0).inserted } ?? true }
        default: stopProgram("There is no collection operator “\(key)”.")
        }
    }

    /// Returns the values of a collection's elements: a set for a set, an ordered set for an ordered one.
    private static func collection(_ values: [Any], like collection: Any) -> Any {
        switch collection {
        case is Set<AnyHashable>: Set(values.compactMap { $0 as? AnyHashable })
        case is NSOrderedSet: NSOrderedSet(array: values)
        default: values
        }
    }

    private static func elements(of value: Any) -> [Any]? {
        switch value {
        case let set as Set<AnyHashable>: Array(set)
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
