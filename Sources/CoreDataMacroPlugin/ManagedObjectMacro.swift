#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

/// Implements `@ManagedObject`: the entity declaration, the accessors of plain properties, and the members that Xcode generates for a
/// class.
enum ManagedObjectMacro {}

extension ManagedObjectMacro: MemberMacro {
    static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        var examination = DeclarationChecker(node)
        examination.examine(declaration)
        for diagnostic in examination.diagnostics { context.diagnose(diagnostic) }
        guard let objectClass = declaration.as(ClassDeclSyntax.self), !examination.stopsExpansion else { return [] }
        let access = objectClass.access
        let name = objectClass.name.trimmed
        let properties = examination.usable
        let (entityName, arguments) = entityArguments(of: node, objectClass.name.text.trimmingBackticks)
        let list = properties.map { "\n            \($0.declarationExpression)," }.joined()
        var members: [DeclSyntax] = [
            """
            \(raw: access)override class var entityDeclaration: EntityDeclaration? {
                EntityDeclaration(
                    \(name).self, name: \(raw: entityName)\(raw: arguments),
                    properties: [\(raw: list)
                    ])
            }
            """,
            """
            \(raw: access)class func fetchRequest() -> NSFetchRequest<\(name)> {
                NSFetchRequest<\(name)>(entityName: \(raw: entityName))
            }
            """,
        ]
        for property in properties { members += ToManyMembers.members(of: property, access: access) }
        return members
    }

    /// Returns the name of the entity and the remaining arguments of its attribute.
    private static func entityArguments(of node: AttributeSyntax, _ className: String) -> (name: String, rest: String) {
        guard case .argumentList(let list) = node.arguments else { return ("\"\(className)\"", "") }
        var options = list.prefix { $0.label == nil }.map(\.expression.trimmed)
        var name = "\"\(className)\""
        if let first = options.first, first.is(StringLiteralExprSyntax.self) {
            name = "\(first)"
            options.removeFirst()
        }
        var rest = options.isEmpty ? "" : ", options: [\(options.map { "\($0)" }.joined(separator: ", "))]"
        for argument in list where argument.label != nil { rest += ", \(argument.with(\.trailingComma, nil).trimmedDescription)" }
        return (name, rest)
    }
}

extension ManagedObjectMacro: MemberAttributeMacro {
    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax, providingAttributesFor member: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AttributeSyntax] {
        guard let variable = member.as(VariableDeclSyntax.self), let property = PropertySyntax(variable), property.attribute == nil,
            property.isPlainStored, !property.isManagedByHand, !property.isObserved, property.type != nil, variable.bindings.count == 1
        else { return [] }
        return ["@Attribute"]
    }
}

extension ManagedObjectMacro: ExtensionMacro {
    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax, providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        // A superclass conforms already when the compiler requests no protocols; a class that is not a managed object gets an error only.
        guard declaration.is(ClassDeclSyntax.self), !protocols.isEmpty, declaration.inheritanceClause != nil else { return [] }
        return [try ExtensionDeclSyntax("extension \(type.trimmed): Identifiable {}")]
    }
}

extension ClassDeclSyntax {
    /// The access level of the added members, which is that of the class.
    var access: String {
        for modifier in modifiers {
            switch modifier.name.tokenKind {
            case .keyword(.public), .keyword(.open): return "public "
            case .keyword(.package): return "package "
            case .keyword(.fileprivate), .keyword(.private): return "fileprivate "
            default: continue
            }
        }
        return ""
    }
}

extension PropertySyntax {
    /// The expression that declares the property in `entityDeclaration`.
    var declarationExpression: String { argument("name") == nil ? plainDeclaration : "\(plainDeclaration).called(\"\(swiftName)\")" }

    private var plainDeclaration: String {
        let name = nameLiteral
        guard let type = type?.trimmed else { return "" }
        switch kind {
        case .fetched:
            let predicate = options.first.map { "\($0)" } ?? "nil"
            let isOptional = argument("isOptional").map { ", isOptional: \($0.trimmedDescription)" } ?? ""
            let configure = argument("configure").map { ", configure: \($0.trimmedDescription)" } ?? ""
            return ".fetched(\(name), \(type.arrayElement ?? type).self, \(predicate)\(isOptional)\(commonArguments)\(configure))"
        case .relationship:
            var arguments = options.isEmpty ? "" : ", options: [\(options.map { "\($0)" }.joined(separator: ", "))]"
            if let rule = argument("deleteRule") { arguments += ", deleteRule: \(rule.trimmedDescription)" }
            if let inverse = argument("inverse") { arguments += ", inverse: \(Self.inverse(inverse))" }
            return ".relationship(\(name), \(type).self, isOptional: \(isOptional)\(arguments)\(commonArguments))"
        case .attribute, .transient, .element:
            let function =
                switch access {
                case .codable: "codable"
                case .object: "object"
                default: "property"
                }
            var all = (kind == .transient ? [".transient"] : []) + options.map { "\($0)" }
            // As in Xcode, the class of transformable values is their type; NSObject adds no information.
            if option("transformable") != nil, option("valueClass") == nil, type.plainName != "NSObject" {
                all.append(".valueClass(\(StringLiteralExprSyntax(content: type.trimmedDescription)))")
            }
            let list = all.isEmpty ? "" : ", options: [\(all.joined(separator: ", "))]"
            let isEmptyRelationship = toMany != nil
            let standard = defaultValue.flatMap { isEmptyRelationship ? nil : ", default: \($0.trimmed)" } ?? ""
            return ".\(function)(\(name), (\(type)).self, isOptional: \(isOptional)\(standard)\(list)\(commonArguments))"
        }
    }

    /// Returns the arguments for a key path: the key path and the name at its end.
    private static func inverse(_ expression: ExprSyntax) -> String {
        if expression.is(NilLiteralExprSyntax.self) { return ".none" }
        guard let keyPath = expression.as(KeyPathExprSyntax.self), let name = keyPath.lastName else { return ".none" }
        return ".to(\(keyPath.trimmed), \"\(name)\")"
    }
}

extension KeyPathExprSyntax {
    /// The name of its only component.
    var lastName: String? {
        guard components.count == 1, root != nil else { return nil }
        return components.first?.component.as(KeyPathPropertyComponentSyntax.self)?.declName.baseName.text.trimmingBackticks
    }
}
#endif
