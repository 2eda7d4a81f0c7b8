@_spi(Stores) internal import ObjectGraph
internal import Predicates

extension SQLTranslator {
    /// Translates IN and CONTAINS: whether a value is an element of a collection, or a substring.
    func membership(of element: SQLOperand, in collection: SQLOperand, _ options: PredicateComparison.Options) throws -> SQLFragment {
        switch collection {
        case .term(let text) where text.kind.comparisonClass == .text:
            let part = try term(element)
            if part.kind.comparisonClass != .text, !part.isNull { return never(text, part) }
            return try self.text(text, .contains, part, options)
        case .term(let value) where value.isNull: return "NULL"
        case .term(let value): throw invalid(.unsupported, "\(value.kind.name) is neither a collection nor a string")
        case .object: throw invalid(.unsupported, "An object is neither a collection nor a string")
        case .list(let elements):
            if elements.isEmpty { return dialect.falseCondition }
            let value = try term(element)
            let tests = try elements.map { try equality(value, term($0), options, asksForNil: false) }
            return balanced(tests[...], " OR ")
        case .constants(let constant): return try membership(of: try term(element), in: constant, options)
        case .many(let many): return try membership(of: try term(element), in: many, options)
        }
    }

    // MARK: Constants

    private func membership(
        of value: SQLTerm, in constant: SQLConstant, _ options: PredicateComparison.Options
    ) throws -> SQLFragment {
        let elements = constant.shape.elements
        guard elements.contains(.any) else { return dialect.falseCondition }
        if value.isNull { return "NULL" }
        let notFound: SQLFragment = elements.contains(.null) ? "NULL" : never(value, value)
        func list(_ form: SQLListForm) -> SQLBinding { .constant(constant.number, .list(form)) }
        func isIn(_ form: SQLListForm) -> SQLFragment { dialect.isIn(value.sql, list(form)) }
        switch value.kind {
        case .number(let form):
            guard elements.contains(.number) else { return notFound }
            if dialect.comparesByValue(form, form), !elements.contains(.longDecimal) { return isIn(.numbers) }
            return try membership(of: value, in: try many(.constants(constant)), options)
        case .text:
            guard elements.contains(.text) else { return notFound }
            if options.folds { return dialect.isIn(try folded(value, options), list(.foldedTexts(options))) }
            if !elements.contains(.manySpellings) { return isIn(.texts) }
            return try known(
                dialect.isEquivalent(value.sql, toElementOf: list(.plainTexts)), "the equivalence of strings in several spellings")
        case .date: return elements.contains(.date) ? isIn(.dates) : notFound
        case .data: return elements.contains(.data) ? isIn(.data) : notFound
        case .uuid: return elements.contains(.uuid) ? isIn(.uuids) : notFound
        case .url: return elements.contains(.url) ? isIn(.urls) : notFound
        case .object(let entity):
            let root = ObjectIdentifier(entity.rootEntity)
            return elements.contains(.object) ? isIn(.keys(root: root)) : notFound
        case .entity:
            guard elements.contains(.entity) else { return notFound }
            return dialect.isIn(value.sql, .constant(constant.number, .entityNumbers))
        case .null: return "NULL"
        case .anyObject: throw unsupported("Both sides are objects that the program holds.")
        case .opaque: throw unsupported("What a transformer made of a value cannot be compared.")
        }
    }

    // MARK: Results of a SELECT

    private func membership(of value: SQLTerm, in many: SQLCollection, _ options: PredicateComparison.Options) throws -> SQLFragment {
        var many = many
        let element = many.value
        if element.kind.comparisonClass == .opaque || value.kind.comparisonClass == .opaque {
            throw unsupported("What a transformer made of a value cannot be compared.")
        }
        let from = many.from()
        // For an impossible match: unknown if a nil is found, otherwise false.
        let unknown: SQLFragment
        if value.isNull {
            unknown = "(EXISTS (SELECT 1\(from)) AND NULL)"
        } else {
            var nils = many
            let isNil: SQLFragment = value.constant == nil ? "(\(value.sql) IS NULL OR \(element.sql) IS NULL)" : "\(element.sql) IS NULL"
            nils.conditions.append(isNil)
            unknown = "(EXISTS (SELECT 1\(nils.from())) AND NULL)"
        }
        if value.isNull || value.kind.comparisonClass != element.kind.comparisonClass { return unknown }
        switch (value.kind, element.kind) {
        case (.object(let first), .object(let second)) where first.rootEntity !== second.rootEntity: return unknown
        case (.anyObject, .object(let entity)):
            guard let number = value.constant?.number else { return unknown }
            let key = SQLBinding.constant(number, .key(root: ObjectIdentifier(entity.rootEntity)))
            return "\(key) IN (SELECT \(element.sql)\(from))"
        case (.text, _) where options.folds:
            return "\(try folded(value, options)) IN (SELECT \(try folded(element, options))\(from))"
        case (.text, _):
            return try known(
                dialect.isEquivalent(value.sql, to: element.sql, selectedBy: from), "the equivalence of strings in several spellings")
        case (.number, _) where !comparesByValue(value, element) || value.constant?.shape.kind == .notANumber:
            many.conditions.append(try equality(value, element, [], asksForNil: false))
            return "(EXISTS (SELECT 1\(many.from())) OR \(unknown))"
        default: return "\(value.sql) IN (SELECT \(element.sql)\(from))"
        }
    }
}
