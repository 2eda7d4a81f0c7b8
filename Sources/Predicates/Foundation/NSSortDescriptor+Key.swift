public import Foundation

extension SortDescriptorFactory where Self: NSSortDescriptor {
    /// Creates a descriptor that sorts by a property name or key path.
    ///
    /// - Parameters:
    ///   - key: The key path; nil or `self` for the objects themselves.
    ///   - ascending: Whether the order is ascending.
    public init(key: String?, ascending: Bool) {
        self = KeySortDescriptor(keyText: key, ascending: ascending) as! Self
    }

    /// Creates a descriptor that sorts by a property name or key path with a comparator.
    ///
    /// - Parameters:
    ///   - key: The key path; nil or `self` for the objects themselves.
    ///   - ascending: Whether the order is ascending.
    ///   - comparator: The comparator of two values. It never receives nil: objects without a value come first.
    public init(key: String?, ascending: Bool, comparator: @escaping Comparator) {
        self = KeySortDescriptor(keyText: key, ascending: ascending, comparator: comparator) as! Self
    }

    /// Creates a descriptor that sorts by a property name or key path with an order of strings.
    ///
    /// `textOrder:` replaces Apple's `selector:`, because there are no selectors; stores can translate it.
    ///
    /// - Parameters:
    ///   - key: The key path; nil or `self` for the objects themselves.
    ///   - ascending: Whether the order is ascending.
    ///   - textOrder: The order of strings.
    public init(key: String?, ascending: Bool, textOrder: TextOrder) {
        self = KeySortDescriptor(keyText: key, ascending: ascending, textOrder: textOrder) as! Self
    }
}

extension NSSortDescriptor {
    /// The key path as a string; nil when the descriptor compares the objects themselves.
    ///
    /// It is also nil for a Swift key path without a name, such as one of managed objects before a model is loaded;
    /// ``KeyPathNames/path(of:)`` of `keyPath` throws the reason.
    public var key: String? { keyDescriptor.flatMap { try? $0.givenText ?? $0.keyText() } }

    /// The order of strings.
    public var textOrder: TextOrder {
        (self as? KeySortDescriptor)?.order ?? .binary
    }

    /// Whether a comparator compares the values, which no store can translate.
    public var hasComparator: Bool {
        guard let descriptor = keyDescriptor else { return true }
        return descriptor.givenComparator != nil
    }
}
