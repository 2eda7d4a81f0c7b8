internal import Foundation

/// Reads the header `Link` ([RFC 8288](https://www.rfc-editor.org/rfc/rfc8288), section 3): addresses with parameters, separated by commas, with blanks
/// wherever they may stand.
enum LinkHeader {
    /// Returns the address of a relation of the answer itself; nil if there is none.
    static func address(_ relation: String, in headers: [String]) -> String? {
        for header in headers {
            var rest = header[...]
            while let link = link(&rest) {
                // Of several `rel`, only the first one counts; with an anchor, the relation belongs to another resource.
                guard let names = link.parameters.first(where: { $0.name == "rel" })?.value,
                    !link.parameters.contains(where: { $0.name == "anchor" && !$0.value.isEmpty })
                else { continue }
                let isIt = names.split(whereSeparator: \.isWhitespace).contains { $0.lowercased() == relation.lowercased() }
                if isIt { return link.address }
            }
        }
        return nil
    }

    private typealias Link = (address: String, parameters: [(name: String, value: String)])

    /// Takes the next link from a header; nil if there are no more.
    private static func link(_ rest: inout Substring) -> Link? {
        guard let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") else { return nil }
        var link: Link = (String(rest[rest.index(after: open)..<close]).trimmingCharacters(in: .whitespaces), [])
        rest = rest[rest.index(after: close)...]
        while true {
            skipBlanks(&rest)
            guard rest.first == ";" else { return link }
            rest.removeFirst()
            skipBlanks(&rest)
            let name = take(&rest) { !$0.isWhitespace && !"=;,".contains($0) }
            skipBlanks(&rest)
            var value = ""
            if rest.first == "=" {
                rest.removeFirst()
                skipBlanks(&rest)
                value = rest.first == "\"" ? quoted(&rest) : take(&rest) { !$0.isWhitespace && !";,".contains($0) }
            }
            if !name.isEmpty { link.parameters.append((name.lowercased(), value)) }
        }
    }

    private static func skipBlanks(_ rest: inout Substring) { rest = rest.drop { $0.isWhitespace } }

    private static func take(_ rest: inout Substring, while isPart: (Character) -> Bool) -> String {
        let text = rest.prefix(while: isPart)
        rest = rest[text.endIndex...]
        return String(text)
    }

    /// Takes a text in quotation marks, in which a backslash escapes the next character.
    private static func quoted(_ rest: inout Substring) -> String {
        rest.removeFirst()
        var text = ""
        while let next = rest.popFirst(), next != "\"" {
            if next == "\\", let meant = rest.popFirst() { text.append(meant) } else { text.append(next) }
        }
        return text
    }
}
