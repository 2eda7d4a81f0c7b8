#if ManagedAccessors
internal import SwiftSyntax

/// Writes type aliases for classes that Foundation and Core Data both have, so that a file may import both.
///
/// Foundation on Linux has an `NSExpression` and an `NSComparisonPredicate` that cannot be used. A declaration of the target comes before
/// those that its files import.
public enum NameAliases {
    /// The names.
    public static let names = ["NSComparisonPredicate", "NSExpression"]

    /// Returns the source of the aliases that a target needs.
    ///
    /// - Parameters:
    ///   - files: The files of the target.
    ///   - table: The table of the target.
    ///   - exporter: The module that declares the classes: `CoreData`, or one below it.
    /// - Returns: A Swift source, of comments alone if the files need no alias.
    public static func source(for files: [SourceFile], _ table: SymbolTable, exporter: String) -> String {
        let head = "// Names that Foundation has too. Written by the ManagedAccessors plugin.\n"
        let needed = names.compactMap { name -> (name: String, access: Access)? in
            let mentioning = files.filter { $0.text.contains(name) }
            // The target disambiguates the name itself, or has a class of its own.
            guard !mentioning.isEmpty, !files.contains(where: { $0.types.contains { $0.name == name && $0.scope == nil } }) else {
                return nil
            }
            return (name, mentioning.map { NameUse.access(of: name, in: $0) }.max() ?? .internal)
        }
        guard !needed.isEmpty else { return head }
        let isPublic = needed.contains { $0.access >= .package }
        let aliases = needed.map { use in
            (use.access >= .package ? "\(use.access.rawValue) " : "") + "typealias \(use.name) = \(exporter).\(use.name)\n"
        }
        return head + "#if !canImport(ObjectiveC)\n" + table.importDeclaration(of: exporter, isShown: isPublic) + "\n\n" + aliases.joined()
            + "#endif\n"
    }
}

/// Finds the widest access level of the declarations that show a type.
private final class NameUse: SyntaxVisitor {
    private let name: String
    private var access = Access.internal

    private init(_ name: String) {
        self.name = name
        super.init(viewMode: .sourceAccurate)
    }

    static func access(of name: String, in file: SourceFile) -> Access {
        let visitor = NameUse(name)
        visitor.walk(file.tree)
        return visitor.access
    }

    override func visit(_ node: CodeBlockSyntax) -> SyntaxVisitorContinueKind { Self.isShown(node) ? .visitChildren : .skipChildren }
    override func visit(_ node: AccessorBlockSyntax) -> SyntaxVisitorContinueKind {
        // Each accessor has attributes and code of its own.
        if case .accessors = node.accessors { return .visitChildren }
        return Self.isShown(node) ? .visitChildren : .skipChildren
    }
    override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind { Self.isShown(node) ? .visitChildren : .skipChildren }
    override func visit(_ node: InitializerClauseSyntax) -> SyntaxVisitorContinueKind {
        Self.isShown(node) ? .visitChildren : .skipChildren
    }

    /// The attributes by which other modules see the code of a declaration, not only its type.
    private static let inlining: Set<String> = ["inlinable", "_alwaysEmitIntoClient", "_transparent", "backDeployed", "_backDeploy"]

    /// Whether code is compiled into other modules: that of inlinable declarations, default arguments, and initial values of frozen structures.
    private static func isShown(_ node: some SyntaxProtocol) -> Bool {
        // Code of a closure or a function within inlinable code is inlinable, too; a default argument is visible where its function is.
        if node.is(InitializerClauseSyntax.self), node.parent?.is(FunctionParameterSyntax.self) ?? false { return true }
        var current = node.parent
        while let parent = current {
            let attributes = parent.asProtocol((any WithAttributesSyntax).self)?.attributes ?? []
            let names = attributes.compactMap { $0.as(AttributeSyntax.self)?.attributeName.trimmedDescription }
            if names.contains(where: inlining.contains) { return true }
            if parent.is(StructDeclSyntax.self) { return names.contains("frozen") && node.is(InitializerClauseSyntax.self) }
            if parent.is(ClassDeclSyntax.self) || parent.is(EnumDeclSyntax.self) || parent.is(ExtensionDeclSyntax.self) { return false }
            if parent.is(FunctionParameterSyntax.self) { return true }
            current = parent.parent
        }
        return false
    }

    override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
        // Code that is compiled as a part of this module alone was skipped.
        if node.baseName.text == name { note(Syntax(node)) }
        return .visitChildren
    }

    override func visit(_ node: IdentifierTypeSyntax) -> SyntaxVisitorContinueKind {
        if node.name.text == name { note(Syntax(node)) }
        return .visitChildren
    }

    /// Records the widest access level around a mention of the name.
    private func note(_ node: Syntax) {
        var current = node.parent
        while let parent = current {
            for modifier in parent.asProtocol((any WithModifiersSyntax).self)?.modifiers ?? [] where modifier.detail == nil {
                guard let level = Access(rawValue: modifier.name.text), level >= .package else { continue }
                access = max(access, level == .open ? .public : level)
            }
            if isUsableFromOutside(parent) { access = max(access, .public) }
            current = parent.parent
        }
    }

    /// Whether a declaration is seen by inlinable code without being public.
    private func isUsableFromOutside(_ node: Syntax) -> Bool {
        (node.asProtocol((any WithAttributesSyntax).self)?.attributes ?? []).contains {
            $0.as(AttributeSyntax.self)?.attributeName.trimmedDescription == "usableFromInline"
        }
    }
}
#endif
