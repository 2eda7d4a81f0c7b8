internal import SwiftCompilerPlugin
internal import SwiftSyntaxMacros

@main struct CoreDataMacroPlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        ManagedObjectMacro.self, AttributeMacro.self, RelationshipMacro.self, FetchedPropertyMacro.self, MarkMacro.self,
        CompositeMacro.self,
    ]
}
