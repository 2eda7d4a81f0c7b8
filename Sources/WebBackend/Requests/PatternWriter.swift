internal import Predicates

extension FilterStyle.Wildcards {
    /// Returns a pattern of `LIKE` with these wildcards. Parts that they cannot express match more.
    func pattern(_ text: String) -> String {
        LikePattern(text).elements.map { element in
            switch element {
            case .anyNumber: return String(any)
            case .any: return String(one ?? any)
            case .character(let character):
                guard character == any || character == one || character == escape else { return String(character) }
                return (escape.map { String($0) } ?? "") + String(character)
            }
        }.joined()
    }
}
