#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder

/// Examines a class: finds its usable properties, and errors to fix.
struct DeclarationChecker {
    private(set) var diagnostics: [Diagnostic] = []
    /// The properties of the entity.
    private(set) var usable: [PropertySyntax] = []
    /// Whether the class cannot be expanded at all.
    private(set) var stopsExpansion = false
    private let node: AttributeSyntax

    init(_ node: AttributeSyntax) { self.node = node }

    mutating func report(_ node: some SyntaxProtocol, _ finding: DeclarationDiagnostic, _ fixes: [FixIt] = []) {
        diagnostics.append(Diagnostic(node: node, message: finding, fixIts: fixes))
    }

    // MARK: The class

    mutating func examine(_ declaration: some DeclGroupSyntax) {
        guard let objectClass = declaration.as(ClassDeclSyntax.self) else {
            stopsExpansion = true
            return report(node, .notAClass)
        }
        examineHeader(of: objectClass)
        var names: Set<String> = []
        for member in objectClass.memberBlock.members {
            guard let variable = member.decl.as(VariableDeclSyntax.self) else { continue }
            for property in properties(of: variable) {
                let count = diagnostics.count
                PropertyExamination.examine(property, &self)
                guard diagnostics.count == count else { continue }
                if names.insert(property.nameLiteral).inserted {
                    usable.append(property)
                } else {
                    report(property.binding.pattern, .twice(property.nameLiteral.trimmingQuotes))
                }
            }
        }
        examineNames(in: objectClass)
        examineInitializers(of: objectClass)
    }

    /// Returns the properties of a variable declaration, after reporting the invalid ones.
    private mutating func properties(of variable: VariableDeclSyntax) -> [PropertySyntax] {
        guard let property = PropertySyntax(variable), !property.isStatic, !property.isIgnored else { return [] }
        if property.isManagedByHand {
            report(variable, .byHand(property.swiftName))
            return []
        }
        if property.attribute == nil, property.isComputed || property.isLazy { return [] }
        if variable.bindings.count > 1 {
            report(variable, .severalBindings())
            return []
        }
        if variable.bindingSpecifier.tokenKind == .keyword(.let) {
            let fix = FixIt(
                message: DeclarationFixIt("make it a var"),
                changes: [
                    .replace(
                        oldNode: Syntax(variable.bindingSpecifier),
                        newNode: Syntax(variable.bindingSpecifier.with(\.tokenKind, .keyword(.var))))
                ])
            let ignore = FixIt(
                message: DeclarationFixIt("mark it @Ignored"),
                changes: [
                    .replaceLeadingTrivia(token: variable.bindingSpecifier, newTrivia: variable.bindingSpecifier.leadingTrivia + .ignored)
                ])
            report(variable.bindingSpecifier, .constant(property.swiftName), property.attribute == nil ? [fix, ignore] : [fix])
            return []
        }
        return [property]
    }

    private mutating func examineHeader(of objectClass: ClassDeclSyntax) {
        if let generics = objectClass.genericParameterClause {
            stopsExpansion = true
            return report(generics, .generic)
        }
        guard let inherited = objectClass.inheritanceClause?.inheritedTypes.first,
            !Self.protocolNames.contains(inherited.type.trimmedDescription)
        else {
            stopsExpansion = true
            let name = objectClass.name.trimmed
            let fix: FixIt.Change
            if let clause = objectClass.inheritanceClause, let first = clause.inheritedTypes.first {
                let types = [InheritedTypeSyntax(type: TypeSyntax("NSManagedObject"), trailingComma: .commaToken(trailingTrivia: .space))]
                fix = .replace(
                    oldNode: Syntax(clause),
                    newNode: Syntax(
                        clause.with(
                            \.inheritedTypes, InheritedTypeListSyntax(types + [first] + clause.inheritedTypes.dropFirst()))))
            } else {
                fix = .replace(
                    oldNode: Syntax(objectClass.name),
                    newNode: Syntax(
                        objectClass.name.with(\.tokenKind, .identifier("\(name): NSManagedObject")).with(\.trailingTrivia, .space)))
            }
            return report(
                objectClass.name, .noSuperclass(name.text),
                [FixIt(message: DeclarationFixIt("inherit from NSManagedObject"), changes: [fix])])
        }
        if let final = objectClass.modifiers.first(where: { $0.name.tokenKind == .keyword(.final) }), entityOption("abstract") != nil {
            let fix = FixIt(
                message: DeclarationFixIt("remove final"),
                changes: [
                    .replace(
                        oldNode: Syntax(objectClass.modifiers), newNode: Syntax(objectClass.modifiers.filter { $0.id != final.id }))
                ])
            report(final, .finalAbstract, [fix])
        }
    }

    private static let protocolNames: Set<String> = [
        "Identifiable", "Sendable", "Hashable", "Equatable", "Codable", "CustomStringConvertible", "NSObject",
    ]

    private func entityOption(_ name: String) -> ExprSyntax? { entityOptions.first { $0.name == name }?.expression }

    private var entityOptions: [(name: String, expression: ExprSyntax)] {
        guard case .argumentList(let list) = node.arguments else { return [] }
        return list.compactMap { argument in
            let callee = argument.expression.as(FunctionCallExprSyntax.self)?.calledExpression ?? argument.expression
            return callee.as(MemberAccessExprSyntax.self).map { ($0.declName.baseName.text, argument.expression) }
        }
    }

    /// Checks the names in constraints and indexes of a class without a declared superclass, if all names are known.
    private mutating func examineNames(in objectClass: ClassDeclSyntax) {
        guard objectClass.inheritanceClause?.inheritedTypes.first?.type.trimmedDescription == "NSManagedObject" else { return }
        let known = usable.map { $0.nameLiteral.trimmingQuotes }
        // An invalid property was reported; its name is known nevertheless.
        guard diagnostics.isEmpty else { return }
        for (option, expression) in entityOptions where ["unique", "index", "compoundIndex"].contains(option) {
            for argument in expression.as(FunctionCallExprSyntax.self)?.arguments ?? [] where argument.label == nil {
                var value = argument.expression
                if let call = value.as(FunctionCallExprSyntax.self) {
                    guard call.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text == "descending",
                        let first = call.arguments.first
                    else { continue }
                    value = first.expression
                }
                guard let literal = value.as(StringLiteralExprSyntax.self), let name = literal.plainText, !known.contains(name)
                else { continue }
                let near = known.min { Self.distance($0, name) < Self.distance($1, name) }
                let fixes = near.map { near in
                    [
                        FixIt(
                            message: DeclarationFixIt("write “\(near)”"),
                            changes: [.replace(oldNode: Syntax(literal), newNode: Syntax(StringLiteralExprSyntax(content: near)))])
                    ]
                }
                report(literal, .unknownProperty(name, known), fixes ?? [])
            }
        }
    }

    /// Returns an approximate edit distance: the number of letters that only one of the names has.
    private static func distance(_ one: String, _ other: String) -> Int {
        one.difference(from: other).count
    }

    private mutating func examineInitializers(of objectClass: ClassDeclSyntax) {
        let initializers = objectClass.memberBlock.members.compactMap { $0.decl.as(InitializerDeclSyntax.self) }
        func isConvenience(_ initializer: InitializerDeclSyntax) -> Bool {
            initializer.modifiers.contains { $0.name.tokenKind == .keyword(.convenience) }
        }
        let designated = initializers.filter { !isConvenience($0) }
        guard let first = designated.first,
            !designated.contains(where: { $0.signature.parameterClause.parameters.map(\.firstName.text) == ["entity", "insertInto"] })
        else { return }
        report(first.initKeyword, .initializer())
    }

    // MARK: Composites

    mutating func examineElements(of structure: StructDeclSyntax) {
        for member in structure.memberBlock.members {
            guard let variable = member.decl.as(VariableDeclSyntax.self), let property = PropertySyntax(variable), property.isPlainStored
            else {
                continue
            }
            if property.type == nil {
                report(property.binding.pattern, .noType(property.swiftName))
            } else if !property.isOptional, property.defaultValue == nil {
                report(property.binding.pattern, .elementDefault(property.swiftName))
            }
        }
    }
}

extension Trivia {
    /// The text before a declaration that is ignored.
    fileprivate static var ignored: Trivia { [.unexpectedText("@Ignored ")] }
}

extension String {
    var trimmingQuotes: String { hasPrefix("\"") && hasSuffix("\"") && count > 1 ? String(dropFirst().dropLast()) : self }
}
#endif
