import Foundation

extension PredicateCompiler {
    /// Compiles an expression as far as its kind is known.
    func operand(_ expression: ExpressionTree, clause: String) throws -> Operand {
        try deeper { try unlimitedOperand(expression, clause: clause) }
    }

    /// The cases with parts have functions of their own, so that a level of nesting needs little stack.
    private func unlimitedOperand(_ expression: ExpressionTree, clause: String) throws -> Operand {
        switch expression {
        case .constant(let value): return .constant(resolved(value))
        case .evaluatedObject: return root
        case .variable(let name): return try variable(name, clause: clause)
        case .keyPath(let keys): return try path(keys[...], from: root, clause: clause)
        case .navigation(let base, let keys): return try navigation(base, keys, clause)
        case .aggregate(let elements): return try aggregate(elements, clause)
        case .arithmetic(let operation, let left, let right): return try arithmetic(operation, left, right, clause)
        case .negated(let operand): return try arithmetic(.subtract, .constant(.int64(0)), operand, clause)
        case .complement(let operand): return try arithmetic(.bitExclusiveOr, .constant(.int64(-1)), operand, clause)
        case .function(let name, let arguments): return try function(name, arguments, clause)
        case .method(let operand, let name, let arguments): return try method(operand, name, arguments, clause)
        case .element(let collection, let index): return try element(collection, index, clause)
        case .subquery(let collection, let variable, let condition): return try subquery(collection, variable, condition, clause)
        case .setOperation(let operation, let left, let right): return try setOperation(operation, left, right, clause)
        case .conditional(let condition, let value, let otherwise): return try conditional(condition, value, otherwise, clause)
        case .cast(let value, let type): return try cast(value, type, clause)
        case .fetch(let request, let context, let countOnly): return try fetch(request, context, countOnly, clause)
        case .block(let block, let arguments): return try code(block, arguments, clause)
        case .anyKey: throw unsupported("ANYKEY stands for keys that are known to Spotlight only", clause)
        case .assignment(let name, _): throw unsupported("The variable $\(name) cannot be assigned", clause)
        }
    }

    private func unsupported(_ message: String, _ clause: String) -> InvalidPredicateError {
        InvalidPredicateError(kind: .unsupported, message: "\(message), in the clause \(clause)")
    }

    private func navigation(_ base: ExpressionTree, _ keys: [String], _ clause: String) throws -> Operand {
        try path(keys[...], from: operand(base, clause: clause), clause: clause)
    }

    private func aggregate(_ elements: [ExpressionTree], _ clause: String) throws -> Operand {
        let readers = try readers(elements, clause)
        return .dynamic { subject in .array(try readers.map { try $0(subject) }) }
    }

    private func arithmetic(
        _ operation: ExpressionTree.ArithmeticOperator, _ left: ExpressionTree, _ right: ExpressionTree, _ clause: String
    ) throws -> Operand {
        let left = try reader(left, clause)
        let right = try reader(right, clause)
        return .value { try Arithmetic.combine(operation, left($0), right($0), clause: clause) }
    }

    private func function(_ name: String, _ arguments: [ExpressionTree], _ clause: String) throws -> Operand {
        let function = try ExpressionFunction(name, argumentCount: arguments.count, clause: clause)
        let readers = try readers(arguments, clause)
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

    private func cast(_ value: ExpressionTree, _ type: String, _ clause: String) throws -> Operand {
        let conversion = try ValueConversion(type, clause: clause)
        let read = try reader(value, clause)
        return .value { try conversion.convert(read($0)) }
    }

    private func fetch(
        _ request: ExpressionTree, _ context: ExpressionTree, _ countOnly: Bool, _ clause: String
    ) throws -> Operand {
        let request = try reader(request, clause)
        let context = try reader(context, clause)
        let schema = schema
        return .dynamic { try schema.fetch(request($0), context: context($0), countOnly: countOnly) }
    }

    private func code(_ block: ExpressionBlock, _ arguments: [ExpressionTree], _ clause: String) throws -> Operand {
        let readers = try readers(arguments, clause)
        let schema = schema
        let surroundings = surroundings
        return .dynamic { subject in
            let arguments = try readers.map { try $0(subject).any }
            return try PropertyValue(plain: block.body(schema.publicObject(of: subject), arguments, surroundings))
        }
    }

    private func readers(_ expressions: [ExpressionTree], _ clause: String) throws -> [ValueReader] {
        try expressions.map { try reader($0, clause) }
    }

    private func reader(_ expression: ExpressionTree, _ clause: String) throws -> ValueReader {
        try operand(expression, clause: clause).scalar()
    }

    /// The evaluated object. A plain value has no schema: everything about it is found at run time.
    private var root: Operand {
        if schema is PlainSchema {
            let schema = schema
            return .dynamic { schema.identity(of: $0) }
        }
        return .subject(schema, follow: nil)
    }

    /// A constant with the host's objects replaced by what stands for them.
    private func resolved(_ value: PropertyValue) -> PropertyValue {
        switch value {
        case .object(let reference): schema.constant(for: reference.object) ?? value
        case .array(let values): .array(values.map(resolved))
        case .set(let values): .set(Set(values.map(resolved)))
        default: value
        }
    }

    // MARK: Variables and subqueries

    private func variable(_ name: String, clause: String) throws -> Operand {
        guard let binding = bindings[name] else {
            throw InvalidPredicateError(kind: .unboundVariable, message: "The variable $\(name) has no value, in the clause \(clause)")
        }
        if let schema = binding.schema { return .subject(schema, follow: { _ in binding.subject }) }
        return .dynamic { _ in binding.value }
    }

    private func subquery(_ collection: ExpressionTree, _ name: String, _ condition: PredicateTree, _ clause: String) throws -> Operand {
        let source = try operand(collection, clause: clause)
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
            try visit(subject) { candidate in
                let before = binding.value
                binding.value = candidate
                defer { binding.value = before }
                return try test(subject) ? body(candidate) : true
            }
        }
    }

    // MARK: Collections

    private func element(_ collection: ExpressionTree, _ index: ExpressionTree.ElementIndex, _ clause: String) throws -> Operand {
        let source = try operand(collection, clause: clause)
        let read = source.scalar()
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
        case .at(let index):
            let position = try reader(index, clause)
            return .dynamic { subject in
                let position = try position(subject)
                if case .string(let key) = position { return try read(subject).value(forKey: key, clause: clause) }
                guard case .int64(let number) = position else {
                    throw InvalidPredicateError(kind: .unsupported, message: "\(position.typeName) is no index, in the clause \(clause)")
                }
                guard let elements = try elements(subject), number >= 0, number < Int64(elements.count) else { return .null }
                return elements[Int(number)]
            }
        }
    }

    private func setOperation(
        _ operation: ExpressionTree.SetOperator, _ left: ExpressionTree, _ right: ExpressionTree, _ clause: String
    ) throws -> Operand {
        let first = try operand(left, clause: clause).elements(clause: clause)
        let second = try operand(right, clause: clause).elements(clause: clause)
        func collected(_ visit: ValueVisitor, _ subject: PredicateSubject) throws -> Set<PropertyValue> {
            var values: Set<PropertyValue> = []
            try visit(subject) {
                values.insert($0.hashedByWorth)
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

    private func method(
        _ operand: ExpressionTree, _ name: String, _ arguments: [ExpressionTree], _ clause: String
    ) throws -> Operand {
        let method = try ExpressionFunction(method: name, argumentCount: arguments.count, clause: clause)
        let readers = try readers([operand] + arguments, clause)
        return .dynamic { subject in try method.call(readers.map { try $0(subject) }) }
    }
}

extension PropertyValue {
    /// The value in the one form that every value of the same worth has, so that hashing finds it: whole numbers as integers.
    var hashedByWorth: PropertyValue {
        switch self {
        case .bool(let value): .int64(value ? 1 : 0)
        case .double(let value): Int64(exactly: value).map(PropertyValue.int64) ?? self
        case .decimal(let value):
            Int64(exactly: NSDecimalNumber(decimal: value).doubleValue).flatMap {
                Decimal($0) == value ? PropertyValue.int64($0) : nil
            } ?? self
        default: self
        }
    }
}
