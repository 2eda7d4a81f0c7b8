internal import Foundation

/// The translation of a `#Predicate` node.
enum Translated {
    case predicate(PredicateTree)
    case expression(ExpressionTree)
}

/// A node of `#Predicate` with a counterpart in the predicate language.
protocol TranslatableExpression {
    /// Translates the node.
    ///
    /// The tree of a predicate node matches exactly when the node is true (or false, when `negated`); an unknown result counts as neither. An
    /// expression node ignores `negated`.
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated
}

/// A node of `#Predicate` that can print its Swift source, for messages.
protocol SourceRepresentable {
    /// Returns the node as Swift source.
    func sourceText(by translation: PredicateTranslation) -> String
}

/// Translates a predicate of `#Predicate` to a tree. An instance performs one translation.
final class PredicateTranslation {
    /// The expressions of the variables, including the evaluated object.
    private var bindings: [PredicateExpressions.VariableID: ExpressionTree] = [:]
    private var names: [PredicateExpressions.VariableID: String] = [:]
    private var variableCount = 0

    /// Binds a variable to an expression.
    func bind<Value>(_ variable: PredicateExpressions.Variable<Value>, to expression: ExpressionTree, name: String) {
        bindings[variable.key] = expression
        names[variable.key] = name
    }

    /// Creates and binds a variable of a SUBQUERY.
    func bindElement<Value>(_ variable: PredicateExpressions.Variable<Value>) -> String {
        variableCount += 1
        let name = "element\(variableCount)"
        bind(variable, to: .variable(name), name: "$" + name)
        return name
    }

    func expression(of variable: PredicateExpressions.VariableID) -> ExpressionTree? { bindings[variable] }

    func name(of variable: PredicateExpressions.VariableID) -> String { names[variable] ?? "$0" }

    // MARK: Traversal

    /// Returns the tree that matches exactly when the node is true, or false when `negated`.
    func predicate<Node: PredicateExpression>(_ node: Node, negated: Bool = false) throws -> PredicateTree {
        switch try translated(node, negated: negated) {
        case .predicate(let tree): return tree
        case .expression(.constant(.bool(let value))): return value != negated ? .true : .false
        case .expression(let expression):
            let tree = PredicateTree.compare(expression, .equal, .constant(.bool(true)))
            return negated ? .not(tree) : tree
        }
    }

    /// Returns the node as an expression.
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
            // A node without variables is evaluated, whatever its form.
            if let value = try? node.evaluate(PredicateBindings()), let constant = try? PropertyValue(any: value) {
                return .expression(.constant(constant))
            }
            throw error
        }
    }

    // MARK: Messages

    /// Returns the Swift source of a node.
    func sourceText<Node: PredicateExpression>(_ node: Node) -> String {
        (node as? any SourceRepresentable)?.sourceText(by: self) ?? String(describing: node)
    }

    /// Returns the error for a node without a counterpart.
    func failure<Node: PredicateExpression>(_ node: Node, _ reason: String? = nil) -> InvalidPredicateError {
        InvalidPredicateError(
            kind: .unsupported,
            message: "`\(sourceText(node))` has no counterpart in the predicate language" + (reason.map { ": \($0)" } ?? ""))
    }
}

extension PredicateTree {
    /// Returns the conjunction of the parts, without nested ANDs.
    static func every(_ parts: PredicateTree...) -> PredicateTree {
        let flat = parts.flatMap { if case .and(let inner) = $0 { inner } else { [$0] } }
        return flat.count == 1 ? flat[0] : .and(flat)
    }

    /// Returns the disjunction of the parts, without nested ORs.
    static func some(_ parts: PredicateTree...) -> PredicateTree {
        let flat = parts.flatMap { if case .or(let inner) = $0 { inner } else { [$0] } }
        return flat.count == 1 ? flat[0] : .or(flat)
    }

    /// Returns the tree, or its negation.
    func negated(_ isNegated: Bool) -> PredicateTree { isNegated ? .not(self) : self }
}

extension ExpressionTree {
    var isNil: PredicateTree { .compare(self, .equal, .constant(.null)) }
    var isNotNil: PredicateTree { .compare(self, .notEqual, .constant(.null)) }
}
