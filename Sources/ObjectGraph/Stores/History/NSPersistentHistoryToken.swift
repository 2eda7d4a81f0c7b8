public import Foundation

/// A position in the history of one or more stores, from which a program later fetches the changes since then.
///
/// Archive it with `NSKeyedArchiver`. Tokens for the same positions are equal.
///
/// Source: [NSPersistentHistoryToken](https://developer.apple.com/documentation/coredata/nspersistenthistorytoken).
// Immutable.
open class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    /// The positions, by the UUID of their store.
    let positions: [String: HistoryPosition]
    private static let archiveKey = "NSPersistentHistoryTokenNumbers"
    private static let detailKey = "CoreDataHistoryTokenDetails"

    package init(_ positions: [String: HistoryPosition]) { self.positions = positions }

    package convenience init(_ numbers: [String: Int64]) { self.init(numbers.mapValues { HistoryPosition(number: $0) }) }

    /// Whether tokens support secure coding: true.
    public static var supportsSecureCoding: Bool { true }

    /// Decodes a token; nil if the archive contains none.
    public required init?(coder: NSCoder) {
        let classes: [AnyClass] = [NSDictionary.self, NSString.self, NSNumber.self]
        guard let stored = coder.decodeObject(of: classes, forKey: Self.archiveKey) as? NSDictionary else { return nil }
        // Most stores need numbers only.
        let hasDetails = coder.containsValue(forKey: Self.detailKey)
        let details = hasDetails ? coder.decodeObject(of: classes, forKey: Self.detailKey) as? NSDictionary : nil
        var positions: [String: HistoryPosition] = [:]
        for (key, value) in stored {
            guard let key = key as? String, let value = value as? NSNumber else { return nil }
            positions[key] = HistoryPosition(number: value.int64Value, detail: details?.object(forKey: key) as? String)
        }
        self.positions = positions
    }

    /// Encodes the token.
    open func encode(with coder: NSCoder) {
        coder.encode(NSDictionary(dictionary: positions.mapValues { NSNumber(value: $0.number) }), forKey: Self.archiveKey)
        let details = positions.compactMapValues(\.detail)
        if !details.isEmpty { coder.encode(NSDictionary(dictionary: details), forKey: Self.detailKey) }
    }

    /// Returns the token itself, which is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether two tokens name the same positions of the same stores.
    open override func isEqual(_ object: Any?) -> Bool { (object as? NSPersistentHistoryToken)?.positions == positions }

    /// The hash value, which is the same for equal tokens.
    open override var hash: Int { positions.hashValue }

    /// A description of the stores and the numbers of their transactions.
    open override var description: String {
        "NSPersistentHistoryToken(\(positions.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.number)" }.joined(separator: ", ")))"
    }
}
