#if ManagedAccessors
internal import SwiftSyntax

/// Moves overrides from extensions into the classes that they extend.
///
/// A method that Objective-C knows can be overridden in an extension; without Objective-C, only in the class itself. An extension in the same
/// file can be seen to extend the class. `#sourceLocation` keeps the lines of messages and of the debugger.
enum OverrideMover {
    /// Returns the file with its overrides in its classes; the file itself if there is nothing to move.
    static func moved(_ file: SourceFile) -> SourceFile {
        guard file.text.contains("extension"), file.text.contains("override") else { return file }
        let classes = ClassFinder(viewMode: .sourceAccurate)
        classes.walk(file.tree)
        var edits: [SourceEdit] = []
        var additions: [Int: (brace: TokenSyntax, text: String)] = [:]
        for statement in file.tree.statements {
            guard let declaration = statement.item.as(ExtensionDeclSyntax.self), declaration.genericWhereClause == nil,
                let names = declaration.extendedType.dottedNames, let brace = classes.closingBraces[names.joined(separator: ".")]
            else { continue }
            let access = declaration.modifiers.lazy.compactMap { Access(rawValue: $0.name.text) }.first
            for member in declaration.memberBlock.members {
                guard let modifiers = member.decl.asProtocol((any WithModifiersSyntax).self)?.modifiers,
                    modifiers.contains(where: { $0.name.tokenKind == .keyword(.override) })
                else { continue }
                let node = member.decl
                let start = node.positionAfterSkippingLeadingTrivia
                edits.append(SourceEdit(from: start, to: node.endPositionBeforeTrailingTrivia, ""))
                let spaces = String(repeating: " ", count: file.column(at: start) - 1)
                let text =
                    "\n#sourceLocation(file: \(SourceEdit.literal(file.path)), line: \(file.line(at: start)))\n" + spaces
                    + text(of: node, modifiers, access)
                additions[brace.position.utf8Offset, default: (brace, "")].text += text
            }
        }
        guard !additions.isEmpty else { return file }
        for (brace, text) in additions.values {
            let place = brace.positionAfterSkippingLeadingTrivia
            let spaces = String(repeating: " ", count: file.column(at: place) - 1)
            let end = "\n#sourceLocation(file: \(SourceEdit.literal(file.path)), line: \(file.line(at: place)))\n" + spaces
            edits.append(SourceEdit(from: place, to: place, text + end))
        }
        return SourceFile(path: file.path, text: SourceEdit.apply(edits, to: file.text), module: file.module)
    }

    /// Returns the source of a member, with the access level that the extension gives it.
    private static func text(of node: DeclSyntax, _ modifiers: DeclModifierListSyntax, _ access: Access?) -> String {
        let text = node.trimmedDescription
        guard let access, access != .internal, !modifiers.contains(where: { $0.detail == nil && Access(rawValue: $0.name.text) != nil }),
            let first = modifiers.first
        else { return text }
        let offset = first.positionAfterSkippingLeadingTrivia.utf8Offset - node.positionAfterSkippingLeadingTrivia.utf8Offset
        let bytes = Array(text.utf8)
        return String(decoding: bytes[..<offset], as: UTF8.self) + "\(access == .private ? "fileprivate" : access.rawValue) "
            + String(decoding: bytes[offset...], as: UTF8.self)
    }

    /// Finds the classes of a file, except those within `#if`, of which another file may have another form.
    private final class ClassFinder: SyntaxVisitor {
        private(set) var closingBraces: [String: TokenSyntax] = [:]
        private var path: [String] = []

        private func enter(_ name: TokenSyntax) -> SyntaxVisitorContinueKind {
            path.append(name.identifierText)
            return .visitChildren
        }

        override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
            defer { closingBraces[path.joined(separator: ".")] = node.memberBlock.rightBrace }
            return enter(node.name)
        }

        override func visitPost(_ node: ClassDeclSyntax) { path.removeLast() }
        override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind { enter(node.name) }
        override func visitPost(_ node: StructDeclSyntax) { path.removeLast() }
        override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind { enter(node.name) }
        override func visitPost(_ node: EnumDeclSyntax) { path.removeLast() }
        override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
        override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
        override func visit(_ node: CodeBlockSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
        override func visit(_ node: AccessorBlockSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
        override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    }
}
#endif
