#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

/// Returns the accessors of any kind of property. `ManagedObjectMacro` examines the declaration, because it sees the whole class.
private func accessors(of declaration: some DeclSyntaxProtocol, _ node: AttributeSyntax, _ context: some MacroExpansionContext)
    -> [AccessorDeclSyntax]
{
    guard let variable = declaration.as(VariableDeclSyntax.self), let property = PropertySyntax(variable) else { return [] }
    guard isInEntity(context) else {
        context.diagnose(Diagnostic(node: node, message: DeclarationDiagnostic.outside(node.attributeName.trimmedDescription)))
        return []
    }
    guard property.isPlainStored else { return [] }
    guard let type = property.type?.trimmed else { return [] }
    let name = property.nameLiteral
    let optional = property.isOptional
    let whole = optional ? "(\(type))?" : "\(type)"
    /// Returns the expression that a non-optional accessor returns for a missing value.
    func present(_ value: String) -> String {
        if optional { return value }
        if let standard = property.defaultValue { return "\(value) ?? \(standard.trimmed)" }
        return "presentValue(\(value), \(name))"
    }
    let (get, set): (String, String?) =
        switch property.access {
        case .slot: ("self[ManagedProperty<\(whole)>(\(name))]", "self[ManagedProperty<\(whole)>(\(name))] = newValue")
        case .codable: (present("codableValue(\(name), as: (\(type)).self)"), "setCodableValue(newValue, \(name))")
        case .object: (present("objectValue(\(name), as: (\(type)).self)"), "setValue(newValue, forKey: \(name))")
        case .ordered: ("orderedObjects(\(name))", "setOrderedObjects(newValue, \(name))")
        case .fetched: ("fetchedObjects(\(name))", nil)
        }
    return ["get { \(raw: get) }"] + (set.map { ["set { \(raw: $0) }"] } ?? [])
}

/// Implements `@Attribute` and `@Transient`.
enum AttributeMacro: AccessorMacro {
    static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] { accessors(of: declaration, node, context) }
}

/// Implements `@Relationship`.
enum RelationshipMacro: AccessorMacro {
    static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] { accessors(of: declaration, node, context) }
}

/// Implements `@FetchedProperty`.
enum FetchedPropertyMacro: AccessorMacro {
    static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] { accessors(of: declaration, node, context) }
}

/// Implements `@Ignored` and `@Element`, which mark a property and expand to nothing.
enum MarkMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] { [] }
}

/// Returns whether the expansion is in a class marked `@ManagedObject`.
private func isInEntity(_ context: some MacroExpansionContext) -> Bool {
    guard let attributes = context.lexicalContext.first?.asProtocol((any WithAttributesSyntax).self)?.attributes else { return false }
    return attributes.contains { $0.as(AttributeSyntax.self)?.attributeName.trimmedDescription == "ManagedObject" }
}
#endif
