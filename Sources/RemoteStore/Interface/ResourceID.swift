public import Foundation
@_spi(Stores) internal import ObjectGraph

/// The identifier of a resource: the backend's name for an object.
///
/// An identifier is an integer, a string, a UUID, or a composite of several, for resources that are unique only within a parent. Every form becomes the key of
/// an `NSManagedObjectID`, whose URI identifies the object in later runs, too. Your own types conform to ``ResourceIdentifier``.
///
/// ```swift
/// let track: ResourceID = .composite([albumID, 3])
/// ```
public enum ResourceID: Hashable, Sendable, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    /// An integer.
    case integer(Int64)
    /// A string.
    case string(String)
    /// A UUID.
    case uuid(UUID)
    /// Several identifiers together, such as that of a parent and that of a resource within it.
    case composite([ResourceID])

    /// Creates an identifier from an integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates an identifier from a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an identifier from a value of another type.
    public init(_ value: some ResourceIdentifier) { self = value.resourceID }

    /// Returns the identifier as a value of another type; nil if it has another form.
    public func `as`<Identifier: ResourceIdentifier>(_ type: Identifier.Type = Identifier.self) -> Identifier? {
        Identifier(resourceID: self)
    }
}

/// A type whose values identify resources.
public protocol ResourceIdentifier: Hashable, Sendable {
    /// Creates a value from an identifier; nil if it has another form.
    init?(resourceID: ResourceID)
    /// The identifier.
    var resourceID: ResourceID { get }
}

extension ResourceID {
    /// Whether two identifiers are the same. Strings are compared by their bytes, as services do; `String` treats “é” as one scalar and “é” as two scalars as
    /// equal.
    public static func == (left: ResourceID, right: ResourceID) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left == right
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.uuid(let left), .uuid(let right)): left == right
        case (.composite(let left), .composite(let right)): left == right
        default: false
        }
    }

    /// Hashes the identifier, strings by their bytes.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .integer(let number): hasher.combine(number)
        case .string(var text): text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .uuid(let id): hasher.combine(id)
        case .composite(let parts): hasher.combine(parts)
        }
    }
}

extension ResourceID: ResourceIdentifier {
    /// Creates the identifier itself.
    public init?(resourceID: ResourceID) { self = resourceID }
    /// The identifier itself.
    public var resourceID: ResourceID { self }
}

extension Int: ResourceIdentifier {
    /// Creates a number from an integer.
    public init?(resourceID: ResourceID) {
        guard case .integer(let value) = resourceID, let number = Int(exactly: value) else { return nil }
        self = number
    }
    /// The number as an identifier.
    public var resourceID: ResourceID { .integer(Int64(self)) }
}

extension Int64: ResourceIdentifier {
    /// Creates a number from an integer.
    public init?(resourceID: ResourceID) {
        guard case .integer(let value) = resourceID else { return nil }
        self = value
    }
    /// The number as an identifier.
    public var resourceID: ResourceID { .integer(self) }
}

extension String: ResourceIdentifier {
    /// Creates the string from a string.
    public init?(resourceID: ResourceID) {
        guard case .string(let value) = resourceID else { return nil }
        self = value
    }
    /// The string as an identifier.
    public var resourceID: ResourceID { .string(self) }
}

extension UUID: ResourceIdentifier {
    /// Creates the UUID from a UUID.
    public init?(resourceID: ResourceID) {
        guard case .uuid(let value) = resourceID else { return nil }
        self = value
    }
    /// The UUID as an identifier.
    public var resourceID: ResourceID { .uuid(self) }
}

extension ResourceID: CustomStringConvertible {
    /// The identifier as text, for people.
    public var description: String {
        switch self {
        case .integer(let value): "\(value)"
        case .string(let value): value
        case .uuid(let value): value.uuidString
        case .composite(let parts): "(" + parts.map(\.description).joined(separator: ", ") + ")"
        }
    }

    // MARK: Keys

    /// The key in an `NSManagedObjectID`. A composite key is a string that begins with a parenthesis. A string that begins with a parenthesis or a tilde gets a
    /// tilde as a prefix.
    var reference: NSManagedObjectID.Reference {
        switch self {
        case .integer(let value): .integer(value)
        case .uuid(let value): .uuid(value)
        case .string(let text): .string(text.hasPrefix("(") || text.hasPrefix("~") ? "~" + text : text)
        case .composite: .string(encoded)
        }
    }

    /// Creates the identifier of a key; nil for a temporary key, and for text that is not a valid key.
    init?(_ reference: NSManagedObjectID.Reference) {
        switch reference {
        case .integer(let value): self = .integer(value)
        case .uuid(let value): self = .uuid(value)
        case .temporary: return nil
        case .string(let text):
            if text.hasPrefix("~") {
                self = .string(String(text.dropFirst()))
            } else if text.hasPrefix("(") {
                var rest = Substring(text)
                guard let decoded = Self.decode(&rest), rest.isEmpty else { return nil }
                self = decoded
            } else {
                self = .string(text)
            }
        }
    }

    /// The parts, each with its kind and, for a string, its length, so that no character needs to be escaped.
    var encoded: String {
        switch self {
        case .integer(let value): "i\(value);"
        case .uuid(let value): "u\(value.uuidString)"
        case .string(let text): "s\(text.unicodeScalars.count);\(text)"
        case .composite(let parts): "(" + parts.map(\.encoded).joined() + ")"
        }
    }

    /// Creates the identifier from the text of ``encoded``.
    init?(encoded text: String) {
        var rest = Substring(text)
        guard let decoded = Self.decode(&rest), rest.isEmpty else { return nil }
        self = decoded
    }

    private static func decode(_ rest: inout Substring) -> ResourceID? {
        // The text is read by scalars: otherwise a delimiter and a combining mark after it would be one character.
        func take(_ count: Int) -> String? {
            let scalars = rest.unicodeScalars
            guard let end = scalars.index(scalars.startIndex, offsetBy: count, limitedBy: scalars.endIndex) else { return nil }
            let taken = String(scalars[..<end])
            rest = Substring(scalars[end...])
            return taken
        }
        func takeNumber() -> Int64? {
            guard let end = rest.unicodeScalars.firstIndex(of: ";") else { return nil }
            let number = Int64(rest.unicodeScalars[..<end].map(String.init).joined())
            rest = Substring(rest.unicodeScalars[rest.unicodeScalars.index(after: end)...])
            return number
        }
        switch take(1) {
        case "i": return takeNumber().map { .integer($0) }
        case "u": return take(36).flatMap(UUID.init(uuidString:)).map { .uuid($0) }
        case "s":
            guard let count = takeNumber(), count >= 0 else { return nil }
            return take(Int(count)).map { .string($0) }
        case "(":
            var parts: [ResourceID] = []
            while let next = rest.unicodeScalars.first, next != ")" {
                guard let part = decode(&rest) else { return nil }
                parts.append(part)
            }
            return take(1) == ")" ? .composite(parts) : nil
        default: return nil
        }
    }
}

/// The state of a resource, by which older and newer answers are distinguished and changes of others are detected.
public enum ResourceVersion: Hashable, Sendable {
    /// A number that every change increases, such as a revision or a time of the server.
    case number(Int64)
    /// A mark that every change replaces, such as an ETag. Marks have no order.
    case tag(String)
}

extension ResourceVersion {
    /// The version as text, which ``init(encoded:)`` reads.
    var encoded: String {
        switch self {
        case .number(let number): "n\(number)"
        case .tag(let tag): "t\(tag)"
        }
    }

    init?(encoded text: String) {
        let rest = text.dropFirst()
        switch text.first {
        case "n": guard let number = Int64(rest) else { return nil }; self = .number(number)
        case "t": self = .tag(String(rest))
        default: return nil
        }
    }
}
