/// A token of a format string and its position.
struct FormatToken {
    /// The kinds of token.
    enum Kind: Equatable {
        /// A name; the parser recognizes keywords.
        case identifier(String)
        /// A name with a number sign, which is never a keyword.
        case escapedIdentifier(String)
        /// A collection operator such as `@count`.
        case collectionOperator(String)
        /// `$name`, without the sign.
        case variable(String)
        /// A number or a string, and its text.
        case literal(PropertyValue)
        /// A placeholder such as `%@`.
        case placeholder(Placeholder)
        /// Punctuation and operators, unchanged.
        case symbol(String)
        /// The end of the format.
        case end
    }

    /// The types of placeholder.
    enum Placeholder: Equatable {
        /// `%@`
        case value
        /// `%K`
        case key
        /// `%d` and other integer placeholders.
        case integer
        /// `%f` and other floating-point placeholders.
        case double
        /// `%c`
        case character
        /// `%s`
        case text
    }

    let kind: Kind
    /// The offset from the start of the format, in UTF-8 bytes.
    let start: Int

    /// Returns whether the token is a symbol.
    func isSymbol(_ symbol: String) -> Bool {
        if case .symbol(let own) = kind { return own == symbol }
        return false
    }

    /// The name in upper case, for comparison with keywords; empty for other tokens.
    var uppercasedName: String {
        if case .identifier(let name) = kind { return name.uppercased() }
        return ""
    }

    /// A description of the token for messages.
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
