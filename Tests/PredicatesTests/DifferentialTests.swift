import Foundation
import Predicates
import TestSupport
import Testing

@Suite struct DifferentialTests {
    @Test func compiledPredicatesAnswerAsANaiveTreeWalkerDoes() throws {
        let seed = TestSeed.current(for: "compiledPredicatesAnswerAsANaiveTreeWalkerDoes")
        var cases = RandomCases(seed: seed)
        let schema = RowSchema()
        var (count, matched) = (0, 0)
        for _ in TestRounds(seconds: 5.5, atLeast: 1000) {
            count += 1
            let tree = cases.predicate(depth: 2)
            let row = cases.row(depth: 2)
            let expected = NaiveEvaluator(row: row).answer(tree) == .yes
            let answer = try tree.compiled(for: schema).matches(row.subject)
            if answer { matched += 1 }
            guard answer != expected else { continue }
            Issue.record("seed \(seed): \(tree) answers \(answer) for \(row.values), friends \(row.friends.map(\.values))")
            return
        }
        #expect(matched > count / 10, "COREDATA_TEST_SEED=\(seed): \(matched) of \(count) rows matched")
    }

    @Test func sortingAnswersAsANaiveSortDoes() throws {
        let seed = TestSeed.current(for: "sortingAnswersAsANaiveSortDoes")
        var cases = RandomCases(seed: seed)
        let schema = RowSchema()
        for _ in TestRounds(seconds: 1.3, atLeast: 50) {
            let rows = (0..<Int.random(in: 0...40, using: &cases.random)).map { _ in cases.row(depth: 1) }
            let keys = ["name", "age", "score", "born", "active", "city", "price", "boss.name", "boss.age"].shuffled(using: &cases.random)
                .prefix(2)
            let descriptors = keys.map { NSSortDescriptor(key: $0, ascending: Bool.random(using: &cases.random)) }
            let sort = try CompiledSort(descriptors, for: schema)
            let indices = try sort.sortedIndices(count: rows.count) { rows[$0].subject }
            let paths = try keys.map { try CompiledKeyPath($0, for: schema) }
            let naive = try rows.indices.sorted { left, right in
                for (path, descriptor) in zip(paths, descriptors) {
                    let order = naiveOrder(try path.value(of: rows[left].subject), try path.value(of: rows[right].subject))
                    if order != 0 { return (order < 0) == descriptor.ascending }
                }
                return left < right
            }
            guard indices != naive else { continue }
            let place = zip(indices, naive).first { $0 != $1 } ?? (0, 0)
            let values = try [place.0, place.1].map { index in try paths.map { try $0.value(of: rows[index].subject) } }
            Issue.record("seed \(seed), \(descriptors): \(values[0]) stands before \(values[1])")
            return
        }
    }

    private func naiveOrder(_ left: PropertyValue, _ right: PropertyValue) -> Int {
        func sign<Value: Comparable>(_ left: Value, _ right: Value) -> Int { left < right ? -1 : left == right ? 0 : 1 }
        switch (left, right) {
        case (.null, .null): return 0
        case (.null, _): return -1
        case (_, .null): return 1
        case (.bool(let left), .bool(let right)): return sign(left ? 1 : 0, right ? 1 : 0)
        case (.int64(let left), .int64(let right)): return sign(left, right)
        case (.double(let left), .double(let right)): return sign(left, right)
        case (.decimal(let left), .decimal(let right)): return sign(left, right)
        case (.date(let left), .date(let right)): return sign(left, right)
        case (.string(let left), .string(let right)):
            let first = left.precomposedStringWithCanonicalMapping.unicodeScalars
            let second = right.precomposedStringWithCanonicalMapping.unicodeScalars
            return first.elementsEqual(second) ? 0 : first.lexicographicallyPrecedes(second) ? -1 : 1
        default: return 0
        }
    }
}

/// Makes rows and predicates about them, with values chosen so that both answers are frequent.
struct RandomCases {
    var random: SeededGenerator

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    static let texts = [
        "", "a", "A", "ab", "abc", "Ą", "ą", "a\u{328}", "e\u{301}", "é", "éa", "e", "q\u{301}", "q", "K", "\u{212A}", "b", "Żółw", "zolw",
        "日本", "日", "ß", "ss",
        "한글", "한", "a\u{301}b", "common prefix one", "common prefix two", "Привет", "привет", "😀", "😀a",
    ]
    static let numbers: [Int64] = [0, 1, -1, 2, 5, 100, .max, .min, 9_007_199_254_740_993]
    static let fractions: [Double] = [0, -0.0, 1, 2.5, -1, 0.1, 100, 1e19, 9_007_199_254_740_992]
    static let decimals: [Decimal] = [0, 1, Decimal(string: "0.1") ?? 0, Decimal(string: "2.5") ?? 0, 100]
    static let dates = [0.0, 1, 86_400, 0.5].map { Date(timeIntervalSinceReferenceDate: $0) }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }

    mutating func optional<Value>(_ values: [Value]) -> Value? {
        Int.random(in: 0..<4, using: &random) == 0 ? nil : pick(values)
    }

    mutating func row(depth: Int) -> Row {
        let row = Row(
            active: optional([true, false]), age: optional(RandomCases.numbers), score: optional(RandomCases.fractions),
            born: optional(RandomCases.dates), name: optional(RandomCases.texts), city: optional(RandomCases.texts),
            price: optional(RandomCases.decimals))
        if depth > 0 {
            if Bool.random(using: &random) { row.boss = self.row(depth: depth - 1) }
            row.friends = (0..<Int.random(in: 0...2, using: &random)).map { _ in self.row(depth: 0) }
        }
        return row
    }

    mutating func predicate(depth: Int) -> PredicateTree {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 5), using: &random) {
        case 0...4: return comparison()
        case 5: return .and((0..<Int.random(in: 2...4, using: &random)).map { _ in predicate(depth: depth - 1) })
        case 6: return .or((0..<Int.random(in: 2...4, using: &random)).map { _ in predicate(depth: depth - 1) })
        default: return .not(predicate(depth: depth - 1))
        }
    }

    private mutating func comparison() -> PredicateTree {
        let isText = Bool.random(using: &random)
        let field = pick(isText ? ["name", "city"] : ["age", "score", "active", "born", "price"])
        var operations: [PredicateComparison.Operator] = [
            .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .isIn, .between,
        ]
        if isText { operations += [.beginsWith, .endsWith, .contains, .beginsWith] }
        let operation = pick(operations)
        var right: ExpressionTree
        switch operation {
        case .isIn: right = .constant(.array((0..<Int.random(in: 0...4, using: &random)).map { _ in constant(for: field) }))
        case .between: right = .constant(.array([constant(for: field), constant(for: field)]))
        default: right = .constant(constant(for: field))
        }
        if isText, ![.isIn, .between].contains(operation), Int.random(in: 0..<6, using: &random) == 0 { right = .keyPath(["city"]) }
        // A text operator on nil is unknown; on any other kind it is an error, which is tested elsewhere.
        var modifier = PredicateComparison.Modifier.direct
        var keys = [field]
        switch Int.random(in: 0..<8, using: &random) {
        case 0: keys.insert("boss", at: 0)
        case 1 where right != .keyPath(["city"]):
            keys.insert("friends", at: 0)
            modifier = pick([.any, .all])
        default: break
        }
        let options = isText ? PredicateComparison.Options(rawValue: Int.random(in: 0..<4, using: &random)) : []
        var left = ExpressionTree.keyPath(keys)
        if modifier == .direct, [.equal, .lessThan, .greaterThanOrEqual, .notEqual].contains(operation), Bool.random(using: &random) {
            swap(&left, &right)
        }
        return .compare(left, operation, right, modifier: modifier, options: options)
    }

    private mutating func constant(for field: String) -> PropertyValue {
        if Int.random(in: 0..<12, using: &random) == 0 { return .null }
        switch field {
        case "name", "city": return .string(pick(RandomCases.texts))
        case "born": return .date(pick(RandomCases.dates))
        case "active" where Bool.random(using: &random): return .bool(Bool.random(using: &random))
        default:
            switch Int.random(in: 0..<3, using: &random) {
            case 0: return .int64(pick(RandomCases.numbers))
            case 1: return .double(pick(RandomCases.fractions))
            default: return .decimal(pick(RandomCases.decimals))
            }
        }
    }
}
