public import Foundation

/// A position in the history of one or more stores, from which a program later fetches what has changed since.
///
/// Archive it with `NSKeyedArchiver`. Tokens for the same positions are equal.
///
/// Source: [NSPersistentHistoryToken](https://developer.apple.com/documentation/coredata/nspersistenthistorytoken).
// Immutable.
open class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    /// The number of the last transaction, by the UUID of its store.
    let numbers: [String: Int64]
    private static let archiveKey = "NSPersistentHistoryTokenNumbers"

    package init(_ numbers: [String: Int64]) { self.numbers = numbers }

    /// Whether tokens support secure coding: true.
    public static var supportsSecureCoding: Bool { true }

    /// Decodes a token; nil where the archive contains none.
    public required init?(coder: NSCoder) {
        let classes: [AnyClass] = [NSDictionary.self, NSString.self, NSNumber.self]
        guard let stored = coder.decodeObject(of: classes, forKey: Self.archiveKey) as? NSDictionary else { return nil }
        var numbers: [String: Int64] = [:]
        for (key, value) in stored {
            guard let key = key as? String, let value = value as? NSNumber else { return nil }
            numbers[key] = value.int64Value
        }
        self.numbers = numbers
    }

    /// Encodes the token.
    open func encode(with coder: NSCoder) {
        coder.encode(NSDictionary(dictionary: numbers.mapValues { NSNumber(value: $0) }), forKey: Self.archiveKey)
    }

    /// Returns the token itself, which is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether two tokens name the same positions of the same stores.
    open override func isEqual(_ object: Any?) -> Bool { (object as? NSPersistentHistoryToken)?.numbers == numbers }

    /// The hash value, which is the same for equal tokens.
    open override var hash: Int { numbers.hashValue }

    /// A description of the stores and the numbers of their transactions.
    open override var description: String {
        "NSPersistentHistoryToken(\(numbers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")))"
    }
}
