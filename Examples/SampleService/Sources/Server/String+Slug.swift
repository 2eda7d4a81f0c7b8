extension String {
    /// Returns the string as a part of a URL: lower-case ASCII letters and digits with single hyphens between the words.
    ///
    /// - Parameter fallback: The result for a string without such characters, such as a title in Japanese.
    func slug(or fallback: String) -> String {
        let words = lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        return words.isEmpty ? fallback : words.joined(separator: "-")
    }
}
