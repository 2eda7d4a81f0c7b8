import Foundation

/// Compiles a tree to closures over the slots of one schema.
///
/// Three-valued logic costs nothing at run time: a test is compiled to return whether the tree is true, or whether it is false, and NOT
/// exchanges the two. A comparison with nil is neither.
final class PredicateCompiler {
    /// The value of a variable while a SUBQUERY runs.
    final class Binding {
        let schema: SchemaReference?
        var subject: PredicateSubject?
        var value: PropertyValue = .null

        init(schema: SchemaReference?) {
            self.schema = schema
        }
    }

    /// A host's object among the constants, and its identity.
    struct ResolvedConstant {
        let reference: ObjectReference
        let value: PropertyValue?
    }

    let schema: SchemaReference
    let logic: NilLogic
    /// The schemas that the compiled closures refer to; they must be retained while the closures run.
    private(set) var schemas: [any PredicateSchema]
    /// The host's objects among the constants.
    var constants: [ResolvedConstant] = []
    /// Whether the compiled code stays valid.
    private(set) var isReusable = true
    var bindings: [String: Binding] = [:]
    /// The variable that stands for the evaluated subject while the condition of a SUBQUERY is compiled for the elements themselves.
    var subqueryElement: (variable: String, schema: SchemaReference)?
    /// The context that blocks in expressions receive.
    var surroundings: NSMutableDictionary?
    private var depth = 0

    init(schema: any PredicateSchema, logic: NilLogic) {
        self.schema = SchemaReference(schema)
        self.logic = logic
        schemas = [schema]
    }

    /// Returns a reference to a schema for the compiled closures, which retain none.
    func reference(to schema: any PredicateSchema) -> SchemaReference {
        if !schemas.contains(where: { $0 === schema }) { schemas.append(schema) }
        return SchemaReference(schema)
    }

    /// Compiles a tree.
    ///
    /// - Parameters:
    ///   - tree: The tree.
    ///   - expected: The result that the test looks for.
    /// - Returns: A test that returns whether the tree has the expected result.
    func test(_ tree: PredicateTree, expecting expected: Bool) throws -> SubjectTest {
        try compiled(tree, expecting: expected).closure
    }

    func compiled(_ tree: PredicateTree, expecting expected: Bool) throws -> CompiledTest {
        try descend()
        defer { ascend() }
        return try unlimitedTest(tree, expecting: expected)
    }

    /// Enters a level of nesting, within the limit; ``ascend()`` must follow.
    func descend() throws {
        depth += 1
        // Combinations of parsed trees may be deeper than a parsed tree.
        guard depth <= PredicateLimits.nesting * 3 / 2 else {
            depth -= 1
            throw InvalidPredicateError(
                kind: .tooDeep, message: "The predicate nests deeper than \(PredicateLimits.nesting * 3 / 2) levels")
        }
    }

    /// Leaves a level of nesting.
    func ascend() {
        depth -= 1
    }

    private func unlimitedTest(_ tree: PredicateTree, expecting expected: Bool) throws -> CompiledTest {
        switch tree {
        case .true: return .closure { _ in expected }
        case .false: return .closure { _ in !expected }
        case .not(let part): return try compiled(part, expecting: !expected)
        case .and(let parts): return try junction(parts, expecting: expected, sufficesOne: !expected)
        case .or(let parts): return try junction(parts, expecting: expected, sufficesOne: expected)
        case .block(let block):
            let schema = schema
            return .closure { block.predicate.evaluate(with: schema.publicObject(of: $0)) == expected }
        case .comparison(let comparison):
            return try test(comparison, expecting: expected)
        }
    }

    /// Combines several tests. All parts look for the same result: either one part that has it suffices, or all must have it.
    private func junction(_ parts: [PredicateTree], expecting expected: Bool, sufficesOne: Bool) throws -> CompiledTest {
        var tests: [CompiledTest] = []
        tests.reserveCapacity(parts.count)
        for part in parts { tests.append(try compiled(part, expecting: expected)) }
        return CompiledTest.junction(tests, sufficesOne: sufficesOne)
    }

    // MARK: Comparisons

    private func test(_ comparison: PredicateComparison, expecting expected: Bool) throws -> CompiledTest {
        let clause = comparison.clause
        // The current locale may change.
        if comparison.options.contains(.localeSensitive) { isReusable = false }
        if case .custom(let name) = comparison.operator, ClassTest(rawValue: name) == nil {
            throw InvalidPredicateError(kind: .unsupported, message: "\(name) cannot be evaluated, in the clause \(clause)")
        }
        let left = try operand(comparison.left, clause: clause)
        let right = try operand(comparison.right, clause: clause)
        let constantRight: PropertyValue? = if case .constant(let value) = right { value } else { nil }
        try checkKinds(comparison, left: left, right: constantRight, clause: clause)
        let compare = try ValueTest(comparison, logic: logic, constantRight: constantRight)
        if comparison.modifier != .direct {
            return .closure(try modifiedTest(comparison, left: left, right: right, compare: compare, expecting: expected))
        }
        if let shortcut = SpecializedTests.make(comparison, left: left, right: right, logic: logic, expecting: expected) { return shortcut }
        if comparison.operator == .contains, left.isMany {
            return .closure(membership(of: right, in: left, compare: compare, expecting: expected))
        }
        if comparison.operator == .isIn, right.isMany {
            return .closure(membership(of: left, in: right, compare: compare, expecting: expected))
        }
        if left.isMany || right.isMany {
            throw InvalidPredicateError(
                kind: .unsupported, message: "A path over a to-many relationship needs ANY, ALL, NONE or @count, in the clause \(clause)")
        }
        return .closure(valueTest(left.scalar(), right.scalar(), compare, expecting: expected))
    }

    private func valueTest(
        _ left: @escaping ValueReader, _ right: @escaping ValueReader, _ compare: ValueTest, expecting expected: Bool
    ) -> SubjectTest {
        let wanted = Truth(expected)
        return { subject in try compare(left(subject), right(subject)) == wanted }
    }

    /// `ANY` and `ALL` are never unknown: an element either matches or does not.
    private func modifiedTest(
        _ comparison: PredicateComparison, left: Operand, right: Operand, compare: ValueTest, expecting expected: Bool
    ) throws -> SubjectTest {
        switch left {
        case .slot, .value, .subject, .reference, .count:
            let keyword = comparison.modifier == .all ? "ALL" : "ANY"
            throw InvalidPredicateError(
                kind: .unsupported, message: "\(keyword) needs a collection on its left side, in the clause \(comparison.clause)")
        default: break
        }
        let isAll = comparison.modifier == .all
        if case .slots(let visit, let location, let kind) = left,
            let test = SpecializedTests.make(
                comparison, left: .slot(location, kind), right: right, logic: logic, expecting: true)
        {
            return test.quantified(over: visit, isAll: isAll, expecting: expected)
        }
        let visit = left.elements(clause: comparison.clause)
        let read = right.scalar()
        return { subject in
            let other = try read(subject)
            // ANY stops at the first element that matches, ALL at the first that does not.
            try TimeLimit.check()
            var answer = isAll
            try visit(subject) { element in
                guard try (compare(element, other) == .yes) != isAll else { return true }
                answer = !isAll
                return false
            }
            return answer == expected
        }
    }

    /// Returns whether a value is among the destinations of a relationship, without loading more of them than needed.
    private func membership(of element: Operand, in collection: Operand, compare: ValueTest, expecting expected: Bool) -> SubjectTest {
        let read = element.scalar()
        let visit = collection.elements()
        let wanted = Truth(expected)
        return { subject in
            let element = try read(subject)
            var answer = Truth.no
            try visit(subject) { candidate in
                // A single candidate, as a collection, follows the same rules as the whole.
                let truth =
                    try compare.operation == .isIn
                    ? compare(element, .array([candidate])) : compare(.array([candidate]), element)
                if truth != .no { answer = truth }
                return truth != .yes
            }
            return answer == wanted
        }
    }

    /// Reports comparisons that can never be evaluated, at compile time.
    private func checkKinds(_ comparison: PredicateComparison, left: Operand, right: PropertyValue?, clause: String) throws {
        // In the condition of a SUBQUERY it is an error of those elements that have a value.
        if case .slot(_, let kind) = left, kind != .string, subqueryElement == nil,
            [.beginsWith, .endsWith, .like, .matches, .contains].contains(comparison.operator)
        {
            throw InvalidPredicateError(
                kind: .unsupported,
                message: "\(comparison.operator.keyword) looks into text, and \(comparison.left) holds none, in the clause \(clause)")
        }
        guard let right, !right.isNull else { return }
        switch comparison.operator {
        case .between:
            if let bounds = right.elements, bounds.count == 2 { return }
            throw InvalidPredicateError(kind: .unsupported, message: "BETWEEN needs a lowest and a highest value, in the clause \(clause)")
        case .isIn:
            if right.elements != nil { return }
            if case .string = right { return }
            throw InvalidPredicateError(
                kind: .unsupported, message: "\(right.typeName) is neither a collection nor a string, in the clause \(clause)")
        case .beginsWith, .endsWith, .like, .matches:
            if case .string = right { return }
            throw InvalidPredicateError(
                kind: .unsupported,
                message: "\(comparison.operator.keyword) compares text, found \(right.typeName), in the clause \(clause)")
        default: return
        }
    }
}
