#if ManagedAccessors
internal import SwiftSyntax

/// A cast of a value to a fetch request of some result type, `request as! NSFetchRequest<Album>`.
///
/// Generic parameters of Objective-C classes do not exist at run time, so that such a cast succeeds on Apple's platforms for every fetch
/// request. Swift's generic classes have different types for different parameters.
struct FetchRequestCast {
    /// The type, in source form.
    let type: String
    /// Whether it is `as!`.
    let isForced: Bool
    /// The expression that is cast begins here.
    let start: AbsolutePosition
    /// The end of the expression that is cast.
    let operandEnd: AbsolutePosition
    let operatorPosition: AbsolutePosition
    let end: AbsolutePosition

    /// Returns the casts in a sequence of operands and operators.
    static func all(in sequence: SequenceExprSyntax) -> [FetchRequestCast] {
        let elements = Array(sequence.elements)
        return elements.indices.compactMap { index in
            guard index > 0, index + 1 < elements.count, let cast = elements[index].as(UnresolvedAsExprSyntax.self),
                let mark = cast.questionOrExclamationMark, let type = elements[index + 1].as(TypeExprSyntax.self)?.type,
                isFetchRequest(type)
            else { return nil }
            var first = index - 1
            // `a as Any as! NSFetchRequest<Album>`: the cast applies to the result of the casts before it.
            while first >= 2, elements[first].is(TypeExprSyntax.self), elements[first - 1].is(UnresolvedAsExprSyntax.self) { first -= 2 }
            return FetchRequestCast(
                type: type.trimmedDescription, isForced: mark.tokenKind == .exclamationMark,
                start: afterEffects(elements[first]).positionAfterSkippingLeadingTrivia,
                operandEnd: elements[index - 1].endPositionBeforeTrailingTrivia, operatorPosition: cast.positionAfterSkippingLeadingTrivia,
                end: type.endPositionBeforeTrailingTrivia)
        }
    }

    /// Returns whether a type in source form is that of fetch requests of some result type.
    static func isFetchRequest(_ type: TypeSyntax) -> Bool {
        if let simple = type.as(IdentifierTypeSyntax.self) {
            return simple.name.text == "NSFetchRequest" && simple.genericArgumentClause != nil
        }
        guard let member = type.as(MemberTypeSyntax.self) else { return false }
        return member.name.text == "NSFetchRequest" && member.genericArgumentClause != nil
    }

    /// Returns an expression without the `try` and `await` before it, which apply to everything after them.
    private static func afterEffects(_ expression: ExprSyntax) -> ExprSyntax {
        if let marked = expression.as(TryExprSyntax.self) { return afterEffects(marked.expression) }
        if let marked = expression.as(AwaitExprSyntax.self) { return afterEffects(marked.expression) }
        return expression
    }

    /// The warning at a cast that is compiled unchanged.
    var warning: String {
        let failure = isForced ? "stops the program" : "is nil"
        return "this cast \(failure) unless the request was created as \(type), because generic types have no subtypes in Swift. "
            + "Write \(type).converted(from: request)\(isForced ? "!" : "")"
    }
}

/// Finds uses of fetch request types in a file that mean something else than on Apple's platforms.
class FetchRequestFinder: SyntaxVisitor {
    fileprivate let file: SourceFile
    fileprivate var warnings: [SourceProblem] = []

    required init(file: SourceFile) {
        self.file = file
        super.init(viewMode: .sourceAccurate)
    }

    /// Returns a warning for each place of a file.
    static func warnings(in file: SourceFile) -> [SourceProblem] {
        guard file.text.contains("NSFetchRequest<") else { return [] }
        let finder = Self(file: file)
        finder.walk(file.tree)
        return finder.warnings
    }

    /// Code between `#if` and `#endif` may be meant for other platforms.
    override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
}

/// Finds the casts of a file that are compiled unchanged.
final class FetchRequestCastFinder: FetchRequestFinder {
    /// A store's `execute(_:with:)` always receives a request of the type that it casts to.
    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        let labels = node.signature.parameterClause.parameters.map(\.firstName.text)
        return node.name.text == "execute" && labels == ["_", "with"] ? .skipChildren : .visitChildren
    }

    override func visit(_ node: SequenceExprSyntax) -> SyntaxVisitorContinueKind {
        for cast in FetchRequestCast.all(in: node) {
            warnings.append(file.warning(cast.warning, at: cast.operatorPosition))
        }
        return .visitChildren
    }
}

/// Finds tests for a fetch request of some result type, `request is NSFetchRequest<Album>` and the pattern `case let request as
/// NSFetchRequest<Album>`: no conversion can replace them, not even in a translated copy.
final class FetchRequestTestFinder: FetchRequestFinder {
    override func visit(_ node: IsTypePatternSyntax) -> SyntaxVisitorContinueKind {
        warn(of: node.type, at: node.isKeyword.positionAfterSkippingLeadingTrivia)
        return .visitChildren
    }

    override func visit(_ node: SequenceExprSyntax) -> SyntaxVisitorContinueKind {
        let elements = Array(node.elements)
        for (test, operand) in zip(elements, elements.dropFirst()) {
            guard let type = operand.as(TypeExprSyntax.self)?.type else { continue }
            // `value as NSFetchRequest<Album>` is not a test, unless the part before it is a pattern.
            let isPattern = test.is(UnresolvedAsExprSyntax.self) && elements[0].is(PatternExprSyntax.self)
            guard test.is(UnresolvedIsExprSyntax.self) || isPattern else { continue }
            warn(of: type, at: test.positionAfterSkippingLeadingTrivia)
        }
        return .visitChildren
    }

    private func warn(of type: TypeSyntax, at position: AbsolutePosition) {
        guard FetchRequestCast.isFetchRequest(type) else { return }
        let text = type.trimmedDescription
        warnings.append(
            file.warning(
                "this is false unless the request was created as \(text), because generic types have no subtypes in Swift. "
                    + "Ask \(text).converted(from: request) != nil", at: position))
    }
}

extension SourceFile {
    fileprivate func warning(_ message: String, at position: AbsolutePosition) -> SourceProblem {
        var problem = problem(message, at: position)
        problem.isWarning = true
        return problem
    }
}
#endif
