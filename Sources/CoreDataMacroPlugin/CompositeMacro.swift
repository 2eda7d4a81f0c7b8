#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

/// Implements `@Composite`, which makes a structure a composite attribute.
enum CompositeMacro: ExtensionMacro, MemberMacro {
    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax, providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        guard let structure = declaration.as(StructDeclSyntax.self) else {
            context.diagnose(Diagnostic(node: node, message: DeclarationDiagnostic.notAStructure))
            return []
        }
        let elements = elements(of: structure)
        let list = elements.map { "\n                \($0.declarationExpression)," }.joined()
        let writes = elements.map { "\n                CompositeElements.write(\($0.swiftName), \($0.nameLiteral), &values)" }.joined()
        let access = structure.modifiers.contains { $0.name.tokenKind == .keyword(.public) } ? "public " : ""
        return [
            try ExtensionDeclSyntax(
                """
                extension \(type.trimmed): CompositeValue {
                    \(raw: access)static var compositeElements: [PropertyDeclaration] {
                        [\(raw: list)
                        ]
                    }
                    \(raw: access)var compositeValues: [String: Any] {
                        var values: [String: Any] = [:]\(raw: writes)
                        return values
                    }
                }
                """)
        ]
    }

    /// Returns the initializer, and the memberwise one, which the compiler generates only for a structure without initializers.
    static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let structure = declaration.as(StructDeclSyntax.self) else { return [] }
        let access = structure.modifiers.contains { $0.name.tokenKind == .keyword(.public) } ? "public " : ""
        var examination = DeclarationChecker(node)
        examination.examineElements(of: structure)
        for diagnostic in examination.diagnostics { context.diagnose(diagnostic) }
        let elements = elements(of: structure)
        let reads = elements.map { element -> String in
            let standard = element.isOptional ? "" : element.defaultValue.map { ", default: \($0.trimmed)" } ?? ""
            return "\n    self.\(element.swiftName) = CompositeElements.read(\(element.nameLiteral), values\(standard))"
        }
        var members: [DeclSyntax] = ["\(raw: access)init(compositeValues values: [String: Any]) {\(raw: reads.joined())\n}"]
        let hasInitializer = structure.memberBlock.members.contains { $0.decl.is(InitializerDeclSyntax.self) }
        if !hasInitializer {
            let parameters = elements.map { element -> String in
                let standard = element.defaultValue.map { " = \($0.trimmed)" } ?? (element.isOptional ? " = nil" : "")
                return "\(element.swiftName): \(element.type?.trimmedDescription ?? "")\(element.isOptional ? "?" : "")\(standard)"
            }
            let assignments = elements.map { "\n    self.\($0.swiftName) = \($0.swiftName)" }.joined()
            members.append("\(raw: access)init(\(raw: parameters.joined(separator: ", "))) {\(raw: assignments)\n}")
        }
        return members
    }

    private static func elements(of structure: StructDeclSyntax) -> [PropertySyntax] {
        structure.memberBlock.members.compactMap { $0.decl.as(VariableDeclSyntax.self).flatMap(PropertySyntax.init) }
            .filter { $0.isPlainStored && $0.type != nil && ($0.isOptional || $0.defaultValue != nil) }
    }
}
#endif
