internal import Foundation
@_spi(Stores) package import ObjectGraph
internal import SQLQueries

extension KeyColumns {
    /// Returns a key that somebody has written, in a URI for example, as rows have it: `["7","red"]`, `["7", "red"]` and `[7, "red"]` are one key.
    ///
    /// - Returns: The key; one that is none of the columns as it is.
    package func spelled(_ reference: NSManagedObjectID.Reference) -> NSManagedObjectID.Reference {
        switch (kind, reference) {
        case (.uuid, .string(let text)): return UUID(uuidString: text).map { .uuid($0) } ?? reference
        // What reads like a number or a UUID is one in a URI, unless it is escaped.
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
