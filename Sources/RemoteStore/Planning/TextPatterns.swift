internal import Predicates

extension PredicateComparison {
    /// The comparison as one that says the same without a pattern: `LIKE 'a*'` is `BEGINSWITH 'a'`. Itself where there is none.
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
        // An empty text begins and ends no text.
        if text.isEmpty { return self }
        var plain = self
        plain.operator = beginsOpen ? (endsOpen ? .contains : .endsWith) : endsOpen ? .beginsWith : .equal
        plain.right = .constant(.string(text))
        return plain
    }
}

extension Parameter {
    /// The pattern by which a parameter for `LIKE` compares a part of a text; nil where it takes the comparison itself, or no pattern.
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

    /// Whether it can be given the texts of a comparison as what they are.
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
