import Foundation

/// A function of the expression language.
struct ExpressionFunction {
    /// Calls the function.
    let call: ([PropertyValue]) throws -> PropertyValue

    private init(call: @escaping ([PropertyValue]) throws -> PropertyValue) {
        self.call = call
    }

    /// Finds a function by its name, in the forms `name(…)` and `FUNCTION(operand, 'name', …)`.
    init(_ name: String, argumentCount: Int, clause: String) throws {
        if ExpressionFunction.normalized(name) == "distancetolocation:fromlocation:" {
            throw InvalidPredicateError(
                kind: .unsupported, message: "\(name) needs the locations of Apple's platforms, in the clause \(clause)")
        }
        guard let entry = ExpressionFunction.table[ExpressionFunction.normalized(name)] else {
            throw InvalidPredicateError(kind: .unsupported, message: "The function \(name) is unknown, in the clause \(clause)")
        }
        if let count = entry.count, count != argumentCount {
            throw InvalidPredicateError(
                kind: .unsupported, message: "\(name) takes \(count) arguments, found \(argumentCount), in the clause \(clause)")
        }
        self.init(call: { try entry.body($0, clause) })
    }

    /// Finds a method by its name; the operand is its first argument.
    init(method name: String, argumentCount: Int, clause: String) throws {
        if let body = ExpressionFunction.methods[name] {
            guard argumentCount == name.filter({ $0 == ":" }).count else {
                throw InvalidPredicateError(
                    kind: .unsupported, message: "The method \(name) got \(argumentCount) arguments, in the clause \(clause)")
            }
            self.init(call: { try body($0, clause) })
        } else {
            try self.init(name, argumentCount: argumentCount + 1, clause: clause)
        }
    }

    private typealias Body = @Sendable ([PropertyValue], String) throws -> PropertyValue

    private struct Entry: Sendable {
        /// The number of arguments; nil for any number.
        let count: Int?
        let body: Body
    }

    /// Returns the name without the colon with which Apple's names of functions with one argument end.
    private static func normalized(_ name: String) -> String {
        let lower = name.lowercased()
        return lower.hasSuffix(":") && lower.filter({ $0 == ":" }).count == 1 ? String(lower.dropLast()) : lower
    }

    private static let table: [String: Entry] = {
        var table: [String: Entry] = [
            "now": Entry(count: 0) { _, _ in .date(Date()) },
            "uppercase": text { $0.uppercased() },
            "lowercase": text { $0.lowercased() },
            "canonical": text { TextMatching.folded($0, [.caseInsensitive, .diacriticInsensitive]) },
            "sqrt": number { $0.squareRoot() },
            "log": number { log10($0) },
            "ln": number { log($0) },
            "exp": number { exp($0) },
            "sum": list { try Aggregate.total($0, clause: $1) },
            "count": list { values, _ in .int64(Int64(values.count)) },
            "min": list { try Aggregate.minimum.value(of: $0, clause: $1) },
            "max": list { try Aggregate.maximum.value(of: $0, clause: $1) },
            "average": list { try Aggregate.average.value(of: $0, clause: $1) },
            "median": list(median),
            "mode": list(mode),
            "stddev": list(standardDeviation),
            "length": Entry(count: 1) { values, clause in
                if values[0].isNull { return .null }
                guard case .string(let text) = values[0] else { throw invalidArgument("length", values[0], clause) }
                return .int64(Int64(text.utf16.count))
            },
        ]
        for (name, rounding) in [
            ("floor", FloatingPointRoundingRule.down), ("ceiling", .up), ("trunc", .towardZero),
        ] {
            table[name] = Entry(count: 1) { values, clause in
                if case .int64 = values[0].asNumber { return values[0].asNumber }
                return try applied(name, values[0], clause) { $0.rounded(rounding) }
            }
        }
        table["abs"] = Entry(count: 1) { values, clause in
            // Bounded: the smallest number is another case.
            if case .int64(let value) = values[0].asNumber, value != .min { return .int64(abs(value)) }
            // Bounded: a fraction, of which each has its opposite.
            return try applied("abs", values[0], clause) { abs($0) }
        }
        let binary: [(String, ExpressionTree.ArithmeticOperator)] = [
            ("add:to:", .add), ("from:subtract:", .subtract), ("multiply:by:", .multiply), ("divide:by:", .divide),
            ("raise:topower:", .power), ("bitwiseand:with:", .bitAnd), ("bitwiseor:with:", .bitOr),
            ("bitwisexor:with:", .bitExclusiveOr), ("leftshift:by:", .shiftLeft), ("rightshift:by:", .shiftRight),
        ]
        for (name, operation) in binary {
            table[name] = Entry(count: 2) { try Arithmetic.combine(operation, $0[0], $0[1], clause: $1) }
        }
        table["modulus:by:"] = Entry(count: 2) { values, clause in
            switch (values[0].asNumber, values[1].asNumber) {
            case (.null, _), (_, .null), (.int64, .int64(0)): return .null
            case (.int64(let left), .int64(let right)): return .int64(left.remainderReportingOverflow(dividingBy: right).partialValue)
            case (let left, let right):
                guard let left = left.double, let right = right.double else { throw invalidArgument("modulus:by:", values[0], clause) }
                let result = left.truncatingRemainder(dividingBy: right)
                return result.isNaN ? .null : .double(result)
            }
        }
        table["noindex"] = Entry(count: 1) { values, _ in values[0] }
        table["random"] = Entry(count: nil) { values, clause in
            if values.isEmpty { return .int64(Int64(Int32.random(in: 0...Int32.max))) }
            if values[0].isNull { return .null }
            guard values.count == 1, case .int64(let bound) = values[0].asNumber, bound > 0 else {
                throw invalidArgument("A random number below the argument", values[0], clause)
            }
            return .int64(Int64.random(in: 0..<bound))
        }
        table["onescomplement"] = Entry(count: 1) { try Arithmetic.combine(.bitExclusiveOr, .int64(-1), $0[0], clause: $1) }
        return table
    }()

    /// The methods of `NSString` that predicates call with `FUNCTION`.
    private static let methods: [String: Body] = [
        "substringFromIndex:": { values, clause in
            try slice(values, clause) { text, index in index <= text.count ? String(decoding: text[index...], as: UTF16.self) : nil }
        },
        "substringToIndex:": { values, clause in
            try slice(values, clause) { text, index in index <= text.count ? String(decoding: text[..<index], as: UTF16.self) : nil }
        },
        "stringByAppendingString:": { values, clause in
            if values[0].isNull || values[1].isNull { return .null }
            guard case .string(let first) = values[0], case .string(let second) = values[1] else {
                throw invalidArgument("stringByAppendingString:", values[0], clause)
            }
            return .string(first + second)
        },
        "uppercaseString": { try $0[0].value(forKey: "uppercaseString", clause: $1) },
        "lowercaseString": { try $0[0].value(forKey: "lowercaseString", clause: $1) },
        "capitalizedString": { try $0[0].value(forKey: "capitalizedString", clause: $1) },
        "lastPathComponent": { try $0[0].value(forKey: "lastPathComponent", clause: $1) },
        "pathExtension": { try $0[0].value(forKey: "pathExtension", clause: $1) },
        "length": { try $0[0].value(forKey: "length", clause: $1) },
    ]

    private static func slice(_ values: [PropertyValue], _ clause: String, _ body: ([UInt16], Int) -> String?) throws -> PropertyValue {
        if values[0].isNull || values[1].isNull { return .null }
        guard case .string(let text) = values[0], case .int64(let index) = values[1], index >= 0, index <= Int64(Int32.max) else {
            throw invalidArgument("A substring", values[0], clause)
        }
        return body(Array(text.utf16), Int(index)).map(PropertyValue.string) ?? .null
    }

    // MARK: Kinds of function

    private static func invalidArgument(_ name: String, _ value: PropertyValue, _ clause: String) -> InvalidPredicateError {
        InvalidPredicateError(kind: .unsupported, message: "\(name) cannot be made from \(value.typeName), in the clause \(clause)")
    }

    private static func applied(
        _ name: String, _ value: PropertyValue, _ clause: String, _ body: (Double) -> Double
    ) throws -> PropertyValue {
        if value.isNull { return .null }
        guard let number = value.double else { throw invalidArgument(name, value, clause) }
        let result = body(number)
        return result.isNaN ? .null : .double(result)
    }

    private static func number(_ body: @escaping @Sendable (Double) -> Double) -> Entry {
        Entry(count: 1) { try applied("A number", $0[0], $1, body) }
    }

    private static func text(_ body: @escaping @Sendable (String) -> String) -> Entry {
        Entry(count: 1) { values, clause in
            if values[0].isNull { return .null }
            guard case .string(let text) = values[0] else { throw invalidArgument("A text", values[0], clause) }
            return .string(body(text))
        }
    }

    /// Returns a function of a collection, passed as one argument or as several; nil elements are ignored.
    private static func list(_ body: @escaping Body) -> Entry {
        Entry(count: nil) { values, clause in
            var elements: [PropertyValue] = []
            for value in values {
                _ = try value.visitLeaves {
                    if !$0.isNull { elements.append($0) }
                    return true
                }
            }
            return try body(elements, clause)
        }
    }

    private static func numbers(_ values: [PropertyValue], _ clause: String) throws -> [Double] {
        try values.map { value in
            guard let number = value.double else { throw invalidArgument("A number", value, clause) }
            return number
        }
    }

    private static let median: Body = { values, clause in
        let sorted = try numbers(values, clause).sorted()
        if sorted.isEmpty { return .null }
        let middle = sorted.count / 2
        return .double(sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle])
    }

    private static let mode: Body = { values, _ in
        var counts: [PropertyValue: Int] = [:]
        for value in values { counts[value.canonicalForHashing, default: 0] += 1 }
        let most = counts.values.max()
        // Of several modes, the smallest: a set has no first element.
        return values.reduce(.null) { found, value in
            guard counts[value.canonicalForHashing] == most else { return found }
            return found.isNull || value.order(to: found) == .orderedAscending ? value : found
        }
    }

    private static let standardDeviation: Body = { values, clause in
        let numbers = try numbers(values, clause)
        if numbers.isEmpty { return .null }
        let mean = numbers.reduce(0, +) / Double(numbers.count)
        return .double((numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(numbers.count)).squareRoot())
    }
}
