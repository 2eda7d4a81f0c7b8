internal import Foundation

extension PredicateExpressions.Variable: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        guard let expression = translation.expression(of: key) else {
            throw InvalidPredicateError(kind: .unboundVariable, message: "A variable of type \(Output.self) stands for nothing")
        }
        return .expression(expression)
    }

    func sourceText(by translation: PredicateTranslation) -> String { translation.name(of: key) }
}

extension PredicateExpressions.Value: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        do {
            return .expression(.constant(try PropertyValue(any: value)))
        } catch let error as InvalidPredicateError {
            throw translation.failure(self, error.message)
        }
    }

    func sourceText(by translation: PredicateTranslation) -> String {
        switch value {
        case let text as String: return String(reflecting: text)
        case is any BinaryInteger, is any BinaryFloatingPoint, is Bool, is Decimal, is Date, is UUID, is URL: return "\(value)"
        default: return "\(Output.self)"
        }
    }
}

extension PredicateExpressions.KeyPath: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        let base = try translation.expression(root)
        if let kind {
            if Root.Output.self is any StringProtocol.Type {
                switch kind {
                case .collectionCount: return .expression(base.appending(["length"]))
                case .collectionIsEmpty:
                    return .predicate(.compare(base, negated ? .notEqual : .equal, .constant(.string(""))))
                default: throw translation.failure(self, "a character of a text cannot be asked for")
                }
            }
            if Root.Output.self == Data.self { throw translation.failure(self, "data cannot be looked into") }
            switch kind {
            case .collectionCount: return .expression(base.appending(["@count"]))
            case .collectionIsEmpty:
                return .predicate(.compare(base.appending(["@count"]), negated ? .notEqual : .equal, .constant(.int64(0))))
            case .collectionFirst, .bidirectionalCollectionLast:
                guard Root.Output.self is any RandomAccessCollection.Type else {
                    throw translation.failure(self, "\(Root.Output.self) has no order")
                }
                return .expression(.element(base, kind == .collectionFirst ? .first : .last))
            }
        }
        let plain: AnyKeyPath = keyPath
        if plain == \NSOrderedSet.count || plain == \NSSet.count || plain == \NSArray.count {
            return .expression(base.appending(["@count"]))
        }
        do {
            let names = try KeyPathNames.names(of: keyPath)
            return .expression(names.isEmpty ? base : base.appending(names))
        } catch let error as InvalidPredicateError {
            throw InvalidPredicateError(kind: error.kind, message: "`\(translation.sourceText(self))`: \(error.message)")
        }
    }

    func sourceText(by translation: PredicateTranslation) -> String {
        let root = translation.sourceText(root)
        switch kind {
        case .collectionCount: return "\(root).count"
        case .collectionIsEmpty: return "\(root).isEmpty"
        case .collectionFirst: return "\(root).first"
        case .bidirectionalCollectionLast: return "\(root).last"
        case nil: break
        }
        let plain: AnyKeyPath = keyPath
        if plain == \String.first || plain == \String.last { return root + (plain == \String.first ? ".first" : ".last") }
        if let names = try? KeyPathNames.names(of: keyPath) { return ([root] + names).joined(separator: ".") }
        return "\(root)[keyPath: \(keyPath)]"
    }
}

// MARK: Casts

extension PredicateTranslation {
    /// Returns the translation of a cast that always succeeds: its input.
    fileprivate func cast<Input: PredicateExpression>(
        _ input: Input, to desired: Any.Type, in node: some PredicateExpression
    ) throws -> Translated {
        guard CastRule(from: Input.Output.self, to: desired) != .decidedAtRunTime else {
            throw failure(node, "only a cast that always succeeds is known to the language")
        }
        return .expression(try expression(input))
    }
}

extension PredicateExpressions.ConditionalCast: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        try translation.cast(input, to: Desired.self, in: self)
    }

    func sourceText(by translation: PredicateTranslation) -> String { "(\(translation.sourceText(input)) as? \(Desired.self))" }
}

extension PredicateExpressions.ForceCast: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        try translation.cast(input, to: Desired.self, in: self)
    }

    func sourceText(by translation: PredicateTranslation) -> String { "(\(translation.sourceText(input)) as! \(Desired.self))" }
}

extension PredicateExpressions.TypeCheck: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        switch CastRule(from: Input.Output.self, to: Desired.self) {
        case .always: return .predicate(negated ? .false : .true)
        case .unlessNil:
            let value = try translation.expression(input)
            return .predicate(negated ? value.isNil : value.isNotNil)
        case .decidedAtRunTime: throw translation.failure(self, "the language knows no types")
        }
    }

    func sourceText(by translation: PredicateTranslation) -> String { "(\(translation.sourceText(input)) is \(Desired.self))" }
}

/// The result of a cast, as far as the types determine it.
private enum CastRule {
    case always
    case unlessNil
    case decidedAtRunTime

    init(from input: Any.Type, to desired: Any.Type) {
        if CastRule.isKind(input, of: desired) {
            self = .always
        } else if let optional = input as? any OptionalValue.Type, CastRule.isKind(optional.wrappedType, of: desired) {
            self = .unlessNil
        } else if let optional = desired as? any OptionalValue.Type, CastRule.isKind(input, of: optional.wrappedType) {
            self = .always
        } else {
            self = .decidedAtRunTime
        }
    }

    private static func isKind(_ type: Any.Type, of other: Any.Type) -> Bool {
        if type == other { return true }
        var candidate: AnyClass? = type as? AnyClass
        while let current = candidate {
            if current == other { return true }
            candidate = _getSuperclass(current)
        }
        return false
    }
}
