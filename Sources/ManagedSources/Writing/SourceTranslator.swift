#if ManagedAccessors
internal import SwiftSyntax

/// Translates a source file for compilers without Objective-C, line by line.
///
/// It removes `@objc`, `@objcMembers`, `@nonobjc` and `dynamic`, replaces `#keyPath(Album.title)` by `"title"`, and adds accessors to
/// `@NSManaged` declarations. A model that names a class by its `@objc(Name)` finds it. With `#sourceLocation`, messages and the debugger
/// show the original.
public struct SourceTranslator {
    private let file: SourceFile

    /// Creates a translator for a file.
    public init(_ file: SourceFile) { self.file = file }

    /// Returns the translated source, and the problems of untranslatable parts.
    public func translation() -> (source: String, problems: [SourceProblem]) {
        let visitor = TranslationVisitor(file: file)
        visitor.walk(file.tree)
        var bytes = Array(file.text.utf8)
        for edit in visitor.edits.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
            // Line numbers are kept: the line ends of removed text remain.
            let ends = bytes[edit.range].filter { $0 == UInt8(ascii: "\n") }.count
            let kept = edit.replacement.utf8.filter { $0 == UInt8(ascii: "\n") }.count
            bytes.replaceSubrange(
                edit.range, with: Array(edit.replacement.utf8) + Array(repeating: UInt8(ascii: "\n"), count: max(0, ends - kept)))
        }
        let source = String(decoding: bytes, as: UTF8.self)
        return ("#sourceLocation(file: \(Self.literal(file.path)), line: 1)\n" + source, visitor.problems)
    }

    private static func literal(_ text: String) -> String {
        "\"" + text.map { $0 == "\\" || $0 == "\"" ? "\\\($0)" : "\($0)" }.joined() + "\""
    }
}

private struct Edit {
    let range: Range<Int>
    let replacement: String
}

private final class TranslationVisitor: SyntaxVisitor {
    let file: SourceFile
    private(set) var edits: [Edit] = []
    private(set) var problems: [SourceProblem] = []
    private let membersByNode: [SyntaxIdentifier: [ManagedMember]]
    private var typePath: [String] = []
    /// The end of the top-level declaration being visited.
    private var endAtTop = 0
    private var conditionDepth = 0

    init(file: SourceFile) {
        self.file = file
        membersByNode = Dictionary(grouping: file.members, by: \.node.id)
        super.init(viewMode: .sourceAccurate)
    }

    private func replace(_ node: some SyntaxProtocol, by text: String) {
        edits.append(
            Edit(
                range: node.positionAfterSkippingLeadingTrivia.utf8Offset..<node.endPositionBeforeTrailingTrivia.utf8Offset,
                replacement: text))
    }

    /// Removes a node and the spaces after it.
    private func remove(_ node: some SyntaxProtocol) {
        edits.append(Edit(range: node.positionAfterSkippingLeadingTrivia.utf8Offset..<node.endPosition.utf8Offset, replacement: ""))
    }

    // MARK: Attributes and modifiers

    override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind {
        switch node.attributeName.trimmedDescription {
        case "objc", "objcMembers", "nonobjc", "NSManaged": remove(node)
        default: return .visitChildren
        }
        return .skipChildren
    }

    override func visit(_ node: DeclModifierSyntax) -> SyntaxVisitorContinueKind {
        if node.name.tokenKind == .keyword(.dynamic) { remove(node) }
        return .skipChildren
    }

    override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind {
        conditionDepth += 1
        return .visitChildren
    }

    override func visitPost(_ node: IfConfigDeclSyntax) { conditionDepth -= 1 }

    // MARK: Types

    private func enter(_ node: some SyntaxProtocol, _ name: String) {
        if typePath.isEmpty { endAtTop = node.endPositionBeforeTrailingTrivia.utf8Offset }
        typePath.append(name)
    }

    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
        enter(node, node.name.text)
        let isPrivate = node.modifiers.contains { $0.name.text == "private" || $0.name.text == "fileprivate" }
        let isGeneric = node.genericParameterClause != nil
        if let other = node.attributes.objectiveCName, other != node.name.identifierText, !isPrivate, !isGeneric {
            // At the top level of the module and on the current line, so that no line below moves.
            let declaration =
                "; public final class ObjectiveCName_\(other): ObjectiveCName { "
                + "public override class var namedClass: AnyClass { \(typePath.joined(separator: ".")).self } }"
            edits.append(Edit(range: endAtTop..<endAtTop, replacement: declaration))
        }
        return .visitChildren
    }

    override func visitPost(_ node: ClassDeclSyntax) { typePath.removeLast() }

    override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind {
        enter(node, node.name.text)
        return .visitChildren
    }

    override func visitPost(_ node: StructDeclSyntax) { typePath.removeLast() }

    override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind {
        enter(node, node.name.text)
        return .visitChildren
    }

    override func visitPost(_ node: EnumDeclSyntax) { typePath.removeLast() }

    override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
        enter(node, node.extendedType.trimmedDescription)
        return .visitChildren
    }

    override func visitPost(_ node: ExtensionDeclSyntax) { typePath.removeLast() }

    // MARK: Members

    override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
        guard let members = membersByNode[node.id] else { return .visitChildren }
        walk(node.attributes)
        walk(node.modifiers)
        // `@NSManaged var a: Int, b: Int` becomes two declarations: a computed property is declared alone.
        let head = (node.attributes.compactMap(keptAttribute) + node.modifiers.compactMap(keptModifier) + ["var"]).joined(separator: " ")
        var declarations: [String] = []
        for member in members {
            guard case .property(let type) = member.kind else { continue }
            let code = MemberCode(member: member)
            let spelling = type.trimmedDescription
            let plain = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self).map { $0.wrappedType.trimmedDescription + "?" } ?? spelling
            declarations.append(
                "\(declarations.isEmpty ? "" : head + " ")\(Self.escaped(member.name)): \(spelling) "
                    + "{ get { self[Self.\(code.constant)] } set { self[Self.\(code.constant)] = newValue } }; \(code.declaration(of: plain))"
            )
        }
        replace(node.bindings, by: declarations.joined(separator: "; "))
        return .skipChildren
    }

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        guard let member = membersByNode[node.id]?.first else { return .visitChildren }
        let parameters = node.signature.parameterClause.parameters.map { "`\(($0.secondName ?? $0.firstName).identifierText)`" }
        let code = MemberCode(member: member)
        guard let body = code.body(parameters: parameters, result: node.signature.returnClause?.type.trimmedDescription) else {
            problems.append(file.problem(code.unknownMethod, at: member.position))
            return .skipChildren
        }
        let end = node.endPositionBeforeTrailingTrivia.utf8Offset
        edits.append(Edit(range: end..<end, replacement: " { \(body) }"))
        walk(node.attributes)
        walk(node.modifiers)
        return .skipChildren
    }

    private func keptAttribute(_ element: AttributeListSyntax.Element) -> String? {
        guard let attribute = element.as(AttributeSyntax.self) else { return nil }
        return ["objc", "nonobjc", "NSManaged"].contains(attribute.attributeName.trimmedDescription) ? nil : attribute.trimmedDescription
    }

    private func keptModifier(_ modifier: DeclModifierSyntax) -> String? {
        modifier.name.tokenKind == .keyword(.dynamic) ? nil : modifier.trimmedDescription
    }

    private static func escaped(_ name: String) -> String { "`\(name)`" }

    // MARK: Expressions

    override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind {
        switch node.macroName.text {
        case "keyPath":
            guard let path = node.arguments.first?.expression, let names = Self.names(path) else {
                problems.append(file.problem("#keyPath: the parentheses do not contain a path of names.", at: node.position))
                return .skipChildren
            }
            // Types begin with a capital: the rest of the path consists of properties.
            let properties = names.drop { $0.first?.isUppercase == true || $0 == "self" }
            guard !properties.isEmpty else {
                problems.append(
                    file.problem(
                        "#keyPath(\(names.joined(separator: "."))): no component begins with a small letter, so that it cannot be told which are "
                            + "types. Write the key as a string.", at: node.positionAfterSkippingLeadingTrivia))
                return .skipChildren
            }
            replace(node, by: "\"\(properties.joined(separator: "."))\"")
            return .skipChildren
        case "selector":
            // Within `#if`, the compiler reports the problem if it matters.
            if conditionDepth == 0 {
                problems.append(
                    file.problem(
                        "#selector: there are no selectors without Objective-C. Pass a closure, or put the code between "
                            + "`#if canImport(ObjectiveC)` and `#endif`.", at: node.positionAfterSkippingLeadingTrivia))
            }
            return .skipChildren
        default: return .visitChildren
        }
    }

    private static func names(_ expression: ExprSyntax) -> [String]? {
        if let reference = expression.as(DeclReferenceExprSyntax.self) { return [reference.baseName.identifierText] }
        if let chained = expression.as(OptionalChainingExprSyntax.self) { return names(chained.expression) }
        guard let member = expression.as(MemberAccessExprSyntax.self), let base = member.base, let outer = names(base) else { return nil }
        return outer + [member.declName.baseName.identifierText]
    }
}
#endif
