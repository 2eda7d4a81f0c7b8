/// Text with places in braces, such as `bands/{band}/albums` or `min_{name}={value}`.
struct Template: Hashable, Sendable {
    /// A part of a template.
    enum Part: Hashable, Sendable {
        case text(String)
        case place(String)
    }

    let parts: [Part]

    /// Creates a template from its text. An unpaired brace is text.
    init(_ text: String) {
        var parts: [Part] = []
        var rest = text[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            let name = rest[rest.index(after: open)..<close]
            let isPlace = !name.isEmpty && name.allSatisfy { $0.isLetter || $0.isNumber || "._@".contains($0) }
            guard isPlace else {
                // A brace of JSON, with a place within it.
                parts.append(.text(String(rest[...open])))
                rest = rest[rest.index(after: open)...]
                continue
            }
            if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
            parts.append(.place(String(name)))
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        self.parts = parts
    }

    /// The names of the places, in order.
    var places: [String] { parts.compactMap { if case .place(let name) = $0 { name } else { nil } } }

    /// Returns the text with values in the places.
    func filled(_ value: (String) throws -> String) rethrows -> String {
        try parts.reduce(into: "") { text, part in
            switch part {
            case .text(let part): text += part
            case .place(let name): text += try value(name)
            }
        }
    }

    /// Returns the two templates around the first equals sign; nil if there is none.
    static func parameter(_ text: String) -> (name: Template, value: Template)? {
        guard let equals = text.firstIndex(of: "=") else { return nil }
        return (Template(String(text[..<equals])), Template(String(text[text.index(after: equals)...])))
    }
}

/// Encodes text for addresses.
enum PercentEncoding {
    /// Returns text with all characters encoded except letters, digits and `-._~`.
    static func encoded(_ text: String, keeping kept: StaticString = "") -> String {
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: result.append(byte)
            default:
                if kept.withUTF8Buffer({ $0.contains(byte) }) {
                    result.append(byte)
                } else {
                    result.append(0x25)
                    result.append(digit(byte >> 4))
                    result.append(digit(byte & 15))
                }
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x41 + value - 10 }

    /// Returns text as one component of a path; nil for empty text, and for text that would lead elsewhere, such as `..`.
    static func component(_ text: String) -> String? { text.isEmpty || text == "." || text == ".." ? nil : encoded(text) }
}
