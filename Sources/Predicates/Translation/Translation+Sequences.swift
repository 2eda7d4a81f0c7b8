internal import Foundation

extension PredicateTranslation {
    /// Translates the elements of a collection that match, and their count.
    fileprivate func count<Sequence: PredicateExpression, Element, Test: PredicateExpression>(
        of sequence: Sequence, where variable: PredicateExpressions.Variable<Element>, _ test: Test, negated: Bool
    ) throws -> ExpressionTree {
        try elements(of: sequence, where: variable, test, negated: negated).appending(["@count"])
    }

    fileprivate func elements<Sequence: PredicateExpression, Element, Test: PredicateExpression>(
        of sequence: Sequence, where variable: PredicateExpressions.Variable<Element>, _ test: Test, negated: Bool = false
    ) throws -> ExpressionTree {
        if Sequence.Output.self is any StringProtocol.Type { throw failure(sequence, "a text has no elements that could be tested") }
        let collection = try expression(sequence)
        let name = bindElement(variable)
        return .subquery(collection, variable: name, try predicate(test, negated: negated))
    }

    /// Returns the Swift source of a closure.
    fileprivate func writtenClosure<Element, Test: PredicateExpression>(
        _ variable: PredicateExpressions.Variable<Element>, _ test: Test
    ) -> String {
        _ = bindElement(variable)
        return "{ \(sourceText(variable)) in \(sourceText(test)) }"
    }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        let count = try translation.count(of: sequence, where: variable, test, negated: false)
        return .predicate(.compare(count, negated ? .equal : .greaterThan, .constant(.int64(0))))
    }

    func sourceText(by translation: PredicateTranslation) -> String {
        "\(translation.sourceText(sequence)).contains \(translation.writtenClosure(variable, test))"
    }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        let count = try translation.count(of: sequence, where: variable, test, negated: true)
        return .predicate(.compare(count, negated ? .greaterThan : .equal, .constant(.int64(0))))
    }

    func sourceText(by translation: PredicateTranslation) -> String {
        "\(translation.sourceText(sequence)).allSatisfy \(translation.writtenClosure(variable, test))"
    }
}

extension PredicateExpressions.Filter: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        .expression(try translation.elements(of: sequence, where: variable, filter))
    }

    func sourceText(by translation: PredicateTranslation) -> String {
        "\(translation.sourceText(sequence)).filter \(translation.writtenClosure(variable, filter))"
    }
}

extension PredicateExpressions.SequenceContains: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        let value = try translation.expression(element)
        if let range = try (sequence as? any RangeNode)?.range(by: translation) {
            return .predicate(range.contains(value).negated(negated))
        }
        let collection = try translation.expression(sequence)
        if LHS.Output.self is any StringProtocol.Type {
            return .predicate(PredicateTree.compare(collection, .contains, value).negated(negated))
        }
        guard RHS.Output.self is any OptionalValue.Type else {
            return .predicate(PredicateTree.compare(value, .isIn, collection).negated(negated))
        }
        // The language finds nil in no collection, and is unknown for a value outside of a collection that contains nil.
        guard case .constant(let constant) = collection, let elements = constant.elements else {
            throw translation.failure(self, "whether nil is in a collection can be asked of constants only")
        }
        let found = PredicateTree.compare(value, .isIn, .constant(.array(elements.filter { !$0.isNull })))
        switch (elements.contains(.null), negated) {
        case (true, false): return .predicate(.some(found, value.isNil))
        case (true, true): return .predicate(.every(.not(found), value.isNotNil))
        case (false, false): return .predicate(.every(found, value.isNotNil))
        case (false, true): return .predicate(.some(.not(found), value.isNil))
        }
    }

    func sourceText(by translation: PredicateTranslation) -> String {
        "\(translation.sourceText(sequence)).contains(\(translation.sourceText(element)))"
    }
}

extension PredicateExpressions.SequenceMinimum: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        if Elements.Output.self is any StringProtocol.Type { throw translation.failure(self, "a text has no elements") }
        return .expression(try translation.expression(elements).appending(["@min", "self"]))
    }

    func sourceText(by translation: PredicateTranslation) -> String { "\(translation.sourceText(elements)).min()" }
}

extension PredicateExpressions.SequenceMaximum: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        if Elements.Output.self is any StringProtocol.Type { throw translation.failure(self, "a text has no elements") }
        return .expression(try translation.expression(elements).appending(["@max", "self"]))
    }

    func sourceText(by translation: PredicateTranslation) -> String { "\(translation.sourceText(elements)).max()" }
}

// MARK: Elements

extension PredicateExpressions.CollectionIndexSubscript: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        guard Wrapped.Output.self is any RandomAccessCollection.Type, Index.Output.self == Int.self, Wrapped.Output.self != Data.self else {
            throw translation.failure(self, "only an array can be asked for an element")
        }
        return .expression(.element(try translation.expression(wrapped), .at(try translation.expression(index))))
    }

    func sourceText(by translation: PredicateTranslation) -> String {
        "\(translation.sourceText(wrapped))[\(translation.sourceText(index))]"
    }
}

extension PredicateExpressions.CollectionRangeSubscript: SourceRepresentable {
    func sourceText(by translation: PredicateTranslation) -> String {
        "\(translation.sourceText(wrapped))[\(translation.sourceText(range))]"
    }
}

extension PredicateExpressions.DictionaryKeySubscript: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        guard Key.Output.self == String.self else { throw translation.failure(self, "only a dictionary with text keys can be asked") }
        return .expression(.element(try translation.expression(wrapped), .at(try translation.expression(key))))
    }

    func sourceText(by translation: PredicateTranslation) -> String { "\(translation.sourceText(wrapped))[\(translation.sourceText(key))]" }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        guard Key.Output.self == String.self else { throw translation.failure(self, "only a dictionary with text keys can be asked") }
        let value = ExpressionTree.element(try translation.expression(wrapped), .at(try translation.expression(key)))
        return .expression(.conditional(value.isNotNil, value, try translation.expression(`default`)))
    }

    func sourceText(by translation: PredicateTranslation) -> String {
        "\(translation.sourceText(wrapped))[\(translation.sourceText(key)), default: \(translation.sourceText(`default`))]"
    }
}
