extension String {
    /// The string as a part of an address: lower-case ASCII letters and digits with single hyphens between the words.
    ///
    /// - Parameter fallback: What to use when nothing of the string is left, as of a title in Japanese.
    func slug(or fallback: String) -> String {
        let words = lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        return words.isEmpty ? fallback : words.joined(separator: "-")
    }
}
