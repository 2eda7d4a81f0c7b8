import Foundation

/// Turns a tree into closures over the slots of one schema.
///
/// Logic of three values costs nothing at run time: a test is compiled either to ask whether the tree is true or to ask whether it is false,
/// and NOT exchanges the two. A comparison with nil is neither.
final class PredicateCompiler {
    /// What a variable stands for while a SUBQUERY runs.
    final class Binding {
        let schema: SchemaReference?
        var subject: PredicateSubject?
        var value: PropertyValue = .null

        init(schema: SchemaReference?) {
            self.schema = schema
        }
    }

    /// A host's object among the constants, and what stands for it.
    struct ResolvedConstant {
        let reference: ObjectReference
        let value: PropertyValue?
    }

    let schema: SchemaReference
    let logic: NilLogic
    /// What the compiled closures refer to, and must be kept while they run.
    private(set) var schemas: [any PredicateSchema]
    /// The host's objects among the constants.
    var constants: [ResolvedConstant] = []
    /// Whether what was compiled holds good at any later time.
    private(set) var isReusable = true
    var bindings: [String: Binding] = [:]
    /// What blocks within expressions are given besides their arguments.
    var surroundings: NSMutableDictionary?
    private var depth = 0

    init(schema: any PredicateSchema, logic: NilLogic) {
        self.schema = SchemaReference(schema)
        self.logic = logic
        schemas = [schema]
    }

    /// A schema for the compiled closures, which own none.
    func reference(to schema: any PredicateSchema) -> SchemaReference {
        if !schemas.contains(where: { $0 === schema }) { schemas.append(schema) }
        return SchemaReference(schema)
    }

    /// Compiles a tree.
    ///
    /// - Parameters:
    ///   - tree: The tree.
    ///   - expected: The answer that the test looks for.
    /// - Returns: A test that answers whether the tree's answer is the expected one.
    func test(_ tree: PredicateTree, expecting expected: Bool) throws -> SubjectTest {
        try compiled(tree, expecting: expected).closure
    }

    func compiled(_ tree: PredicateTree, expecting expected: Bool) throws -> CompiledTest {
        try descend()
        defer { ascend() }
        return try unlimitedTest(tree, expecting: expected)
    }

    /// Goes one level deeper, within the limit; ``ascend()`` must follow.
    func descend() throws {
        depth += 1
        // Trees that were put together from read ones are allowed to be somewhat deeper than these.
        guard depth <= PredicateLimits.nesting * 3 / 2 else {
            depth -= 1
            throw InvalidPredicateError(
                kind: .tooDeep, message: "The predicate nests deeper than \(PredicateLimits.nesting * 3 / 2) levels")
        }
    }

    /// Comes back from one level deeper.
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

    /// Several tests in one. All parts are asked for the same answer: either one that gives it
    /// suffices, or all must.
    private func junction(_ parts: [PredicateTree], expecting expected: Bool, sufficesOne: Bool) throws -> CompiledTest {
        var tests: [CompiledTest] = []
        tests.reserveCapacity(parts.count)
        for part in parts { tests.append(try compiled(part, expecting: expected)) }
        return CompiledTest.junction(tests, sufficesOne: sufficesOne)
    }

    // MARK: Comparisons

    private func test(_ comparison: PredicateComparison, expecting expected: Bool) throws -> CompiledTest {
        let clause = comparison.clause
        // The current locale may be another one the next time.
        if comparison.options.contains(.localeSensitive) { isReusable = false }
        if case .custom(let name) = comparison.operator {
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
        if let shortcut = ShortcutTests.make(comparison, left: left, right: right, logic: logic, expecting: expected) { return shortcut }
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
        case .slot, .value, .subject, .reference:
            let keyword = comparison.modifier == .all ? "ALL" : "ANY"
            throw InvalidPredicateError(
                kind: .unsupported, message: "\(keyword) needs a collection on its left side, in the clause \(comparison.clause)")
        default: break
        }
        let visit = left.elements(clause: comparison.clause)
        let read = right.scalar()
        let isAll = comparison.modifier == .all
        return { subject in
            let other = try read(subject)
            // ANY stops at the first element that matches, ALL at the first that does not.
            var answer = isAll
            try visit(subject) { element in
                guard try (compare(element, other) == .yes) != isAll else { return true }
                answer = !isAll
                return false
            }
            return answer == expected
        }
    }

    /// Whether a value is among those a relationship leads to, without loading more of them than needed.
    private func membership(of element: Operand, in collection: Operand, compare: ValueTest, expecting expected: Bool) -> SubjectTest {
        let read = element.scalar()
        let visit = collection.elements()
        let wanted = Truth(expected)
        return { subject in
            let element = try read(subject)
            var answer = Truth.no
            try visit(subject) { candidate in
                // One candidate at a time, as a collection of its own, follows the same rules as the whole.
                let truth =
                    try compare.operation == .isIn
                    ? compare(element, .array([candidate])) : compare(.array([candidate]), element)
                if truth != .no { answer = truth }
                return truth != .yes
            }
            return answer == wanted
        }
    }

    /// Finds what can never be evaluated, before there is anything to evaluate.
    private func checkKinds(_ comparison: PredicateComparison, left: Operand, right: PropertyValue?, clause: String) throws {
        if case .slot(_, let kind) = left, kind != .string,
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
