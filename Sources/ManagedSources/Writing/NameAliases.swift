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
            // The target says itself which it means, or has a class of its own.
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

    override func visit(_ node: CodeBlockSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: AccessorBlockSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: InitializerClauseSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

    override func visit(_ node: IdentifierTypeSyntax) -> SyntaxVisitorContinueKind {
        guard node.name.text == name else { return .visitChildren }
        var current = node.parent
        while let parent = current {
            for modifier in parent.asProtocol((any WithModifiersSyntax).self)?.modifiers ?? [] where modifier.detail == nil {
                guard let level = Access(rawValue: modifier.name.text), level >= .package else { continue }
                access = max(access, level == .open ? .public : level)
            }
            current = parent.parent
        }
        return .visitChildren
    }
}
#endif
