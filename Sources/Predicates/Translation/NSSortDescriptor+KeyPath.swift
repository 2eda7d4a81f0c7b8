public import Foundation

extension SortDescriptorFactory where Self: NSSortDescriptor {
    /// Makes a descriptor that sorts by a key path, also one to an optional value.
    ///
    /// - Parameters:
    ///   - keyPath: The key path, such as `\Album.band?.name`. It is named when it is needed: see ``KeyPathNames``.
    ///   - ascending: Whether the smallest comes first; nil is smaller than any value.
    public init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
        self = KeySortDescriptor(swiftKeyPath: keyPath, ascending: ascending) as! Self
    }

    /// Makes a descriptor that sorts by a key path, ordering text in a way that has a name on Apple's platforms.
    ///
    /// - Parameters:
    ///   - keyPath: The key path.
    ///   - ascending: Whether the smallest comes first.
    ///   - textOrder: How text is ordered.
    public init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool, textOrder: TextOrder) {
        self = KeySortDescriptor(swiftKeyPath: keyPath, ascending: ascending, textOrder: textOrder) as! Self
    }

    /// Makes a descriptor from Swift's `SortDescriptor`.
    ///
    /// A string comparator that orders as `<` does, which on Linux is the only one there is, becomes ``TextOrder/binary``; one of another kind
    /// stays a comparator, which no store can translate.
    ///
    /// - Parameter sortDescriptor: The descriptor.
    public init<Compared>(_ sortDescriptor: SortDescriptor<Compared>) {
        let ascending = sortDescriptor.order == .forward
        guard let keyPath = sortDescriptor.keyPath else {
            var forward = sortDescriptor
            forward.order = .forward
            // Foundation makes no descriptor without a key path; should it, the objects themselves are compared.
            let comparator: Comparator = { [forward] left, right in
                guard let left = left as? Compared, let right = right as? Compared else { return .orderedSame }
                return forward.compare(left, right)
            }
            self = KeySortDescriptor(keyText: nil, ascending: ascending, comparator: comparator) as! Self
            return
        }
        var comparator: Comparator?
        if var given = sortDescriptor.stringComparator {
            given.order = .forward
            if given != .lexical {
                comparator = { [given] left, right in
                    guard let left = left as? String, let right = right as? String else { return .orderedSame }
                    return given.compare(left, right)
                }
            }
        }
        self = KeySortDescriptor(swiftKeyPath: keyPath, ascending: ascending, comparator: comparator) as! Self
    }
}

extension NSSortDescriptor {
    /// The descriptor as one with a key: itself, or what one of Foundation's own says. Nil for a subclass, which may compare as it likes.
    var keyDescriptor: KeySortDescriptor? {
        if let descriptor = self as? KeySortDescriptor { return descriptor }
        guard type(of: self) == NSSortDescriptor.self else { return nil }
        return KeySortDescriptor(
            swiftKeyPath: keyPath, ascending: ascending, comparator: NaturalOrder.isComparator(of: self) ? nil : comparator)
    }
}

/// Tells Foundation's own comparator, which compares by `<`, from one that was given.
///
/// `NSSortDescriptor(keyPath:ascending:)` is Foundation's own initializer where values are comparable, and no overload of ours comes before it.
/// It keeps a closure and does not say which. All closures it makes run the same code, and no other closure does.
private enum NaturalOrder {
    private struct Holder {
        let comparator: Comparator
    }

    private static let code = code(of: NSSortDescriptor(keyPath: \String.count, ascending: true))

    static func isComparator(of descriptor: NSSortDescriptor) -> Bool { code(of: descriptor) == code }

    /// Where the code of a comparator lies. A closure is two words: its code, and what it captured.
    private static func code(of descriptor: NSSortDescriptor) -> UInt {
        precondition(MemoryLayout<Holder>.size == MemoryLayout<(UInt, UInt)>.size)
        // Held in a structure, the closure is taken as it is; handed on by itself it would be wrapped in another.
        return unsafeBitCast(Holder(comparator: descriptor.comparator), to: (UInt, UInt).self).0
    }
}
