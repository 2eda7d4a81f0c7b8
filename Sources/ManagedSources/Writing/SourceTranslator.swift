#if ManagedAccessors
internal import SwiftSyntax

/// Translates a source file for compilers without Objective-C, line by line.
///
/// It removes `@objc`, `@objcMembers`, `@nonobjc` and `dynamic`, replaces `#keyPath(Album.title)` by `"title"`, and adds accessors to `@NSManaged`
/// declarations. Overrides in extensions are moved into the class if it is in the same file, classes with initializers of their own get
/// `init(entity:insertInto:)`, and casts to other types of fetch requests become conversions. A model that names a class by its `@objc(Name)` finds
/// it. With `#sourceLocation`, messages and the debugger show the original.
public struct SourceTranslator {
    private let file: SourceFile
    private let table: SymbolTable

    /// Creates a translator for a file, with the table of its module.
    public init(_ file: SourceFile, table: SymbolTable) {
        self.file = OverrideMover.moved(file)
        self.table = table
    }

    /// Returns the translated source, and the problems of untranslatable parts.
    public func translation() -> (source: String, problems: [SourceProblem]) {
        let visitor = TranslationVisitor(file: file, managedClasses: Set(file.types.filter(table.isManaged).map(Self.path)))
        visitor.walk(file.tree)
        let source = SourceEdit.apply(visitor.edits, to: file.text)
        return ("#sourceLocation(file: \(SourceEdit.literal(file.path)), line: 1)\n" + source, visitor.problems)
    }

    /// Returns the names of a type and its enclosing types, as the visitor collects them.
    private static func path(of declaration: TypeDeclaration) -> String {
        var names = [declaration.name]
        var scope = declaration.scope
        while let current = scope {
            switch current.kind {
            case .type(let outer): names.insert(outer.name, at: 0)
            case .extensionOf(let outer): names.insert(contentsOf: outer, at: 0)
            }
            scope = current.outer
        }
        return names.joined(separator: ".")
    }
}

private final class TranslationVisitor: SyntaxVisitor {
    let file: SourceFile
    private(set) var edits: [SourceEdit] = []
    private(set) var problems: [SourceProblem] = []
    private let membersByNode: [SyntaxIdentifier: [ManagedMember]]
    private var typePath: [String] = []
    /// The end of the top-level declaration being visited.
    private var endAtTop = 0
    private var conditionDepth = 0

    private let managedClasses: Set<String>

    init(file: SourceFile, managedClasses: Set<String>) {
        self.file = file
        self.managedClasses = managedClasses
        membersByNode = Dictionary(grouping: file.members, by: \.node.id)
        super.init(viewMode: .sourceAccurate)
    }

    private func replace(_ node: some SyntaxProtocol, by text: String) {
        edits.append(
            SourceEdit(
                range: node.positionAfterSkippingLeadingTrivia.utf8Offset..<node.endPositionBeforeTrailingTrivia.utf8Offset,
                replacement: text))
    }

    /// Removes a node and the spaces after it.
    private func remove(_ node: some SyntaxProtocol) {
        edits.append(SourceEdit(range: node.positionAfterSkippingLeadingTrivia.utf8Offset..<node.endPosition.utf8Offset, replacement: ""))
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
            edits.append(SourceEdit(range: endAtTop..<endAtTop, replacement: declaration))
        }
        if managedClasses.contains(typePath.joined(separator: ".")) { edits += RequiredInitializer.edits(of: node) }
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
        // `@NSManaged var a: Int, b: Int` becomes two declarations: a computed property needs a declaration of its own.
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
        edits.append(SourceEdit(range: end..<end, replacement: " { \(body) }"))
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

    override func visit(_ node: SequenceExprSyntax) -> SyntaxVisitorContinueKind {
        for cast in FetchRequestCast.all(in: node) {
            edits.append(SourceEdit(from: cast.start, to: cast.start, "\(cast.type).converted(from: "))
            edits.append(SourceEdit(from: cast.operandEnd, to: cast.end, cast.isForced ? ")!" : ")"))
        }
        return .visitChildren
    }

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
