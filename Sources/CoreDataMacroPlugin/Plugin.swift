#if Macros
internal import SwiftCompilerPlugin
internal import SwiftSyntaxMacros

@main struct CoreDataMacroPlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        ManagedObjectMacro.self, AttributeMacro.self, RelationshipMacro.self, FetchedPropertyMacro.self, MarkMacro.self,
        CompositeMacro.self,
    ]
}
#else
// The trait is off: there is nothing to expand, and `CoreDataMacros` declares its macros unavailable.
@main struct CoreDataMacroPlugin {
    static func main() {}
}
#endif
