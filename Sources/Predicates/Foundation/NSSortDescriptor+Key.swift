public import Foundation

/// Lets initializers in an extension make an instance of a subclass. Every `NSSortDescriptor` conforms; nothing else should.
public protocol SortDescriptorFactory {}

extension NSSortDescriptor: SortDescriptorFactory {}

extension SortDescriptorFactory where Self: NSSortDescriptor {
    /// Makes a descriptor that sorts by a property known by name.
    ///
    /// - Parameters:
    ///   - key: The key path; nil or `self` for the objects themselves.
    ///   - ascending: Whether the smallest comes first.
    public init(key: String?, ascending: Bool) {
        self = KeySortDescriptor(keyText: key, ascending: ascending) as! Self
    }

    /// Makes a descriptor that sorts by a property known by name, comparing with a closure.
    ///
    /// - Parameters:
    ///   - key: The key path; nil or `self` for the objects themselves.
    ///   - ascending: Whether the smallest comes first.
    ///   - comparator: What compares two values. It is never shown nil: objects without a value come first.
    public init(key: String?, ascending: Bool, comparator: @escaping Comparator) {
        self = KeySortDescriptor(keyText: key, ascending: ascending, comparator: comparator) as! Self
    }

    /// Makes a descriptor that sorts by a property known by name, ordering text in a way that has a name on Apple's platforms.
    ///
    /// Selectors do not exist here; `textOrder:` says what `selector:` says there, and stores can understand it.
    ///
    /// - Parameters:
    ///   - key: The key path; nil or `self` for the objects themselves.
    ///   - ascending: Whether the smallest comes first.
    ///   - textOrder: How text is ordered.
    public init(key: String?, ascending: Bool, textOrder: TextOrder) {
        self = KeySortDescriptor(keyText: key, ascending: ascending, textOrder: textOrder) as! Self
    }
}

extension NSSortDescriptor {
    /// The key path as text; nil when the descriptor compares the objects themselves.
    ///
    /// It is nil also for a key path of Swift that has no name (``KeyPathNames/path(of:)`` of its `keyPath` says why), as those of managed
    /// objects have none before a model is loaded.
    public var key: String? { try? keyDescriptor?.keyText() }

    /// How text is ordered.
    public var textOrder: TextOrder {
        (self as? KeySortDescriptor)?.order ?? .binary
    }

    /// Whether a closure compares the values, which no store can translate.
    public var hasComparator: Bool {
        guard let descriptor = keyDescriptor else { return true }
        return descriptor.givenComparator != nil
    }
}
