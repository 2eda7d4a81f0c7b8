import Foundation

extension PredicateCompiler {
    /// Compiles an expression as far as its kind is known.
    ///
    /// The parts are compiled first and combined by another function, so that a level of nesting needs little stack.
    func operand(_ expression: ExpressionTree, clause: String) throws -> Operand {
        try descend()
        defer { ascend() }
        switch expression {
        case .subquery, .conditional: return try operand(withPredicate: expression, clause: clause)
        default: break
        }
        let parts = expression.parts
        var operands: [Operand] = []
        operands.reserveCapacity(parts.count)
        for part in parts { operands.append(try operand(part, clause: clause)) }
        return try combined(expression, operands, clause)
    }

    private func operand(withPredicate expression: ExpressionTree, clause: String) throws -> Operand {
        switch expression {
        case .subquery(let collection, let variable, let condition): return try subquery(collection, variable, condition, clause)
        case .conditional(let condition, let value, let otherwise): return try conditional(condition, value, otherwise, clause)
        default: return try operand(expression, clause: clause)
        }
    }

    /// Combines the compiled parts of an expression.
    private func combined(_ expression: ExpressionTree, _ parts: [Operand], _ clause: String) throws -> Operand {
        switch expression {
        case .constant(let value), .numberedConstant(let value, _): return .constant(resolved(value))
        case .evaluatedObject: return root
        case .variable(let name): return try variable(name, clause: clause)
        case .keyPath(let keys): return try path(keys[...], from: root, clause: clause)
        case .navigation(_, let keys): return try path(keys[...], from: parts[0], clause: clause)
        case .aggregate:
            let readers = parts.map { $0.scalar() }
            return .dynamic { subject in .array(try readers.map { try $0(subject) }) }
        case .arithmetic(let operation, _, _): return arithmetic(operation, parts[0], parts[1], clause)
        case .negated: return arithmetic(.subtract, .constant(.int64(0)), parts[0], clause)
        case .complement: return arithmetic(.bitExclusiveOr, .constant(.int64(-1)), parts[0], clause)
        case .function(let name, let arguments):
            return call(try ExpressionFunction(name, argumentCount: arguments.count, clause: clause), parts)
        case .method(_, let name, let arguments):
            return call(try ExpressionFunction(method: name, argumentCount: arguments.count, clause: clause), parts)
        case .element(_, let index): return try element(parts, index, clause)
        case .setOperation(let operation, _, _): return setOperation(operation, parts[0], parts[1], clause)
        case .cast(_, let type):
            let conversion = try ValueConversion(type, clause: clause)
            let read = parts[0].scalar()
            return .value { try conversion.convert(read($0)) }
        case .fetch(_, _, let countOnly): return fetch(parts, countOnly)
        case .block(let block, _): return code(block, parts)
        case .anyKey: throw unsupported("ANYKEY stands for keys that only Spotlight knows", clause)
        case .assignment(let name, _): throw unsupported("The variable $\(name) cannot be assigned", clause)
        case .subquery, .conditional: return try operand(withPredicate: expression, clause: clause)
        }
    }

    private func unsupported(_ message: String, _ clause: String) -> InvalidPredicateError {
        InvalidPredicateError(kind: .unsupported, message: "\(message), in the clause \(clause)")
    }

    private func arithmetic(
        _ operation: ExpressionTree.ArithmeticOperator, _ left: Operand, _ right: Operand, _ clause: String
    ) -> Operand {
        let left = left.scalar()
        let right = right.scalar()
        return .value { try Arithmetic.combine(operation, left($0), right($0), clause: clause) }
    }

    private func call(_ function: ExpressionFunction, _ arguments: [Operand]) -> Operand {
        let readers = arguments.map { $0.scalar() }
        return .dynamic { subject in try function.call(readers.map { try $0(subject) }) }
    }

    private func conditional(
        _ condition: PredicateTree, _ value: ExpressionTree, _ otherwise: ExpressionTree, _ clause: String
    ) throws -> Operand {
        let test = try test(condition, expecting: true)
        let value = try reader(value, clause)
        let otherwise = try reader(otherwise, clause)
        return .dynamic { try test($0) ? value($0) : otherwise($0) }
    }

    private func fetch(_ parts: [Operand], _ countOnly: Bool) -> Operand {
        let request = parts[0].scalar()
        let context = parts[1].scalar()
        let schema = schema
        return .dynamic { try schema.fetch(request($0), context: context($0), countOnly: countOnly) }
    }

    private func code(_ block: ExpressionBlock, _ arguments: [Operand]) -> Operand {
        let readers = arguments.map { $0.scalar() }
        let schema = schema
        let surroundings = surroundings
        return .dynamic { subject in
            let arguments = try readers.map { try $0(subject).any }
            return try PropertyValue(plain: block.body(schema.publicObject(of: subject), arguments, surroundings))
        }
    }

    private func reader(_ expression: ExpressionTree, _ clause: String) throws -> ValueReader {
        try operand(expression, clause: clause).scalar()
    }

    /// The evaluated object. A plain value has no schema: its properties are found at run time.
    private var root: Operand {
        if schema.isPlain {
            let schema = schema
            return .dynamic { schema.identity(of: $0) }
        }
        return .subject(schema, follow: nil)
    }

    /// Returns a constant in which the host's objects are replaced by their identities.
    private func resolved(_ value: PropertyValue) -> PropertyValue {
        switch value {
        case .object(let reference): return resolved(reference) ?? value
        case .array(let values): return .array(values.map { resolved($0) })
        case .set(let values): return .set(Set(values.map { resolved($0) }))
        default: return value
        }
    }

    private func resolved(_ reference: ObjectReference) -> PropertyValue? {
        let value = schema.constant(for: reference.object)
        constants.append(ResolvedConstant(reference: reference, value: value))
        return value
    }

    // MARK: Variables and subqueries

    private func variable(_ name: String, clause: String) throws -> Operand {
        if let subqueryElement, subqueryElement.variable == name { return .subject(subqueryElement.schema, follow: nil) }
        guard let binding = bindings[name] else {
            throw InvalidPredicateError(kind: .unboundVariable, message: "The variable $\(name) has no value, in the clause \(clause)")
        }
        if let schema = binding.schema { return .subject(schema, follow: { _ in binding.subject }) }
        return .dynamic { _ in binding.value }
    }

    private func subquery(_ collection: ExpressionTree, _ name: String, _ condition: PredicateTree, _ clause: String) throws -> Operand {
        let source = try operand(collection, clause: clause)
        if case .subjects(let destination, let visit, _) = source, condition.concernsVariablesOnly {
            let outer = subqueryElement
            subqueryElement = (name, destination)
            defer { subqueryElement = outer }
            return .subjects(destination, try compiled(condition, expecting: true).matching(of: visit))
        }
        let binding: Binding
        if case .subjects(let destination, _, _) = source {
            binding = Binding(schema: destination)
        } else {
            binding = Binding(schema: nil)
        }
        let outer = bindings[name]
        bindings[name] = binding
        defer { bindings[name] = outer }
        let test = try test(condition, expecting: true)
        if case .subjects(let destination, let visit, _) = source {
            let visitor: SubjectVisitor = { subject, body in
                try TimeLimit.check()
                try visit(subject) { candidate in
                    let before = binding.subject
                    binding.subject = candidate
                    defer { binding.subject = before }
                    return try test(subject) ? body(candidate) : true
                }
            }
            return .subjects(destination, visitor)
        }
        let visit = source.elements(clause: clause)
        return .values { subject, body in
            try TimeLimit.check()
            try visit(subject) { candidate in
                let before = binding.value
                binding.value = candidate
                defer { binding.value = before }
                return try test(subject) ? body(candidate) : true
            }
        }
    }

    // MARK: Collections

    private func element(_ parts: [Operand], _ index: ExpressionTree.ElementIndex, _ clause: String) throws -> Operand {
        if case .subjects(let schema, let visit, _) = parts[0], let chosen = chosen(visit, parts.dropFirst().first, index, clause) {
            return .chosen(schema, chosen)
        }
        let read = parts[0].scalar()
        func elements(_ subject: PredicateSubject) throws -> [PropertyValue]? {
            let value = try read(subject)
            if value.isNull { return nil }
            guard case .array(let elements) = value else {
                if let elements = value.elements, case .size = index { return elements }
                throw InvalidPredicateError(kind: .unsupported, message: "\(value.typeName) has no order, in the clause \(clause)")
            }
            return elements
        }
        switch index {
        case .first: return .dynamic { try elements($0)?.first ?? .null }
        case .last: return .dynamic { try elements($0)?.last ?? .null }
        case .size: return .value { try elements($0).map { .int64(Int64($0.count)) } ?? .null }
        case .at:
            let position = parts[1].scalar()
            return .dynamic { subject in
                let position = try position(subject)
                if case .string(let key) = position { return try read(subject).value(forKey: key, clause: clause) }
                guard case .int64(let number) = position else {
                    throw InvalidPredicateError(
                        kind: .unsupported, message: "\(position.typeName) is not an index, in the clause \(clause)")
                }
                guard let elements = try elements(subject), number >= 0, number < Int64(elements.count) else { return .null }
                return elements[Int(number)]
            }
        }
    }

    /// Returns a visitor of one subject of many; nil if the index denotes their number, or is a key.
    private func chosen(
        _ visit: @escaping SubjectVisitor, _ position: Operand?, _ index: ExpressionTree.ElementIndex, _ clause: String
    ) -> SubjectVisitor? {
        switch index {
        case .size: return nil
        case .first:
            return { subject, body in
                try visit(subject) {
                    _ = try body($0)
                    return false
                }
            }
        case .last:
            return { subject, body in
                // A subject is valid only while it is visited: the last one is known by its number.
                var count = 0
                try visit(subject) { _ in
                    count += 1
                    return true
                }
                try Self.visit(count - 1, of: visit, subject, body)
            }
        case .at:
            guard let position else { return nil }
            if case .constant(.string) = position { return nil }
            let read = position.scalar()
            return { subject, body in
                let position = try read(subject)
                guard case .int64(let number) = position else {
                    throw InvalidPredicateError(
                        kind: .unsupported, message: "\(position.typeName) is not an index, in the clause \(clause)")
                }
                try Self.visit(Int(number), of: visit, subject, body)
            }
        }
    }

    /// Visits the subject of a place, if there is one.
    private static func visit(
        _ place: Int, of visit: @escaping SubjectVisitor, _ subject: PredicateSubject, _ body: (PredicateSubject) throws -> Bool
    ) throws {
        var next = 0
        try visit(subject) { element in
            defer { next += 1 }
            if next < place { return true }
            if next == place { _ = try body(element) }
            return false
        }
    }

    private func setOperation(
        _ operation: ExpressionTree.SetOperator, _ left: Operand, _ right: Operand, _ clause: String
    ) -> Operand {
        let first = left.elements(clause: clause)
        let second = right.elements(clause: clause)
        func collected(_ visit: ValueVisitor, _ subject: PredicateSubject) throws -> Set<PropertyValue> {
            var values: Set<PropertyValue> = []
            try visit(subject) {
                values.insert($0.canonicalForHashing)
                return true
            }
            return values
        }
        return .dynamic { subject in
            let left = try collected(first, subject)
            let right = try collected(second, subject)
            switch operation {
            case .union: return .set(left.union(right))
            case .intersect: return .set(left.intersection(right))
            case .minus: return .set(left.subtracting(right))
            }
        }
    }
}

extension PropertyValue {
    /// The canonical form of all values that compare as equal, for hashing: integral numbers as integers, other decimal numbers as the
    /// binary number that is compared as equal, if there is one.
    var canonicalForHashing: PropertyValue {
        switch self {
        case .bool(let value): .int64(value ? 1 : 0)
        case .double(let value): Int64(exactly: value).map(PropertyValue.int64) ?? self
        case .decimal(let value): value.canonicalForHashing
        default: self
        }
    }
}

extension Decimal {
    fileprivate var canonicalForHashing: PropertyValue {
        // The string is exact; a conversion to a binary number is not.
        let text = description
        if let whole = Int64(text), Decimal(whole) == self { return .int64(whole) }
        guard let binary = Double(text), binary.isFinite, Decimal(string: binary.description) == self else { return .decimal(self) }
        return .double(binary)
    }
}
