extension String {
    /// Returns the text in quotation marks, with all characters escaped that would end or change it, as in format strings and Swift's sources.
    ///
    /// - Parameter escapesInvisible: Whether invisible characters are escaped, too, in a form that Swift reads and format strings do not.
    package func quoted(escapesInvisible: Bool = false) -> String {
        var result = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            case _ where escapesInvisible && scalar.isInvisible: result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension Unicode.Scalar {
    /// Whether it is a control character, the end of a line, or the mark of the order of bytes.
    fileprivate var isInvisible: Bool {
        switch self {
        case "\0"..."\u{1F}", "\u{7F}", "\u{2028}", "\u{2029}", "\u{FEFF}": true
        default: false
        }
    }
}
