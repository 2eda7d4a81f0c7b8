/// A word of a format string and where it begins.
struct FormatToken {
    /// What a word of a format string can be.
    enum Kind: Equatable {
        /// A name; keywords are names until the parser knows better.
        case identifier(String)
        /// A name with a number sign, which is never a keyword.
        case escapedIdentifier(String)
        /// `@count` and its like.
        case collectionOperator(String)
        /// `$name`, without the sign.
        case variable(String)
        /// A number or a string, and which text it was.
        case literal(PropertyValue)
        /// `%@` and its like.
        case placeholder(Placeholder)
        /// Punctuation and operators, as written.
        case symbol(String)
        /// Nothing more.
        case end
    }

    /// What an argument stands for.
    enum Placeholder: Equatable {
        /// `%@`
        case value
        /// `%K`
        case key
        /// `%d` and the other integers.
        case integer
        /// `%f` and the other floating-point numbers.
        case double
        /// `%c`
        case character
        /// `%s`
        case text
    }

    let kind: Kind
    /// The distance from the beginning of the format, in UTF-8 bytes.
    let start: Int

    /// Whether the word is this punctuation.
    func isSymbol(_ symbol: String) -> Bool {
        if case .symbol(let own) = kind { return own == symbol }
        return false
    }

    /// The name in upper case, as keywords are compared; nothing for any other word.
    var uppercasedName: String {
        if case .identifier(let name) = kind { return name.uppercased() }
        return ""
    }

    /// The token in words for messages.
    var name: String {
        switch kind {
        case .identifier(let name): "\"\(name)\""
        case .escapedIdentifier(let name): "\"#\(name)\""
        case .collectionOperator(let name): "\"\(name)\""
        case .variable(let name): "\"$\(name)\""
        case .literal(.string): "a string"
        case .literal: "a number"
        case .placeholder: "a placeholder"
        case .symbol(let symbol): "\"\(symbol)\""
        case .end: "the end of the format"
        }
    }
}
