#if ManagedAccessors
internal import Foundation
internal import SwiftParser
internal import SwiftSyntax

/// A source file and its types, `@NSManaged` members and imports.
public final class SourceFile {
    /// The path of the file.
    public let path: String
    let text: String
    let module: String
    private(set) var types: [TypeDeclaration] = []
    private(set) var members: [ManagedMember] = []
    private(set) var imports: [Import] = []
    let tree: SourceFileSyntax
    private let converter: SourceLocationConverter

    /// Parses and scans a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file, for messages.
    ///   - text: The text of the file.
    ///   - module: The module of the file.
    public init(path: String, text: String, module: String) {
        self.path = path
        self.text = text
        self.module = module
        tree = Parser.parse(source: text)
        converter = SourceLocationConverter(fileName: path, tree: tree)
        let scanner = Scanner(file: self)
        scanner.walk(tree)
        types = scanner.types
        members = scanner.members
        imports = scanner.imports
    }

    /// An import declaration.
    struct Import {
        let module: String
        /// The declaration in source form.
        var text: String
        /// The conditions of the enclosing `#if`s.
        let conditions: [String]
        /// Whether the declaration has no access level, whose meaning then depends on the settings of the target.
        let isPlain: Bool
    }

    func problem(_ message: String, at position: AbsolutePosition) -> SourceProblem {
        // A copy in which declarations have been moved gives their original places with `#sourceLocation`.
        let place = converter.location(for: position)
        return SourceProblem(path: path, line: place.presumedLine, column: place.column, message: message)
    }

    func line(at position: AbsolutePosition) -> Int { converter.location(for: position).presumedLine }

    func column(at position: AbsolutePosition) -> Int { converter.location(for: position).column }

    /// The name of the file without its directory.
    public var name: String { String(path.split(separator: "/").last ?? "") }
}

/// Finds the declarations of a file.
private final class Scanner: SyntaxVisitor {
    let file: SourceFile
    var types: [TypeDeclaration] = []
    var members: [ManagedMember] = []
    var imports: [SourceFile.Import] = []
    private var scope: Scope?
    private var conditions: [String] = []

    init(file: SourceFile) {
        self.file = file
        super.init(viewMode: .sourceAccurate)
    }

    override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
        let isPlain = !node.modifiers.contains { Access(rawValue: $0.name.text) != nil }
        imports.append(
            SourceFile.Import(
                module: node.path.first?.name.text ?? "", text: node.trimmedDescription, conditions: conditions, isPlain: isPlain))
        return .skipChildren
    }

    // MARK: Types

    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
        enter(node, node.name, .objectClass, node.genericParameterClause, node.inheritanceClause, node.memberBlock)
    }

    override func visit(_ node: ActorDeclSyntax) -> SyntaxVisitorContinueKind {
        enter(node, node.name, .objectClass, node.genericParameterClause, node.inheritanceClause, node.memberBlock)
    }

    override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind {
        enter(node, node.name, .structure, node.genericParameterClause, node.inheritanceClause, node.memberBlock)
    }

    override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind {
        enter(node, node.name, .enumeration, node.genericParameterClause, node.inheritanceClause, node.memberBlock)
    }

    override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
        types.append(
            TypeDeclaration(
                name: node.name.identifierText, kind: .interface, file: file, scope: scope, access: access(of: node),
                parameterCount: 0, inherited: []))
        return .skipChildren
    }

    override func visit(_ node: TypeAliasDeclSyntax) -> SyntaxVisitorContinueKind {
        types.append(
            TypeDeclaration(
                name: node.name.identifierText, kind: .alias, file: file, scope: scope, access: access(of: node),
                parameterCount: node.genericParameterClause?.parameters.count ?? 0, inherited: [], aliased: node.initializer.value))
        return .skipChildren
    }

    override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
        guard let names = node.extendedType.dottedNames else { return .skipChildren }
        inside(
            Scope(
                .extensionOf(names), in: scope, access: declaredAccess(node.modifiers) ?? .internal,
                isGeneric: node.genericWhereClause != nil), node.memberBlock)
        return .skipChildren
    }

    private func enter(
        _ node: some WithModifiersSyntax, _ name: TokenSyntax, _ kind: TypeDeclaration.Kind, _ generics: GenericParameterClauseSyntax?,
        _ inheritance: InheritanceClauseSyntax?, _ body: MemberBlockSyntax
    ) -> SyntaxVisitorContinueKind {
        let type = TypeDeclaration(
            name: name.identifierText, kind: kind, file: file, scope: scope, access: access(of: node),
            parameterCount: generics?.parameters.count ?? 0, inherited: inheritance?.inheritedTypes.map(\.type) ?? [])
        types.append(type)
        inside(Scope(.type(type), in: scope, access: type.access, isGeneric: generics != nil || scope?.isGeneric == true), body)
        return .skipChildren
    }

    private func inside(_ inner: Scope, _ body: MemberBlockSyntax) {
        let outer = scope
        scope = inner
        walk(body)
        scope = outer
    }

    /// Declarations in function bodies are local: no other code can name them.
    override func visit(_ node: CodeBlockSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: AccessorBlockSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

    // MARK: Conditions

    override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind {
        var refused: [String] = []
        for clause in node.clauses {
            let own = clause.condition.map { "(\($0.trimmedDescription))" }
            conditions.append((refused + (own.map { [$0] } ?? [])).joined(separator: " && "))
            if let elements = clause.elements { walk(elements) }
            conditions.removeLast()
            if let own { refused.append("!\(own)") }
        }
        return .skipChildren
    }

    // MARK: Members

    override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
        guard let scope, node.attributes.contains(named: "NSManaged") else { return .visitChildren }
        var following: TypeSyntax?
        var found: [ManagedMember] = []
        for binding in node.bindings.reversed() {
            following = binding.typeAnnotation?.type ?? following
            guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self), let type = following else { continue }
            found.append(
                ManagedMember(
                    name: pattern.identifier.identifierText, kind: .property(type), scope: scope, access: access(of: node),
                    objectiveCName: node.attributes.objectiveCName, conditions: conditions,
                    position: pattern.positionAfterSkippingLeadingTrivia, node: DeclSyntax(node)))
        }
        members += found.reversed()
        return .skipChildren
    }

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        guard let scope, node.attributes.contains(named: "NSManaged") else { return .skipChildren }
        let parameters = node.signature.parameterClause.parameters.map {
            ManagedMember.Parameter(label: $0.firstName.text == "_" ? nil : $0.firstName.identifierText, type: $0.type)
        }
        members.append(
            ManagedMember(
                name: node.name.identifierText, kind: .function(parameters, result: node.signature.returnClause?.type), scope: scope,
                access: access(of: node), objectiveCName: node.attributes.objectiveCName, conditions: conditions,
                position: node.name.positionAfterSkippingLeadingTrivia, node: DeclSyntax(node)))
        return .skipChildren
    }

    // MARK: Access

    private func access(of node: some WithModifiersSyntax) -> Access {
        if let declared = declaredAccess(node.modifiers) { return declared }
        if case .extensionOf = scope?.kind { return scope?.access == .private ? .fileprivate : scope?.access ?? .internal }
        return .internal
    }

    private func declaredAccess(_ modifiers: DeclModifierListSyntax) -> Access? {
        modifiers.lazy.compactMap { $0.detail == nil ? Access(rawValue: $0.name.text) : nil }.first
    }
}

extension TokenSyntax {
    /// The identifier without backticks.
    var identifierText: String { identifier?.name ?? text }
}

extension AttributeListSyntax {
    func first(named name: String) -> AttributeSyntax? {
        lazy.compactMap { $0.as(AttributeSyntax.self) }.first { $0.attributeName.trimmedDescription == name }
    }

    func contains(named name: String) -> Bool { first(named: name) != nil }

    /// The name in the parentheses of `@objc(…)`.
    var objectiveCName: String? {
        first(named: "objc")?.arguments.map { $0.trimmedDescription.filter { !$0.isWhitespace } }
    }
}

extension TypeSyntax {
    /// The components of a type that is written as names separated by dots.
    var dottedNames: [String]? {
        if let simple = self.as(IdentifierTypeSyntax.self) {
            return simple.genericArgumentClause == nil ? [simple.name.identifierText] : nil
        }
        guard let member = self.as(MemberTypeSyntax.self), let base = member.baseType.dottedNames else { return nil }
        return base + [member.name.identifierText]
    }
}
#endif
