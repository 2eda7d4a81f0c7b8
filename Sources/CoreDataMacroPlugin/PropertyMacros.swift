#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

/// The accessors of all kinds of property. The declaration is looked over by `ManagedObjectMacro`, which sees all of a class at once.
private func accessors(of declaration: some DeclSyntaxProtocol, _ node: AttributeSyntax, _ context: some MacroExpansionContext)
    -> [AccessorDeclSyntax]
{
    guard let variable = declaration.as(VariableDeclSyntax.self), let property = PropertySyntax(variable) else { return [] }
    guard isInEntity(context) else {
        context.diagnose(Diagnostic(node: node, message: Finding.outside(node.attributeName.trimmedDescription)))
        return []
    }
    guard property.isPlainStored else { return [] }
    guard let type = property.type?.trimmed else { return [] }
    let name = property.nameLiteral
    let optional = property.isOptional
    let whole = optional ? "(\(type))?" : "\(type)"
    /// What an accessor answers that is not optional, where there is nothing.
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

/// `@Attribute` and `@Transient`.
enum AttributeMacro: AccessorMacro {
    static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] { accessors(of: declaration, node, context) }
}

/// `@Relationship`.
enum RelationshipMacro: AccessorMacro {
    static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] { accessors(of: declaration, node, context) }
}

/// `@FetchedProperty`.
enum FetchedPropertyMacro: AccessorMacro {
    static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] { accessors(of: declaration, node, context) }
}

/// `@Ignored` and `@Element` mark a property; they make nothing.
enum MarkMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] { [] }
}

/// Whether what is expanded stands in a class that is marked `@ManagedObject`.
private func isInEntity(_ context: some MacroExpansionContext) -> Bool {
    guard let attributes = context.lexicalContext.first?.asProtocol((any WithAttributesSyntax).self)?.attributes else { return false }
    return attributes.contains { $0.as(AttributeSyntax.self)?.attributeName.trimmedDescription == "ManagedObject" }
}
#endif
