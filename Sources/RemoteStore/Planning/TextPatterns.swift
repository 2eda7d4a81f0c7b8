internal import Predicates

extension PredicateComparison {
    /// An equivalent comparison without a pattern: `LIKE 'a*'` becomes `BEGINSWITH 'a'`. The comparison itself if there is none.
    var withoutPattern: PredicateComparison {
        guard self.operator == .like, case .string(let pattern)? = right.constantValue else { return self }
        var elements = LikePattern(pattern).elements[...]
        let beginsOpen = elements.first == .anyNumber
        if beginsOpen { elements.removeFirst() }
        let endsOpen = elements.last == .anyNumber
        if endsOpen { elements.removeLast() }
        var text = ""
        for element in elements {
            guard case .character(let character) = element else { return self }
            text.append(character)
        }
        // No text begins or ends with an empty text.
        if text.isEmpty { return self }
        var plain = self
        plain.operator = beginsOpen ? (endsOpen ? .contains : .endsWith) : endsOpen ? .beginsWith : .equal
        plain.right = .constant(.string(text))
        return plain
    }
}

extension Parameter {
    /// Returns the pattern by which a parameter for `LIKE` compares a part of a text; nil if it supports the comparison itself, or no pattern.
    func pattern(_ comparison: Operator, _ values: [PropertyValue]) -> PropertyValue? {
        guard !operators.contains(comparison), operators.contains(.like), case .string(let text)? = values.first else { return nil }
        let part = text.map { "*?\\".contains($0) ? "\\\($0)" : "\($0)" }.joined()
        switch comparison {
        case .beginsWith: return .string(part + "*")
        case .endsWith: return .string("*" + part)
        case .contains: return .string("*" + part + "*")
        default: return nil
        }
    }

    /// Whether the texts of a comparison can be passed literally.
    func takes(_ clause: Clause) -> Bool {
        if reserved.isEmpty { return true }
        func takes(_ text: String) -> Bool { !reserved.contains { !$0.isEmpty && text.contains($0) } }
        func takes(_ id: ResourceID) -> Bool {
            switch id {
            case .string(let text): takes(text)
            case .composite(let parts): parts.allSatisfy { takes($0) }
            case .integer, .uuid: true
            }
        }
        return (clause.ids ?? []).allSatisfy { takes($0) }
            && clause.values.allSatisfy { if case .string(let text) = $0 { takes(text) } else { true } }
    }
}
