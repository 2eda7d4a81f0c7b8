internal import Foundation

/// Reads the header `Link` (RFC 8288).
enum LinkHeader {
    /// Returns the address of a relation; nil where there is none.
    static func address(_ relation: String, in headers: [String]) -> String? {
        for header in headers {
            var rest = header[...]
            while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
                let address = String(rest[rest.index(after: open)..<close])
                let after = rest[rest.index(after: close)...]
                // The parameters end where the next address begins.
                let end = after.firstIndex(of: "<") ?? after.endIndex
                let parameters = after[..<end].split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces.union([","])) }
                for parameter in parameters where parameter.lowercased().hasPrefix("rel=") {
                    let names = parameter.dropFirst(4).trimmingCharacters(in: ["\"", "'"]).split(separator: " ")
                    if names.contains(where: { $0.lowercased() == relation.lowercased() }) { return address }
                }
                rest = after[end...]
            }
        }
        return nil
    }
}
