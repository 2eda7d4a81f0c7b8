internal import Foundation

extension NSManagedObject {
    /// The value at the end of a path of keys, such as `"album.band.name"` or `"tracks.@count"`.
    ///
    /// A path through a to-many relationship gives an array with the values of all its objects. Operators: `@count`, `@sum`, `@avg`,
    /// `@min`, `@max`, `@unionOfObjects`, `@distinctUnionOfObjects`. An unknown operator stops the program with a message.
    public func value(forKeyPath keyPath: String) -> Any? {
        Self.value(of: self, at: keyPath.split(separator: ".")[...])
    }

    /// Sets the value at the end of a path of keys; the path to it must be of to-one relationships. Nothing is set where it ends in nil.
    public func setValue(_ value: Any?, forKeyPath keyPath: String) {
        guard let dot = keyPath.lastIndex(of: ".") else { return setValue(value, forKey: keyPath) }
        let owner = self.value(forKeyPath: String(keyPath[..<dot])) as? NSManagedObject
        owner?.setValue(value, forKey: String(keyPath[keyPath.index(after: dot)...]))
    }

    private static func value(of subject: Any?, at path: ArraySlice<Substring>) -> Any? {
        guard let key = path.first.map(String.init), let subject else { return subject }
        let rest = path.dropFirst()
        if let object = subject as? NSManagedObject { return value(of: object.value(forKey: key), at: rest) }
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
        default: preconditionFailure("There is no collection operator “\(key)”.")
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
