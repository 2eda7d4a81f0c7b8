public import Foundation

extension NSManagedObjectID {
    /// Returns a URI that identifies the object also in later runs: `x-coredata://<store UUID>/<entity>/p<key>`.
    ///
    /// The URI of a temporary ID (`x-coredata:///<entity>/t<UUID>`) is valid in this run only.
    public func uriRepresentation() -> URL {
        let name = Self.escape(owningEntity.name ?? "")
        let text =
            switch reference {
            case .temporary(let uuid): "x-coredata:///\(name)/t\(uuid.uuidString)"
            default: "x-coredata://\(Self.escape(token?.identifier ?? ""))/\(name)/p\(reference.uriComponent)"
            }
        return URL(string: text) ?? URL(fileURLWithPath: "/")
    }

    static func escape(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .coreDataKey) ?? ""
    }
}

extension CharacterSet {
    fileprivate static let coreDataKey = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

extension NSManagedObjectID.Reference {
    /// The key in a URI. The first character of a string that reads like a number or a UUID is escaped.
    fileprivate var uriComponent: String {
        switch self {
        case .integer(let value): return String(value)
        case .uuid(let uuid), .temporary(let uuid): return uuid.uuidString
        case .string(let text):
            guard Self.parsePlain(text) != nil, let first = text.utf8.first else { return NSManagedObjectID.escape(text) }
            return String(format: "%%%02X", first) + NSManagedObjectID.escape(String(text.dropFirst()))
        }
    }

    private static func parsePlain(_ text: String) -> Self? {
        if let value = Int64(text), String(value) == text { return .integer(value) }
        if text.utf8.count == 36, let uuid = UUID(uuidString: text), uuid.uuidString == text { return .uuid(uuid) }
        return nil
    }

    /// Creates the key from a URI component.
    init?(uriComponent: Substring) {
        let text = String(uriComponent)
        if let plain = Self.parsePlain(text) {
            self = plain
        } else if let decoded = text.removingPercentEncoding {
            self = .string(decoded)
        } else {
            return nil
        }
    }

    /// Creates the key from a store's reference object: a string, an integer or a UUID; nil for anything else.
    init?(_ object: Any) {
        switch object {
        case let text as String: self = .string(text)
        case let uuid as UUID: self = .uuid(uuid)
        case let number as any BinaryInteger:
            guard let value = Int64(exactly: number) else { return nil }
            self = .integer(value)
        case let number as NSNumber:
            guard NSNumber(value: number.int64Value) == number else { return nil }
            self = .integer(number.int64Value)
        default: return nil
        }
    }

    /// The key as the store's reference object: a `String`, an `NSNumber` or a `UUID`.
    var object: Any {
        switch self {
        case .integer(let value): NSNumber(value: value)
        case .string(let text): text
        case .uuid(let uuid), .temporary(let uuid): uuid
        }
    }
}

/// The components of an object's URI.
struct ObjectURI {
    let storeIdentifier: String
    let entityName: String
    let reference: NSManagedObjectID.Reference

    /// Parses the URI of a permanent ID; nil if `url` is not one.
    init?(_ url: URL) {
        let prefix = "x-coredata://"
        let text = url.absoluteString
        guard text.hasPrefix(prefix) else { return nil }
        let parts = text.dropFirst(prefix.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].first == "p", let store = String(parts[0]).removingPercentEncoding, !store.isEmpty,
            let entity = String(parts[1]).removingPercentEncoding,
            let reference = NSManagedObjectID.Reference(uriComponent: parts[2].dropFirst())
        else { return nil }
        storeIdentifier = store
        entityName = entity
        self.reference = reference
    }
}
