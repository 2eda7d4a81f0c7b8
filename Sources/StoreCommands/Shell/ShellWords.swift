/// Splits a line of the shell into words, by the rules of common shells.
package enum ShellWords {
    /// The result for a text.
    package enum Result: Equatable, Sendable {
        case words([String])
        /// A quote is open, or the last line ends with a backslash: more lines must follow.
        case unfinished
    }

    /// Splits a text. Blanks separate words. Quotes of both kinds keep blanks and line ends, and a backslash keeps the next character.
    package static func split(_ text: String) -> Result {
        var (words, word) = ([String](), "")
        var isInWord = false
        var quote: Character?
        var rest = Substring(text)
        while let character = rest.popFirst() {
            switch (character, quote) {
            case ("\\", nil), ("\\", "\""):
                guard let next = rest.popFirst() else { return .unfinished }
                // A line end is dropped with its backslash.
                if next.isNewline { continue }
                // Within quotes, a backslash is literal unless the next character needs it.
                word += quote == nil || next == "\"" || next == "\\" ? String(next) : "\\\(next)"
                isInWord = true
            case (let character, .some(let open)) where character == open: quote = nil
            case (let character, .some): word.append(character)
            case ("'", nil), ("\"", nil):
                quote = character
                isInWord = true
            case (let character, nil) where character.isWhitespace:
                if isInWord { words.append(word) }
                (word, isInWord) = ("", false)
            case ("#", nil) where !isInWord: rest = rest.drop { !$0.isNewline }
            case (let character, nil):
                word.append(character)
                isInWord = true
            }
        }
        if quote != nil { return .unfinished }
        if isInWord { words.append(word) }
        return .words(words)
    }
}
