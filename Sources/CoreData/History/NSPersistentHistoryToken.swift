public import Foundation

/// A place in the history of one or several stores, which a program keeps to ask later what has come since.
///
/// Archive it with `NSKeyedArchiver`. Tokens that name the same places are equal.
///
/// Source: [NSPersistentHistoryToken](https://developer.apple.com/documentation/coredata/nspersistenthistorytoken).
// Immutable.
open class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    /// The number of the last transaction, by the UUID of its store.
    let numbers: [String: Int64]
    private static let archiveKey = "NSPersistentHistoryTokenNumbers"

    init(_ numbers: [String: Int64]) { self.numbers = numbers }

    /// Tokens hold texts and numbers only.
    public static var supportsSecureCoding: Bool { true }

    /// Reads a token out of an archive; nil where there is none.
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

    /// Writes the token into an archive.
    open func encode(with coder: NSCoder) {
        coder.encode(NSDictionary(dictionary: numbers.mapValues { NSNumber(value: $0) }), forKey: Self.archiveKey)
    }

    /// The token itself, as it never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether two tokens name the same places of the same stores.
    open override func isEqual(_ object: Any?) -> Bool { (object as? NSPersistentHistoryToken)?.numbers == numbers }

    /// Equal tokens have equal hashes.
    open override var hash: Int { numbers.hashValue }

    /// The stores and the numbers of their transactions.
    open override var description: String {
        "NSPersistentHistoryToken(\(numbers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")))"
    }
}
