/// The headers of a message: case-insensitive names with values, in order.
public struct WebHeaders: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// A header.
    public struct Field: Hashable, Sendable, Codable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String

        /// Creates a header.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The headers, in order.
    public var fields: [Field] = []

    /// Creates headers.
    public init(_ fields: [Field] = []) { self.fields = fields }
    /// Creates headers from names and values.
    public init(dictionaryLiteral elements: (String, String)...) { fields = elements.map { Field($0.0, $0.1) } }

    /// The first value of a header. Setting it replaces all headers of the name; setting nil removes them.
    public subscript(name: String) -> String? {
        get { fields.first { Self.equal($0.name, name) }?.value }
        set {
            let place = fields.firstIndex { Self.equal($0.name, name) } ?? fields.count
            fields.removeAll { Self.equal($0.name, name) }
            if let newValue { fields.insert(Field(name, newValue), at: min(place, fields.count)) }
        }
    }

    /// Returns all values of a header.
    public func all(_ name: String) -> [String] { fields.filter { Self.equal($0.name, name) }.map(\.value) }

    /// Adds a header, and keeps those of the same name.
    public mutating func add(_ name: String, _ value: String) { fields.append(Field(name, value)) }

    /// Returns whether two names are equal, regardless of case.
    static func equal(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count && zip(left.utf8, right.utf8).allSatisfy { $0 | 0x20 == $1 | 0x20 }
    }
}
