#if ManagedAccessors
internal import SwiftSyntax

/// Writes `required init(entity:insertInto:)` into managed object classes that do not inherit it.
///
/// Fetched objects are created by this initializer. Objective-C finds it in a superclass. A Swift class that has a designated initializer of its own
/// does not inherit it, and has to mark it as required when it overrides it.
enum RequiredInitializer {
    /// Returns the edits of a managed object class.
    static func edits(of node: ClassDeclSyntax) -> [SourceEdit] {
        let initializers = node.memberBlock.members.compactMap { $0.decl.as(InitializerDeclSyntax.self) }
        if let own = initializers.first(where: isRequired) { return marked(own, in: node) }
        guard initializers.contains(where: { !$0.modifiers.contains { $0.name.tokenKind == .keyword(.convenience) } }) else { return [] }
        let brace = node.memberBlock.leftBrace.endPositionBeforeTrailingTrivia
        // On the line of the brace, so that no line below moves.
        let code =
            " \(level(of: node))required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) "
            + "{ super.init(entity: entity, insertInto: context) };"
        return [SourceEdit(from: brace, to: brace, code)]
    }

    private static func isRequired(_ initializer: InitializerDeclSyntax) -> Bool {
        initializer.signature.parameterClause.parameters.map(\.firstName.text) == ["entity", "insertInto"]
    }

    /// Marks an initializer as required, and as accessible as its class.
    private static func marked(_ initializer: InitializerDeclSyntax, in node: ClassDeclSyntax) -> [SourceEdit] {
        var isMarked = initializer.modifiers.contains { $0.name.tokenKind == .keyword(.required) }
        var edits: [SourceEdit] = []
        for modifier in initializer.modifiers {
            let start = modifier.positionAfterSkippingLeadingTrivia
            if modifier.name.tokenKind == .keyword(.override) {
                edits.append(SourceEdit(from: start, to: modifier.endPosition, isMarked ? "" : "required "))
                isMarked = true
            } else if let access = Access(rawValue: modifier.name.text), access < (declared(node) ?? .internal) {
                edits.append(SourceEdit(from: start, to: modifier.endPosition, level(of: node)))
            }
        }
        return edits
    }

    private static func declared(_ node: ClassDeclSyntax) -> Access? {
        node.modifiers.lazy.compactMap { $0.detail == nil ? Access(rawValue: $0.name.text) : nil }.first
    }

    /// Returns the access level that makes a declaration visible to every subclass.
    private static func level(of node: ClassDeclSyntax) -> String {
        switch declared(node) {
        case .public, .open: "public "
        case .package: "package "
        default: ""
        }
    }
}
#endif
