internal import Foundation

/// What an expression of `#Predicate` becomes.
enum Translated {
    case predicate(PredicateTree)
    case expression(ExpressionTree)
}

/// A node of `#Predicate` that has a counterpart in the predicate language.
protocol TranslatableExpression {
    /// The counterpart.
    ///
    /// A node that becomes a predicate obeys `negated`, and its tree matches exactly when the node's own answer is true (false, when negated):
    /// never is an unknown answer in the place of either. A node that becomes an expression leaves `negated` alone.
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated
}

/// A node of `#Predicate` that can say how it is written in Swift, for messages.
protocol WrittenExpression {
    /// The node as Swift source.
    func written(by translation: PredicateTranslation) -> String
}

/// Turns a predicate of `#Predicate` into a tree. It serves one translation.
final class PredicateTranslation {
    /// What stands for the variables, the evaluated object among them.
    private var bindings: [PredicateExpressions.VariableID: ExpressionTree] = [:]
    private var names: [PredicateExpressions.VariableID: String] = [:]
    private var variableCount = 0

    /// Lets a variable stand for an expression.
    func bind<Value>(_ variable: PredicateExpressions.Variable<Value>, to expression: ExpressionTree, name: String) {
        bindings[variable.key] = expression
        names[variable.key] = name
    }

    /// Makes a variable of a SUBQUERY.
    func bindElement<Value>(_ variable: PredicateExpressions.Variable<Value>) -> String {
        variableCount += 1
        let name = "element\(variableCount)"
        bind(variable, to: .variable(name), name: "$" + name)
        return name
    }

    func expression(of variable: PredicateExpressions.VariableID) -> ExpressionTree? { bindings[variable] }

    func name(of variable: PredicateExpressions.VariableID) -> String { names[variable] ?? "$0" }

    // MARK: Walking

    /// The tree that matches exactly when the node's answer is true, or false when `negated`.
    func predicate<Node: PredicateExpression>(_ node: Node, negated: Bool = false) throws -> PredicateTree {
        switch try translated(node, negated: negated) {
        case .predicate(let tree): return tree
        case .expression(.constant(.bool(let value))): return value != negated ? .true : .false
        case .expression(let expression):
            let tree = PredicateTree.compare(expression, .equal, .constant(.bool(true)))
            return negated ? .not(tree) : tree
        }
    }

    /// The node as a value.
    func expression<Node: PredicateExpression>(_ node: Node) throws -> ExpressionTree {
        switch try translated(node, negated: false) {
        case .expression(let expression): return expression
        case .predicate(let tree): return .conditional(tree, .constant(.bool(true)), .constant(.bool(false)))
        }
    }

    private func translated<Node: PredicateExpression>(_ node: Node, negated: Bool) throws -> Translated {
        do {
            guard let translatable = node as? any TranslatableExpression else { throw failure(node) }
            return try translatable.translated(by: self, negated: negated)
        } catch {
            // What depends on no variable has a value, however it is written.
            if let value = try? node.evaluate(PredicateBindings()), let constant = try? PropertyValue(any: value) {
                return .expression(.constant(constant))
            }
            throw error
        }
    }

    // MARK: Messages

    /// How a node is written in Swift.
    func written<Node: PredicateExpression>(_ node: Node) -> String {
        (node as? any WrittenExpression)?.written(by: self) ?? String(describing: node)
    }

    /// The error of a node that has no counterpart.
    func failure<Node: PredicateExpression>(_ node: Node, _ reason: String? = nil) -> InvalidPredicateError {
        InvalidPredicateError(
            kind: .unsupported,
            message: "`\(written(node))` has no counterpart in the predicate language" + (reason.map { ": \($0)" } ?? ""))
    }
}

extension PredicateTree {
    /// All of the parts, without an AND within an AND.
    static func every(_ parts: PredicateTree...) -> PredicateTree {
        let flat = parts.flatMap { if case .and(let inner) = $0 { inner } else { [$0] } }
        return flat.count == 1 ? flat[0] : .and(flat)
    }

    /// Some of the parts, without an OR within an OR.
    static func some(_ parts: PredicateTree...) -> PredicateTree {
        let flat = parts.flatMap { if case .or(let inner) = $0 { inner } else { [$0] } }
        return flat.count == 1 ? flat[0] : .or(flat)
    }

    /// The tree, or what matches when it is known not to match.
    func negated(_ isNegated: Bool) -> PredicateTree { isNegated ? .not(self) : self }
}

extension ExpressionTree {
    var isNil: PredicateTree { .compare(self, .equal, .constant(.null)) }
    var isNotNil: PredicateTree { .compare(self, .notEqual, .constant(.null)) }
}
