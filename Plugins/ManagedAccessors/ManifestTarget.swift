import Foundation

/// The argument `exclude:` of a target in a package manifest, which plugins are not told.
///
/// Only literals are read: of a manifest that computes it nothing is known.
struct ManifestTarget {
    /// The excluded paths, relative to the target's directory; nil where they are not an array of string literals.
    let excluded: [String]?

    /// Finds the target called `name` in the manifest of a package; fails where it is not there by that name.
    init?(_ name: String, inPackageAt folder: URL) {
        guard let text = try? String(contentsOf: folder.appending(path: "Package.swift"), encoding: .utf8) else { return nil }
        let tokens = Self.tokens(of: text)
        for (index, token) in tokens.enumerated() where token == "(" && index > 0 && tokens[index - 1].lowercased().hasSuffix("target") {
            let arguments = Self.arguments(tokens[(index + 1)...])
            guard arguments["name"] == ["\"\(name)\""] else { continue }
            guard let list = arguments["exclude"] else {
                excluded = []
                return
            }
            let strings = list.filter { $0.hasPrefix("\"") }
            let isLiteral = list.first == "[" && list.last == "]" && list.allSatisfy { $0.hasPrefix("\"") || ["[", "]", ","].contains($0) }
            excluded = isLiteral && !strings.contains { $0.contains("\\") } ? strings.map { String($0.dropFirst().dropLast()) } : nil
            return
        }
        return nil
    }

    /// Returns the arguments of a call by their labels, from the tokens after its opening parenthesis.
    private static func arguments(_ tokens: ArraySlice<String>) -> [String: [String]] {
        var arguments: [String: [String]] = [:]
        var current: [String] = []
        var depth = 0
        func finish() {
            if current.count > 2, current[1] == ":" { arguments[current[0]] = Array(current[2...]) }
            current = []
        }
        for token in tokens {
            if ["(", "[", "{"].contains(token) { depth += 1 }
            if [")", "]", "}"].contains(token) { depth -= 1 }
            if depth < 0 { break }
            if depth == 0, token == "," { finish() } else { current.append(token) }
        }
        finish()
        return arguments
    }

    /// Returns the words, string literals and other characters of a source, without comments.
    private static func tokens(of text: String) -> [String] {
        var tokens: [String] = []
        var rest = text[...]
        while let first = rest.first {
            if first.isWhitespace {
                rest.removeFirst()
            } else if rest.hasPrefix("//") {
                rest = rest.drop { !$0.isNewline }
            } else if rest.hasPrefix("/*") {
                rest = rest.range(of: "*/").map { rest[$0.upperBound...] } ?? ""
            } else if first == "\"" {
                var end = rest.index(after: rest.startIndex)
                while end < rest.endIndex, rest[end] != "\"", !rest[end].isNewline {
                    if rest[end] == "\\" { end = rest.index(after: end) }
                    if end < rest.endIndex { end = rest.index(after: end) }
                }
                tokens.append(String(rest[..<end]) + "\"")
                rest = end < rest.endIndex ? rest[rest.index(after: end)...] : ""
            } else if first.isLetter || first == "_" {
                let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                tokens.append(String(word))
                rest = rest[word.endIndex...]
            } else {
                tokens.append(String(first))
                rest.removeFirst()
            }
        }
        return tokens
    }
}
