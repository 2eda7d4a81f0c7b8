import Foundation

extension PredicateCompiler {
    /// Compiles a key path from an operand.
    func path(_ keys: ArraySlice<String>, from base: Operand, clause: String) throws -> Operand {
        if let error = InvalidPredicateError.ofPath(with: keys.count, in: clause) { throw error }
        var current = base
        var rest = keys
        while let key = rest.popFirst() {
            if key.hasPrefix("@") { return try collectionOperator(key, rest, of: current, clause: clause) }
            switch current {
            case .subject(let schema, let follow):
                current = try step(key, of: schema, follow: follow, clause: clause)
            case .reference(let schema, _, let follow):
                current = try step(key, of: schema, follow: follow, clause: clause)
            case .subjects(let schema, let visit, _):
                current = try step(key, of: schema, over: visit, clause: clause)
            case .chosen(let schema, let visit):
                return try path([key] + rest, fromChosen: schema, visit, clause: clause)
            case .slots, .values:
                let visit = current.elements()
                current = .values { subject, body in
                    try visit(subject) { try $0.value(forKey: key, clause: clause).visitLeaves(body) }
                }
            case .constant, .dynamic, .value, .slot, .count:
                let read = current.scalar()
                current = .dynamic { try read($0).value(forKey: key, clause: clause) }
            }
        }
        return current
    }

    /// Compiles a key path from one subject of a collection, which is valid only while it is visited.
    private func path(
        _ keys: ArraySlice<String>, fromChosen schema: SchemaReference, _ visit: @escaping SubjectVisitor, clause: String
    ) throws -> Operand {
        let found = try path(keys, from: .subjects(schema, visit), clause: clause)
        // Whether the path itself leads to several subjects.
        let isMany = try path(keys, from: .subject(schema, follow: { _ in nil }), clause: clause).isMany
        guard found.isMany, !isMany else { return found }
        let values = found.elements(clause: clause)
        return .dynamic { subject in
            var result = PropertyValue.null
            try values(subject) {
                result = $0
                return false
            }
            return result
        }
    }

    private func property(_ key: String, of schema: SchemaReference, clause: String) throws -> PredicateProperty {
        if let property = schema.predicateProperty(named: key) { return property }
        throw InvalidPredicateError(
            kind: .unknownKeyPath, message: "\(schema.schemaName) has no property named \"\(key)\", in the clause \(clause)")
    }

    /// Compiles one key from a single subject.
    private func step(_ key: String, of schema: SchemaReference, follow: SubjectFollower?, clause: String) throws -> Operand {
        if key.uppercased() == "SELF" { return .subject(schema, follow: follow) }
        let property = try property(key, of: schema, clause: clause)
        guard let follow else {
            switch property {
            case .slot(let location, let kind): return .slot(location, kind)
            case .computed(let read): return .dynamic(read)
            case .toOne(let destination, let identity, let next):
                return .reference(reference(to: destination), identity: identity, follow: next)
            case .toMany(let destination, let count, let visit):
                return .subjects(reference(to: destination), visit, count: count)
            }
        }
        switch property {
        case .slot(let location, let kind): return .value { try follow($0).map { location.read($0, kind) } ?? .null }
        case .computed(let read): return .dynamic { try follow($0).map(read) ?? .null }
        case .toOne(let destination, let identity, let next):
            return .reference(
                reference(to: destination), identity: { try follow($0).map(identity) ?? .null }, follow: { try follow($0).flatMap(next) })
        case .toMany(let destination, let count, let visit):
            let visitor: SubjectVisitor = { subject, body in
                if let subject = try follow(subject) { try visit(subject, body) }
            }
            return .subjects(reference(to: destination), visitor, count: { try follow($0).map(count) ?? 0 })
        }
    }

    /// Compiles one key from many subjects.
    private func step(_ key: String, of schema: SchemaReference, over visit: @escaping SubjectVisitor, clause: String) throws -> Operand {
        if key.uppercased() == "SELF" { return .subjects(schema, visit) }
        switch try property(key, of: schema, clause: clause) {
        case .slot(let location, let kind):
            return .slots(visit, location, kind)
        case .computed(let read):
            return .values { subject, body in try visit(subject) { try read($0).visitLeaves(body) } }
        case .toOne(let destination, _, let next):
            let visitor: SubjectVisitor = { subject, body in
                try visit(subject) { try next($0).map(body) ?? true }
            }
            return .subjects(reference(to: destination), visitor)
        case .toMany(let destination, _, let inner):
            let visitor: SubjectVisitor = { subject, body in
                try visit(subject) { middle in
                    var goesOn = true
                    try inner(middle) {
                        goesOn = try body($0)
                        return goesOn
                    }
                    return goesOn
                }
            }
            return .subjects(reference(to: destination), visitor)
        }
    }

    // MARK: Collection operators

    private func collectionOperator(
        _ name: String, _ rest: ArraySlice<String>, of collection: Operand, clause: String
    ) throws -> Operand {
        if name == "@count" {
            guard rest.isEmpty else { throw unsupported("Nothing can follow @count", clause) }
            return .count(try counter(collection, clause: clause))
        }
        guard let aggregate = Aggregate(rawValue: name) else { throw unsupported("The collection operator \(name) is unknown", clause) }
        let many = try collection.asMany(clause: clause)
        let values =
            rest.contains { $0.hasPrefix("@") }
            ? try eachValue(rest, of: many, clause: clause) : try path(rest, from: many, clause: clause).elements(clause: clause)
        if aggregate.isCollection {
            return .values { subject, body in
                var seen: Set<PropertyValue> = []
                try values(subject) { value in
                    if value.isNull { return true }
                    if aggregate.isDistinct, !seen.insert(value.canonicalForHashing).inserted { return true }
                    return try body(value)
                }
            }
        }
        return .value { subject in
            var all: [PropertyValue] = []
            try values(subject) {
                all.append($0)
                return true
            }
            return try aggregate.value(of: all, clause: clause)
        }
    }

    /// Evaluates a path with a further operator for each element: `@sum.tracks.@count` adds the counts of all albums.
    private func eachValue(_ keys: ArraySlice<String>, of collection: Operand, clause: String) throws -> ValueVisitor {
        if case .subjects(let schema, let visit, _) = collection {
            let read = try path(keys, from: .subject(schema, follow: nil), clause: clause).scalar()
            return { subject, body in try visit(subject) { try read($0).visitLeaves(body) } }
        }
        let binding = Binding(schema: nil)
        let read = try path(keys, from: .dynamic { _ in binding.value }, clause: clause).scalar()
        let visit = collection.elements(clause: clause)
        return { subject, body in
            try visit(subject) { element in
                let before = binding.value
                binding.value = element
                defer { binding.value = before }
                return try read(subject).visitLeaves(body)
            }
        }
    }

    private func counter(_ collection: Operand, clause: String) throws -> ElementCounter {
        switch collection {
        case .slot, .value, .subject, .reference, .chosen, .count: throw unsupported("@count needs a collection", clause)
        case .subjects(_, _, .some(let count)): return count
        case .subjects(_, let visit, nil), .slots(let visit, _, _): return counter(of: visit)
        case .values(let visit): return counter(of: visit)
        case .constant, .dynamic:
            let read = collection.scalar()
            return { subject in
                let value = try read(subject)
                if value.isNull { return 0 }
                if case .object(let reference) = value, let count = reference.count { return count }
                guard let elements = value.elements else {
                    throw InvalidPredicateError(
                        kind: .unsupported, message: "\(value.typeName) is not a collection, in the clause \(clause)")
                }
                return elements.count
            }
        }
    }

    /// Returns a function that counts the elements that a visitor visits.
    private func counter<Element>(
        of visit: @escaping (PredicateSubject, (Element) throws -> Bool) throws -> Void
    ) -> ElementCounter {
        { subject in
            var count = 0
            try visit(subject) { _ in
                count += 1
                return true
            }
            return count
        }
    }

    private func unsupported(_ message: String, _ clause: String) -> InvalidPredicateError {
        InvalidPredicateError(kind: .unsupported, message: "\(message), in the clause \(clause)")
    }
}

extension ObjectReference {
    /// The number of entries of a dictionary.
    fileprivate var count: Int? {
        switch object {
        case let values as KeyedValues: values.values.count
        case let dictionary as NSDictionary: dictionary.count
        default: nil
        }
    }
}

extension Operand {
    /// Returns the operand as a collection, for an operator that continues with each element.
    fileprivate func asMany(clause: String) throws -> Operand {
        switch self {
        case .subjects, .slots, .values: return self
        case .slot, .value, .subject, .reference, .chosen, .count:
            throw InvalidPredicateError(kind: .unsupported, message: "A collection operator needs a collection, in the clause \(clause)")
        case .constant, .dynamic: return .values(elements(clause: clause))
        }
    }
}
