package import SQLQueries

/// The names of tables and columns, as databases and models have them.
package enum TableNames {
    /// Returns a name in SQL, always quoted: it may be a keyword.
    package static func identifier(_ name: String) -> SQLIdentifier { SQLIdentifier(name, isPlain: false) }

    /// Returns a name of the model as words in lower case: `LineItem` becomes `line_item`, `imageURL` becomes `image_url`.
    package static func words(_ name: String) -> String {
        let characters = Array(name)
        var result = ""
        for (index, character) in characters.enumerated() {
            // No name contains it.
            if character == "\0" { continue }
            let isUpper = character.isUppercase
            if isUpper, index > 0 {
                let before = characters[index - 1]
                let startsWord = index + 1 < characters.count && characters[index + 1].isLowercase
                if before.isLowercase || before.isNumber || (before.isUppercase && startsWord) { result += "_" }
            }
            result += isUpper ? character.lowercased() : String(character)
        }
        return result.isEmpty ? "_" : result
    }
}
