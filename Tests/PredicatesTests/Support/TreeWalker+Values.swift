import Foundation
import Predicates

extension TreeWalker {
    func value(_ expression: ExpressionTree) throws -> PropertyValue {
        switch expression {
        case .constant(let value): return value
        case .evaluatedObject: return .object(ObjectReference(object))
        case .variable(let name): return variables[name] ?? .null
        case .keyPath(let keys): return try path(keys[...], from: .object(ObjectReference(object)))
        case .navigation(let base, let keys): return try path(keys[...], from: value(base))
        case .aggregate(let parts): return .array(try parts.map(value))
        case .arithmetic(let operation, let left, let right): return try Calculation.combine(operation, value(left), value(right))
        case .negated(let part): return try Calculation.combine(.subtract, .int64(0), value(part))
        case .complement(let part): return try Calculation.combine(.bitExclusiveOr, .int64(-1), value(part))
        case .function(let name, let arguments): return try Calculation.function(name, arguments.map(value), leaves: allLeaves)
        case .method(let operand, "stringByAppendingString:", let arguments):
            guard case .string(let first) = try value(operand), case .string(let second) = try value(arguments[0]) else { return .null }
            return .string(first + second)
        case .element(let collection, let index):
            let collection = try value(collection)
            if collection == .null { return .null }
            let elements = try elements(collection)
            switch index {
            case .size: return .int64(Int64(elements.count))
            case .first: return elements.first ?? .null
            case .last: return elements.last ?? .null
            case .at(let place):
                guard case .int64(let number) = try value(place) else { throw Refusal() }
                return elements.indices.contains(Int(number)) ? elements[Int(number)] : .null
            }
        case .subquery(let collection, let name, let condition):
            let collection = try value(collection)
            if collection == .null { return .array([]) }
            return .array(try leaves(collection).filter { try with(name, $0).answer(condition) == .yes })
        case .setOperation(let operation, let left, let right):
            let first = try distinct(left)
            let second = try distinct(right)
            func isIn(_ value: PropertyValue, _ values: [PropertyValue]) -> Bool { values.contains { Comparing.same($0, value, []) } }
            switch operation {
            case .union: return .array(first + second.filter { !isIn($0, first) })
            case .intersect: return .array(first.filter { isIn($0, second) })
            case .minus: return .array(first.filter { !isIn($0, second) })
            }
        case .conditional(let condition, let value, let otherwise):
            return try answer(condition) == .yes ? self.value(value) : self.value(otherwise)
        case .cast(let part, let type): return try Calculation.cast(value(part), type)
        default: throw Refusal()
        }
    }

    private func allLeaves(_ values: [PropertyValue]) throws -> [PropertyValue] {
        try values.flatMap { value -> [PropertyValue] in
            switch value {
            case .array, .set: try leaves(value)
            default: [value]
            }
        }
    }

    private func distinct(_ expression: ExpressionTree) throws -> [PropertyValue] {
        let value = try value(expression)
        return value == .null ? [] : TreeWalker.distinct(try leaves(value))
    }

    static func distinct(_ values: [PropertyValue]) -> [PropertyValue] {
        values.reduce(into: []) { found, value in
            if !found.contains(where: { Comparing.same($0, value, []) }) { found.append(value) }
        }
    }

    // MARK: Key paths

    private func path(_ keys: ArraySlice<String>, from start: PropertyValue) throws -> PropertyValue {
        guard let key = keys.first else { return start }
        let rest = keys.dropFirst()
        if key.hasPrefix("@") { return try collectionOperator(key, rest, start) }
        switch start {
        case .null: return try path(rest, from: isPlain || !["many", "more"].contains(key) ? .null : .array([]))
        case .object(let reference): return try path(rest, from: step(key, reference))
        case .array(let elements):
            var found: [PropertyValue] = []
            for element in elements {
                guard case .object(let reference) = element else {
                    found.append(element)
                    continue
                }
                let next = step(key, reference)
                // Over many, what leads nowhere gives nothing; an attribute without a value is nil.
                if next == .null, !isPlain, (reference.object as? RandomObject)?.entity.toOne[key] != nil { continue }
                if case .array(let values) = next { found += values } else { found.append(next) }
            }
            return try path(rest, from: .array(found))
        default: throw Refusal()
        }
    }

    private func step(_ key: String, _ reference: ObjectReference) -> PropertyValue {
        guard let object = reference.object as? RandomObject else { return .null }
        if let value = object.values[key] { return value }
        if let destination = object.toOne[key] { return .object(ObjectReference(destination)) }
        return object.toMany[key].map { .array($0.map { .object(ObjectReference($0)) }) } ?? .null
    }

    private func collectionOperator(_ name: String, _ rest: ArraySlice<String>, _ collection: PropertyValue) throws -> PropertyValue {
        let elements = collection == .null ? [] : try elements(collection)
        if name == "@count" { return .int64(Int64(elements.count)) }
        var values: [PropertyValue]
        if rest.contains(where: { $0.hasPrefix("@") }) {
            values = try elements.map { try path(rest, from: $0) }
        } else {
            values = try self.elements(path(rest, from: .array(elements)))
        }
        values.removeAll { $0 == .null }
        switch name {
        case "@sum": return try Calculation.sum(values)
        case "@avg": return try Calculation.function("average:", values, leaves: { $0 })
        case "@min": return try Calculation.extreme(values, -1)
        case "@max": return try Calculation.extreme(values, 1)
        case "@unionOfObjects": return .array(values)
        case "@distinctUnionOfObjects": return .array(TreeWalker.distinct(values))
        default: throw Refusal()
        }
    }
}
