#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// The settings that each transaction of a store makes on the server, for policies of row-level security.
struct DatabaseSettings: Sendable {
    let values: [String: String]
    /// The values in the order in which they are set.
    let sorted: [(name: String, value: String)]
    /// The statement that sets them until the end of the transaction; nil for none.
    let prelude: Call?
    /// The settings that the connections themselves rely on.
    private static let reserved: Set<String> = ["search_path", "client_encoding", "extra_float_digits"]

    /// - Throws: Code 134060 for an invalid name or value.
    init(_ values: [String: String]) throws {
        for (name, value) in values {
            let reason: String? =
                if name.isEmpty || name.contains("\0") || value.contains("\0") {
                    "PostgreSQL has no settings without a name, or with U+0000."
                } else if Self.reserved.contains(name.lowercased()) { "The store sets it itself." } else { nil }
            guard let reason else { continue }
            throw CoreDataError.make(
                NSCoreDataError, "The setting “\(name)” cannot be used.", reason: reason,
                next: "Use settings of the program's own, with a dot in the name, such as app.tenant, or of PostgreSQL, such as role.")
        }
        self.values = values
        // The role comes last: it may not be allowed to set the others.
        sorted = values.sorted { ($0.key == "role" ? 1 : 0, $0.key) < ($1.key == "role" ? 1 : 0, $1.key) }.map { ($0.key, $0.value) }
        prelude = values.isEmpty ? nil : Self.statement(sorted)
    }

    private init() { (values, sorted, prelude) = ([:], [], nil) }

    /// No settings.
    static let none = DatabaseSettings()

    /// Returns the statement that sets values until the end of the transaction.
    static func statement(_ settings: [(name: String, value: String)]) -> Call {
        let list = settings.indices.map { "set_config($\($0 * 2 + 1), $\($0 * 2 + 2), true)" }
        return Call("SELECT " + list.joined(separator: ", "), settings.flatMap { [.verbatim($0.name), .verbatim($0.value)] })
    }
}
#endif
