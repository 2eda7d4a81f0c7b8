public import Foundation

/// The sort descriptor that `NSSortDescriptor(key:ascending:)` makes: it names the property by a key path in text, or by one of Swift that is
/// turned into text when it is first needed.
///
/// An instance never changes and may be used on any thread.
public final class KeySortDescriptor: NSSortDescriptor {
    /// The key path as it was given; nil for the objects themselves.
    private let givenText: String?
    /// The key path of Swift that was given instead.
    let swiftKeyPath: AnyKeyPath?
    /// The comparator, when one was given.
    let givenComparator: Comparator?
    /// How text is ordered when no comparator was given.
    let order: TextOrder

    /// Makes a descriptor.
    ///
    /// - Parameters:
    ///   - key: The key path; nil or `self` for the objects themselves.
    ///   - ascending: Whether the smallest comes first.
    ///   - textOrder: How text is ordered.
    ///   - comparator: What compares two values instead, or nil. It is never shown nil: objects without a value come first.
    public init(keyText key: String?, ascending: Bool, textOrder: TextOrder = .binary, comparator: Comparator? = nil) {
        givenText = key
        swiftKeyPath = nil
        givenComparator = comparator
        order = textOrder
        // Foundation's class needs a key path of its own; nothing of ours reads it.
        super.init(keyPath: \String.count, ascending: ascending)
    }

    /// Makes a descriptor that sorts by a key path of Swift; it is named when it is needed, see ``KeyPathNames``.
    ///
    /// - Parameters:
    ///   - keyPath: The key path.
    ///   - ascending: Whether the smallest comes first.
    ///   - textOrder: How text is ordered.
    ///   - comparator: What compares two values instead, or nil. It is never shown nil: objects without a value come first.
    public init(swiftKeyPath keyPath: AnyKeyPath, ascending: Bool, textOrder: TextOrder = .binary, comparator: Comparator? = nil) {
        givenText = nil
        swiftKeyPath = keyPath
        givenComparator = comparator
        order = textOrder
        super.init(keyPath: \String.count, ascending: ascending)
    }

    /// The key path of Swift that was given; for a descriptor that was made from text, a key path without meaning.
    public override var keyPath: AnyKeyPath { swiftKeyPath ?? super.keyPath }

    /// The key path as text; nil for the objects themselves.
    ///
    /// - Throws: ``InvalidPredicateError`` naming the key path of Swift that has no name.
    func keyText() throws -> String? {
        guard let swiftKeyPath else { return givenText }
        let names = try KeyPathNames.names(of: swiftKeyPath)
        return names.isEmpty ? nil : names.joined(separator: ".")
    }

    /// The key path for messages.
    var shownKey: String { swiftKeyPath.map { "\($0)" } ?? givenText ?? "self" }

    /// Compares two values in the ascending or descending order of the descriptor.
    public override var comparator: Comparator {
        givenComparator ?? { [order] left, right in
            guard let left = try? PropertyValue(plain: left), let right = try? PropertyValue(plain: right) else { return .orderedSame }
            return order.compare(left, right)
        }
    }

    /// Compares two plain values, dictionaries or objects by the key.
    ///
    /// Stops the program when they have no such key, as the uncaught exception does on Apple's platforms.
    public override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        do {
            let left = try value(of: object1)
            let right = try value(of: object2)
            return ordered(left, right)
        } catch {
            preconditionFailure("\(error)")
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

    /// The value of a plain object.
    func value(of object: Any) throws -> PropertyValue {
        // The key path itself reads what it leads to, computed properties too.
        if let swiftKeyPath, let value = object[keyPath: swiftKeyPath] { return try PropertyValue(plain: value) }
        let box = PlainValue(original: object, value: try PropertyValue(plain: object))
        let path = try CompiledKeyPath(.path(try keyText() ?? ""), for: PlainSchema.shared)
        return try withExtendedLifetime(box) { try path.value(of: box.subject) }
    }

    /// The same descriptor in the other direction.
    public override var reversedSortDescriptor: Any {
        if let swiftKeyPath {
            KeySortDescriptor(swiftKeyPath: swiftKeyPath, ascending: !ascending, textOrder: order, comparator: givenComparator)
        } else {
            KeySortDescriptor(keyText: givenText, ascending: !ascending, textOrder: order, comparator: givenComparator)
        }
    }

    /// The descriptor itself, as it never changes.
    public override func copy(with zone: NSZone? = nil) -> Any { self }

    /// Two descriptors are equal when they name the same key, direction and order; one with a comparator equals only itself.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? KeySortDescriptor else { return false }
        if self === other { return true }
        return givenComparator == nil && other.givenComparator == nil && givenText == other.givenText && swiftKeyPath == other.swiftKeyPath
            && ascending == other.ascending && order == other.order
    }

    /// Hashes in step with equality.
    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(givenText)
        hasher.combine(swiftKeyPath)
        hasher.combine(ascending)
        hasher.combine(order)
        return hasher.finalize()
    }

    /// The key and the direction.
    public override var description: String {
        "(\(shownKey), \(ascending ? "ascending" : "descending"))"
    }
}

/// How a sort descriptor orders text; what the selectors of Apple's platforms, such as `localizedStandardCompare:`, stand for.
public enum TextOrder: Hashable, Sendable {
    /// By the code points of the composed text, as a store sorts without further ado.
    case binary
    /// By code points regardless of case: `caseInsensitiveCompare:`.
    case caseInsensitive
    /// As the current locale orders: `localizedCompare:`.
    case localized
    /// As the current locale orders, regardless of case: `localizedCaseInsensitiveCompare:`.
    case localizedCaseInsensitive
    /// As the Finder orders, numbers by value: `localizedStandardCompare:`.
    case localizedStandard

    /// Compares two values: nil first, then by value; kinds that have no order among each other by kind.
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
    /// Where a kind stands among the others when values of several kinds are sorted.
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
