/// The names in SQL.
package enum SQLWords {
    /// The closing quotation marks, by their opening ones.
    private static let ends: [Character: Character] = ["\"": "\"", "`": "`", "[": "]", "'": "'"]

    private static func isOfWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_" || character == "$"
    }

    /// Returns the words of an expression in lower case, including those in quotation marks. Some of them are not names.
    package static func of(_ sql: String) -> Set<String> {
        var words: Set<String> = []
        var word = ""
        var quotation: Character?
        for character in sql + " " {
            if let end = quotation {
                if character != end {
                    word.append(character)
                    continue
                }
                quotation = nil
            } else if isOfWord(character) {
                word.append(character)
                continue
            } else {
                quotation = ends[character]
            }
            if !word.isEmpty { words.insert(word.lowercased()) }
            word = ""
        }
        return words
    }

    /// Returns the text after a word that is outside of parentheses and quotation marks; nil if there is no such word.
    package static func after(_ wanted: String, in sql: String) -> String? {
        var depth = 0
        var quotation: Character?
        var word = ""
        var index = sql.startIndex
        while index < sql.endIndex {
            let character = sql[index]
            let next = sql.index(after: index)
            if let end = quotation {
                if character == end { quotation = nil }
            } else if isOfWord(character) {
                word.append(character)
                let isLast = next == sql.endIndex || !isOfWord(sql[next])
                if isLast, depth == 0, word.uppercased() == wanted { return String(sql[next...]) }
            } else {
                if character == "(" { depth += 1 } else if character == ")" { depth -= 1 }
                quotation = ends[character]
                word = ""
            }
            index = next
        }
        return nil
    }
}
