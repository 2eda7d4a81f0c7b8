public import Foundation

/// Lets initializers in an extension create an instance of a subclass. Every `NSSortDescriptor` conforms; no other type should.
public protocol SortDescriptorFactory {}

extension NSSortDescriptor: SortDescriptorFactory {}

extension SortDescriptorFactory where Self: NSSortDescriptor {
    /// Creates a descriptor that sorts by a key path, which may lead to an optional value.
    ///
    /// - Parameters:
    ///   - keyPath: The key path, such as `\Album.band?.name`. Its name is determined when it is needed: see ``KeyPathNames``.
    ///   - ascending: Whether the order is ascending; nil precedes all values.
    public init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
        self = KeySortDescriptor(swiftKeyPath: keyPath, ascending: ascending) as! Self
    }

    /// Creates a descriptor that sorts by a key path with an order of strings.
    ///
    /// - Parameters:
    ///   - keyPath: The key path.
    ///   - ascending: Whether the order is ascending.
    ///   - textOrder: The order of strings.
    public init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool, textOrder: TextOrder) {
        self = KeySortDescriptor(swiftKeyPath: keyPath, ascending: ascending, textOrder: textOrder) as! Self
    }

    /// Creates a descriptor from Swift's `SortDescriptor`.
    ///
    /// A string comparator with the order of `<`, the only one on Linux, becomes ``TextOrder/binary``; any other stays a comparator,
    /// which no store can translate.
    ///
    /// - Parameter sortDescriptor: The descriptor.
    public init<Compared>(_ sortDescriptor: SortDescriptor<Compared>) {
        let ascending = sortDescriptor.order == .forward
        guard let keyPath = sortDescriptor.keyPath else {
            var forward = sortDescriptor
            forward.order = .forward
            // Foundation creates no descriptor without a key path; if it did, the objects themselves would be compared.
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
    /// The descriptor as one with a key: itself, or the equivalent of one of Foundation's. Nil for a subclass, which may compare
    /// differently.
    var keyDescriptor: KeySortDescriptor? {
        if let descriptor = self as? KeySortDescriptor { return descriptor }
        guard type(of: self) == NSSortDescriptor.self else { return nil }
        return KeySortDescriptor(
            swiftKeyPath: keyPath, ascending: ascending, comparator: NaturalOrder.isComparator(of: self) ? nil : comparator)
    }
}

/// Distinguishes Foundation's own comparator, which compares by `<`, from a given one.
///
/// `NSSortDescriptor(keyPath:ascending:)` is Foundation's initializer if values are comparable, and no overload takes precedence over it. It stores a
/// closure without further information. All closures that it creates have the same code, and no other closure does.
private enum NaturalOrder {
    private struct Holder {
        let comparator: Comparator
    }

    private static let code = code(of: NSSortDescriptor(keyPath: \String.count, ascending: true))

    static func isComparator(of descriptor: NSSortDescriptor) -> Bool { code(of: descriptor) == code }

    /// Returns the address of a comparator's code. A closure consists of two words: its code, and its captured values.
    private static func code(of descriptor: NSSortDescriptor) -> UInt {
        precondition(MemoryLayout<Holder>.size == MemoryLayout<(UInt, UInt)>.size)
        // In a structure, the closure is passed unchanged; by itself it would be wrapped in another.
        return unsafeBitCast(Holder(comparator: descriptor.comparator), to: (UInt, UInt).self).0
    }
}
