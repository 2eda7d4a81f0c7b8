internal import Foundation

/// The user infos of a notification, with any of a few keys.
///
/// A context posts four notifications for each save, mostly with the same keys. To hash them takes longer than to copy a dictionary that has them, so
/// one for each combination of keys is made beforehand, and the values are put into their places.
// Never changed; its dictionaries have keys only, each with an empty value.
struct NotificationInfo: @unchecked Sendable {
    /// The dictionary of each combination of keys, and the place of each key in it. The places in a dictionary are also those in its copies.
    private let forms: [(info: [AnyHashable: Any], places: [Dictionary<AnyHashable, Any>.Index?])]

    /// - Parameter keys: The keys; at most eight.
    init(_ keys: [String]) {
        InternalChecks.require(keys.count <= 8, "\(keys.count) keys have too many combinations.")
        forms = (0..<1 << keys.count).map { combination in
            let included = keys.enumerated().map { number, key in combination & 1 << number == 0 ? nil : key }
            // Bounded: the keys stand here.
            let info = [AnyHashable: Any](uniqueKeysWithValues: included.compactMap { key in key.map { (AnyHashable($0), () as Any) } })
            return (info, included.map { key in key.flatMap { info.index(forKey: $0) } })
        }
    }

    /// Returns a user info.
    ///
    /// - Parameter values: A value for each key; nil if the key is not in it.
    func callAsFunction(_ values: [Any?]) -> [AnyHashable: Any] {
        var combination = 0
        for (number, value) in values.enumerated() where value != nil { combination |= 1 << number }
        let form = forms[combination]
        var info = form.info
        for (value, place) in zip(values, form.places) { if let value, let place { info.values[place] = value } }
        return info
    }
}
