#if ManagedAccessors
internal import SwiftSyntax

/// Resolves type names in a source file like the compiler: from the innermost scope outwards, then in the module, then in its
/// dependencies, then among the known types.
struct TypeResolver {
    let table: SymbolTable
    let file: SourceFile
    let scope: Scope?
    /// The modules whose typealiases were searched.
    let aliasModules = ModuleList()

    final class ModuleList { var names: Set<String> = [] }

    /// Resolves a type.
    ///
    /// - Throws: ``TypeProblem`` for a type without a known symbol.
    func type(_ syntax: TypeSyntax) throws -> ResolvedType {
        switch syntax.as(TypeSyntaxEnum.self) {
        case .optionalType(let optional): return .optional(try type(optional.wrappedType))
        case .implicitlyUnwrappedOptionalType(let optional): return .optional(try type(optional.wrappedType))
        case .arrayType(let array): return try .nominal(known("Array"), [[type(array.element)]])
        case .dictionaryType(let dictionary):
            return try .nominal(known("Dictionary"), [[type(dictionary.key), type(dictionary.value)]])
        case .tupleType(let tuple):
            guard tuple.elements.count == 1, let element = tuple.elements.first, element.firstName == nil else {
                throw TypeProblem(reason: "a tuple is not a value that Core Data keeps")
            }
            return try type(element.type)
        case .someOrAnyType(let constrained) where constrained.someOrAnySpecifier.tokenKind == .keyword(.any):
            return try type(constrained.constraint)
        case .attributedType(let attributed): return try type(attributed.baseType)
        case .compositionType: throw TypeProblem(reason: "compositions of protocols are not supported")
        case .functionType: throw TypeProblem(reason: "a closure is not a value that Core Data keeps")
        case .identifierType(let simple): return try named(simple)
        case .memberType(let member): return try nested(member)
        default: throw TypeProblem(reason: "this kind of type is not supported")
        }
    }

    /// Returns the class, structure or enumeration with a qualified name.
    func nominal(named names: [String]) throws -> Nominal {
        guard let first = names.first else { throw TypeProblem(reason: "there is no name") }
        var rest = names.dropFirst()
        var found: Found
        if let here = try find(first) {
            found = here
        } else if let next = rest.first, table.isModule(first) || KnownTypes.modules.contains(first) {
            found = try find(next, inModule: first)
            rest = rest.dropFirst()
        } else {
            throw TypeProblem(reason: unknown(first))
        }
        for name in rest { found = try member(name, of: found.nominal(table)) }
        return try found.nominal(table)
    }

    // MARK: Names

    /// The result of a lookup.
    private enum Found {
        case nominal(Nominal)
        case alias(TypeDeclaration)
        case optional
        case any
        case anyObject

        func nominal(_ table: SymbolTable) throws -> Nominal {
            switch self {
            case .nominal(let nominal): return nominal
            case .alias(let alias):
                if case .nominal(let nominal, []) = try TypeResolver.target(of: alias, in: table) { return nominal }
                throw TypeProblem(reason: "the typealias \(alias.name) stands for no class, structure or enumeration")
            case .optional, .any, .anyObject: throw TypeProblem(reason: "it has no nested types")
            }
        }
    }

    private static func target(of alias: TypeDeclaration, in table: SymbolTable) throws -> ResolvedType {
        guard let aliased = alias.aliased, alias.parameterCount == 0 else {
            throw TypeProblem(reason: "the typealias \(alias.name) has type parameters")
        }
        return try TypeResolver(table: table, file: alias.file, scope: alias.scope).type(aliased)
    }

    private func named(_ syntax: IdentifierTypeSyntax) throws -> ResolvedType {
        let name = syntax.name.identifierText
        guard let found = try find(name) else { throw TypeProblem(reason: unknown(name)) }
        if KnownTypes.aliases[name] != nil { aliasModules.names.insert("Foundation") }
        return try type(found, outer: [], syntax.genericArgumentClause)
    }

    private func nested(_ syntax: MemberTypeSyntax) throws -> ResolvedType {
        let name = syntax.name.identifierText
        if let base = syntax.baseType.as(IdentifierTypeSyntax.self), base.genericArgumentClause == nil {
            let first = base.name.identifierText
            if try find(first) == nil, table.isModule(first) || KnownTypes.modules.contains(first) {
                return try type(try find(name, inModule: first), outer: [], syntax.genericArgumentClause)
            }
        }
        guard case .nominal(let base, let arguments) = try type(syntax.baseType) else {
            throw TypeProblem(reason: "it has no nested types")
        }
        let outer = arguments.isEmpty ? base.components.map { _ in [] } : arguments
        return try type(try member(name, of: base), outer: outer, syntax.genericArgumentClause)
    }

    private func type(_ found: Found, outer: [[ResolvedType]], _ clause: GenericArgumentClauseSyntax?) throws -> ResolvedType {
        let arguments = try (clause?.arguments ?? []).map { argument in
            guard case .type(let type) = argument.argument else { throw TypeProblem(reason: "values as type arguments are not supported") }
            return try self.type(type)
        }
        switch found {
        case .any: return .any
        case .anyObject: return .anyObject
        case .optional:
            guard arguments.count == 1 else { throw TypeProblem(reason: "Optional takes one type") }
            return .optional(arguments[0])
        case .alias(let alias):
            aliasModules.names.insert(alias.file.module)
            return try Self.target(of: alias, in: table)
        case .nominal(let nominal):
            if nominal.components.last?.kind == "P" { return .existential(nominal) }
            let wanted = nominal.components.last?.parameterCount ?? 0
            guard arguments.count == wanted else {
                throw TypeProblem(reason: "\(nominal.path) takes \(wanted) type arguments, and is given \(arguments.count)")
            }
            var levels = outer.isEmpty ? nominal.components.dropLast().map { _ in [] } : outer
            levels.append(arguments)
            for (component, list) in zip(nominal.components, levels) where component.parameterCount != list.count {
                throw TypeProblem(reason: "the type arguments of \(component.name) are not written")
            }
            return .nominal(nominal, levels.allSatisfy(\.isEmpty) ? [] : levels)
        }
    }

    private func known(_ name: String) throws -> Nominal {
        guard let nominal = KnownTypes.named(name) else { throw TypeProblem(reason: unknown(name)) }
        return nominal
    }

    private func unknown(_ name: String) -> String { "no source file of the target or of those it depends on declares “\(name)”" }

    private func find(_ name: String) throws -> Found? {
        var current = scope
        while let inner = current {
            if let found = try memberOrInherited(name, of: try table.nominal(of: inner, in: file)) { return found }
            current = inner.outer
        }
        if let found = try single(name, table.types(name, in: nil, of: file.module)) {
            return found
        }
        if file.module == table.module, let generated = table.generatedClass(name) { return .nominal(generated) }
        let known = everywhere(name)
        for (distance, modules) in table.modules(visibleFrom: file).enumerated() {
            // A known type is shadowed by an imported module's, not by that of a module that is not imported.
            if distance > 0, let known { return known }
            let candidates = try modules.flatMap { try table.types(name, in: nil, of: $0).filter { $0.access >= .package } }
            if let found = try single(name, candidates) { return found }
        }
        return known
    }

    private func everywhere(_ name: String) -> Found? {
        switch name {
        case "Optional": .optional
        case "Any": .any
        case "AnyObject": .anyObject
        default: KnownTypes.named(KnownTypes.aliases[name] ?? name).map { .nominal($0) }
        }
    }

    private func find(_ name: String, inModule module: String) throws -> Found {
        if let found = try single(name, table.types(name, in: nil, of: module)) { return found }
        if module == table.module, let generated = table.generatedClass(name) { return .nominal(generated) }
        if KnownTypes.modules.contains(module), let found = everywhere(name) { return found }
        throw TypeProblem(reason: "the module \(module) declares no type “\(name)”")
    }

    private func member(_ name: String, of parent: Nominal) throws -> Found {
        if let found = try memberOrInherited(name, of: parent) { return found }
        throw TypeProblem(reason: "\(parent.path) has no type “\(name)” in the sources")
    }

    /// Looks up a nested type in a type, or in the superclasses of a class.
    private func memberOrInherited(_ name: String, of parent: Nominal) throws -> Found? {
        var current: Nominal? = parent
        var visited: Set<Nominal> = []
        while let type = current, visited.insert(type).inserted {
            let modules = [table.module, file.module, type.module] + table.modules(visibleFrom: file).flatMap { $0 }
            var seen: Set<String> = []
            for module in modules where seen.insert(module).inserted {
                if let found = try single(name, table.types(name, in: type, of: module)) { return found }
            }
            current = try superclass(of: type)
        }
        return nil
    }

    func superclass(of type: Nominal) throws -> Nominal? {
        guard let component = type.components.last, component.kind == "C" else { return nil }
        var parent: Nominal?
        if type.components.count > 1 { parent = Nominal(module: type.module, components: Array(type.components.dropLast())) }
        guard let declaration = try table.types(component.name, in: parent, of: type.module).first,
            let names = declaration.inherited.first?.dottedNames
        else { return nil }
        let resolver = TypeResolver(table: table, file: declaration.file, scope: declaration.scope)
        // A superclass without sources (NSManagedObject) has no relevant nested types.
        guard let found = try? resolver.nominal(named: names), found.components.last?.kind == "C" else { return nil }
        return found
    }

    private func single(_ name: String, _ candidates: [TypeDeclaration]) throws -> Found? {
        guard let first = candidates.first else { return nil }
        if first.kind == .alias { return .alias(first) }
        let nominals = Set(try candidates.map { try table.nominal(of: $0) })
        guard nominals.count == 1, let nominal = nominals.first else {
            let places = candidates.map { "\($0.file.module).\($0.name) (\($0.file.name))" }.joined(separator: ", ")
            throw TypeProblem(reason: "“\(name)” may mean \(places); write it with its module")
        }
        if first.access < .internal {
            throw TypeProblem(reason: "\(name) is \(first.access.rawValue), so that only its own file can name it")
        }
        return .nominal(nominal)
    }
}
#endif
