internal import Foundation
@_spi(Stores) package import ObjectGraph
internal import SQLQueries

extension KeyColumns {
    /// Returns a written key, from a URI for example, in the form that rows have: `["7","red"]`, `["7", "red"]` and `[7, "red"]` are one key.
    ///
    /// - Returns: The key; a text that is not a key of the columns is returned unchanged.
    package func spelled(_ reference: NSManagedObjectID.Reference) -> NSManagedObjectID.Reference {
        switch (kind, reference) {
        case (.uuid, .string(let text)): return UUID(uuidString: text).map { .uuid($0) } ?? reference
        // A text that reads like a number or a UUID becomes one in a URI, unless it is escaped.
        case (.text, .integer(let number)) where isPlain: return .string(String(number))
        case (.text, .uuid(let uuid)) where isPlain: return .string(uuid.uuidString)
        case (.text, .string(let text)) where !isPlain:
            guard let parts = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [Any], parts.count == columns.count else {
                return reference
            }
            return Dialect.key(of: parts, columns).map { .string($0) } ?? reference
        default: return reference
        }
    }
}
