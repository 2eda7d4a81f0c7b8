public import Foundation

/// The sort descriptor that `NSSortDescriptor(key:ascending:)` creates: it names the property by a key path string, or by a Swift key
/// path whose name is determined when it is first needed.
///
/// An instance is immutable and may be used on any thread.
public final class KeySortDescriptor: NSSortDescriptor {
    /// The key path string; nil for the objects themselves.
    let givenText: String?
    /// The Swift key path, for a descriptor created from one.
    let swiftKeyPath: AnyKeyPath?
    /// The comparator, if there is one.
    let givenComparator: Comparator?
    /// The order of strings, without a comparator.
    let order: TextOrder

    /// Creates a descriptor.
    ///
    /// - Parameters:
    ///   - key: The key path; nil or `self` for the objects themselves.
    ///   - ascending: Whether the order is ascending.
    ///   - textOrder: The order of strings.
    ///   - comparator: A comparator of two values, or nil. It never receives nil: objects without a value come first.
    public init(keyText key: String?, ascending: Bool, textOrder: TextOrder = .binary, comparator: Comparator? = nil) {
        givenText = key
        swiftKeyPath = nil
        givenComparator = comparator
        order = textOrder
        // Foundation's class requires a key path, which this framework never reads.
        super.init(keyPath: \String.count, ascending: ascending)
    }

    /// Creates a descriptor that sorts by a Swift key path; its name is determined when it is needed, see ``KeyPathNames``.
    ///
    /// - Parameters:
    ///   - keyPath: The key path.
    ///   - ascending: Whether the order is ascending.
    ///   - textOrder: The order of strings.
    ///   - comparator: A comparator of two values, or nil. It never receives nil: objects without a value come first.
    public init(swiftKeyPath keyPath: AnyKeyPath, ascending: Bool, textOrder: TextOrder = .binary, comparator: Comparator? = nil) {
        givenText = nil
        swiftKeyPath = keyPath
        givenComparator = comparator
        order = textOrder
        super.init(keyPath: \String.count, ascending: ascending)
    }

    /// The Swift key path; for a descriptor created from a string, a meaningless key path.
    public override var keyPath: AnyKeyPath { swiftKeyPath ?? super.keyPath }

    /// Returns the key path as a string; nil for the objects themselves.
    ///
    /// - Throws: ``InvalidPredicateError`` naming a Swift key path without a name, and for an empty string, which names no property.
    func keyText() throws -> String? {
        guard let swiftKeyPath else {
            guard givenText != "" else {
                throw InvalidPredicateError(
                    kind: .unknownKeyPath,
                    message: "A sort descriptor has an empty key. Name a property, or give nil for the objects themselves")
            }
            return givenText
        }
        let names = try KeyPathNames.names(of: swiftKeyPath)
        return names.isEmpty ? nil : names.joined(separator: ".")
    }

    /// The key path for messages.
    var shownKey: String { swiftKeyPath.map { "\($0)" } ?? givenText ?? "self" }

    /// The comparator of two values, in the order of the descriptor.
    public override var comparator: Comparator {
        givenComparator ?? { [order] left, right in
            guard let left = try? PropertyValue(plain: left), let right = try? PropertyValue(plain: right) else { return .orderedSame }
            return order.compare(left, right)
        }
    }

    /// Compares two plain values, dictionaries or objects by the key.
    ///
    /// Stops the program if they do not have the key; Apple's framework raises an exception.
    public override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        do {
            let left = try value(of: object1)
            let right = try value(of: object2)
            return ordered(left, right)
        } catch {
            stopProgram("\(error)")
        }
    }

    /// Compares two values of the key.
    func ordered(_ left: PropertyValue, _ right: PropertyValue) -> ComparisonResult {
        let result: ComparisonResult
        if let givenComparator, let left = left.any, let right = right.any {
            result = givenComparator(left, right)
        } else {
            result = order.compare(left, right)
        }
        return ascending ? result : result.reversed
    }

    /// Returns the value of a plain object.
    func value(of object: Any) throws -> PropertyValue {
        // The key path itself reads the value, also of computed properties.
        if let swiftKeyPath, let value = object[keyPath: swiftKeyPath] { return try PropertyValue(plain: value) }
        let box = PlainValue(original: object, value: try PropertyValue(plain: object))
        let path = try CompiledKeyPath(.path(try keyText() ?? ""), for: PlainSchema.shared)
        return try withExtendedLifetime(box) { try path.value(of: box.subject) }
    }

    /// The descriptor in reversed order.
    public override var reversedSortDescriptor: Any {
        if let swiftKeyPath {
            KeySortDescriptor(swiftKeyPath: swiftKeyPath, ascending: !ascending, textOrder: order, comparator: givenComparator)
        } else {
            KeySortDescriptor(keyText: givenText, ascending: !ascending, textOrder: order, comparator: givenComparator)
        }
    }

    /// Returns the descriptor itself, which is immutable.
    public override func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether two descriptors have equal keys, directions and orders; one with a comparator equals only itself.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? KeySortDescriptor else { return false }
        if self === other { return true }
        return givenComparator == nil && other.givenComparator == nil && givenText == other.givenText && swiftKeyPath == other.swiftKeyPath
            && ascending == other.ascending && order == other.order
    }

    /// The hash value, which is the same for equal descriptors.
    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(givenText)
        hasher.combine(swiftKeyPath)
        hasher.combine(ascending)
        hasher.combine(order)
        return hasher.finalize()
    }

    /// A description of the key and the direction.
    public override var description: String {
        "(\(shownKey), \(ascending ? "ascending" : "descending"))"
    }
}

/// The orders of strings, in place of the selectors of Apple's platforms, such as `localizedStandardCompare:`.
public enum TextOrder: Hashable, Sendable {
    /// By the code points of the composed string: the default order of stores.
    case binary
    /// By code points, ignoring case: `caseInsensitiveCompare:`.
    case caseInsensitive
    /// By the current locale: `localizedCompare:`.
    case localized
    /// By the current locale, ignoring case: `localizedCaseInsensitiveCompare:`.
    case localizedCaseInsensitive
    /// Like the Finder, with numbers by value: `localizedStandardCompare:`.
    case localizedStandard

    /// Compares two values: nil first, then by value; values of incomparable kinds by kind.
    func compare(_ left: PropertyValue, _ right: PropertyValue) -> ComparisonResult {
        if left.isNull || right.isNull {
            return left.isNull == right.isNull ? .orderedSame : left.isNull ? .orderedAscending : .orderedDescending
        }
        if case .string(let first) = left, case .string(let second) = right {
            switch self {
            case .binary: break
            case .caseInsensitive: return first.caseInsensitiveCompare(second)
            case .localized: return first.localizedCompare(second)
            case .localizedCaseInsensitive: return first.localizedCaseInsensitiveCompare(second)
            case .localizedStandard: return first.localizedStandardCompare(second)
            }
        }
        if let result = left.order(to: right) { return result }
        return left.rank == right.rank ? .orderedSame : left.rank < right.rank ? .orderedAscending : .orderedDescending
    }
}

extension PropertyValue {
    /// The rank of a value's kind among others in a sort.
    fileprivate var rank: Int {
        switch self {
        case .null: 0
        case .bool, .int64, .double, .decimal: 1
        case .date: 2
        case .string: 3
        case .uuid: 4
        case .url: 5
        case .data: 6
        case .object: 7
        case .array, .set: 8
        }
    }
}
