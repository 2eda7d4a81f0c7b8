#if ManagedAccessors
internal import SwiftSyntax

/// Writes the accessors that `@NSManaged` leaves to the Objective-C runtime on Apple's platforms, under the symbols that the compiler
/// refers to.
public struct AccessorWriter {
    private let table: SymbolTable

    /// Creates a writer that looks up types in a table.
    public init(table: SymbolTable) { self.table = table }

    /// Returns the accessors of a file's declarations.
    ///
    /// - Returns: The Swift source of extensions, and the problems of the declarations that it omits.
    public func accessors(for file: SourceFile) -> (source: String, problems: [SourceProblem]) {
        var problems: [SourceProblem] = []
        var extensions: [Extension] = []
        for member in file.members {
            do {
                let code = try code(for: member, in: file)
                if let last = extensions.last, last.path == code.path, last.conditions == code.conditions {
                    extensions[extensions.count - 1].lines += code.lines
                    extensions[extensions.count - 1].shownModules.formUnion(code.shownModules)
                } else {
                    extensions.append(code)
                }
            } catch let problem as SourceProblem {
                problems.append(problem)
            } catch {
                problems.append(file.problem("\(error)", at: member.position))
            }
        }
        let head = "// The accessors of \(file.name). Written by the ManagedAccessors plugin.\n"
        guard !extensions.isEmpty else { return (head, problems) }
        let shown = extensions.reduce(into: Set<String>()) { $0.formUnion($1.shownModules) }
        let parts = [imports(of: file, showing: shown)] + extensions.map(\.text)
        // With an Objective-C runtime, the runtime provides the accessors.
        return (head + "#if !canImport(ObjectiveC)\n" + parts.joined(separator: "\n") + "#endif\n", problems)
    }

    private struct Extension {
        let path: String
        let conditions: [String]
        var lines: [String]
        /// The modules of publicly visible types.
        var shownModules: Set<String>

        var text: String {
            let body = "extension \(path) {\n" + lines.map { "    \($0)\n" }.joined() + "}\n"
            return conditions.map { "#if \($0)\n" }.joined() + body + conditions.map { _ in "#endif\n" }.joined()
        }
    }

    /// Returns the symbols that the compiler refers to for the declarations of a file, each accessor separately.
    public func symbols(for file: SourceFile) throws -> [String] {
        try file.members.flatMap { member -> [String] in
            let place = try self.place(of: member, in: file).place
            let resolver = TypeResolver(table: table, file: file, scope: member.scope)
            switch member.kind {
            case .property(let type):
                let resolved = try resolver.type(type)
                return ["g", "s"].map { Mangler.accessor($0, of: member.name, type: resolved, in: place) }
            case .function(let parameters, let result):
                return [
                    Mangler.function(
                        member.name, parameters: try parameters.map { ($0.label, try resolver.type($0.type)) },
                        result: try result.map { try resolver.type($0) }, in: place)
                ]
            }
        }
    }

    private func imports(of file: SourceFile, showing shown: Set<String>) -> String {
        var lines: [String] = []
        let published = file.imports.filter { $0.text.hasPrefix("public ") }.map(\.module)
        for var declaration in file.imports {
            // The compiler warns about a public import that no public declaration needs.
            if declaration.text.hasPrefix("public "), !Self.isShown(declaration.module, shown, imported: published) {
                let level = table.isPlainlyImported(declaration.module) ? "" : "internal "
                declaration.text = level + declaration.text.dropFirst("public ".count)
            }
            let conditions = declaration.conditions.filter { !$0.isEmpty }
            let text = conditions.map { "#if \($0)\n" }.joined() + declaration.text + conditions.map { _ in "\n#endif" }.joined()
            if !lines.contains(text) { lines.append(text) }
        }
        // `import class CoreData.NSManagedObject` imports only the class.
        if !file.imports.contains(where: { $0.text.hasSuffix("import CoreData") && $0.conditions.isEmpty }) {
            lines.append(table.importDeclaration(of: "CoreData", isShown: false))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns whether a module declares visible types, or re-exports one that the file does not import publicly itself.
    private static func isShown(_ module: String, _ shown: Set<String>, imported: [String]) -> Bool {
        let family = ["FoundationEssentials": "Foundation", "FoundationInternationalization": "Foundation"]
        let direct = Set(shown.map { family[$0] ?? $0 })
        return direct.contains(module) || !direct.subtracting(imported).isEmpty
    }

    // MARK: One declaration

    private func code(for member: ManagedMember, in file: SourceFile) throws -> Extension {
        let (place, path, access) = try self.place(of: member, in: file)
        let resolver = TypeResolver(table: table, file: file, scope: member.scope)
        let resolve = { (type: TypeSyntax) in
            do {
                return (try resolver.type(type), Self.spelling(type, in: member.scope, resolver))
            } catch let problem as TypeProblem {
                throw file.problem(
                    "@NSManaged \(member.name): no accessor can be written for the type \(type.trimmedDescription): \(problem.reason). "
                        + Self.alternative, at: type.positionAfterSkippingLeadingTrivia)
            }
        }
        guard member.name.utf8.allSatisfy({ $0 < 128 && $0 != UInt8(ascii: "$") }) else {
            throw file.problem("@NSManaged \(member.name): its name is not in ASCII. " + Self.alternative, at: member.position)
        }
        let code = MemberCode(member: member)
        let attributes: String
        switch access {
        case .public, .open: attributes = "@usableFromInline "
        case .package: attributes = "package "
        default: attributes = ""
        }
        var lines: [String] = []
        var shown: Set<String> = []
        let show = { (type: ResolvedType) in if access >= .package { shown.formUnion(type.modules) } }
        switch member.kind {
        case .property(let type):
            let (resolved, spelling) = try resolve(type)
            show(resolved)
            lines.append(code.declaration(of: spelling))
            let getter = Mangler.accessor("g", of: member.name, type: resolved, in: place)
            let setter = Mangler.accessor("s", of: member.name, type: resolved, in: place)
            lines.append(
                "@_silgen_name(\"\(getter)\") \(attributes)final func _managed_get_\(member.name)() -> \(spelling) { self[Self.\(code.constant)] }"
            )
            lines.append(
                "@_silgen_name(\"\(setter)\") \(attributes)final func _managed_set_\(member.name)(_ value: consuming \(spelling)) "
                    + "{ self[Self.\(code.constant)] = value }")
        case .function(let parameters, let result):
            let types = try parameters.map { try resolve($0.type) }
            let resultType = try result.map { try resolve($0) }
            let symbol = Mangler.function(
                member.name, parameters: zip(parameters, types).map { ($0.label, $1.0) }, result: resultType?.0, in: place)
            for type in types + (resultType.map { [$0] } ?? []) { show(type.0) }
            let names = parameters.indices.map { "value\($0)" }
            guard let body = code.body(parameters: names, result: resultType?.1) else {
                throw file.problem(code.unknownMethod, at: member.position)
            }
            let list = zip(names, types).map { "_ \($0): \($1.1)" }.joined(separator: ", ")
            lines.append(
                "@_silgen_name(\"\(symbol)\") \(attributes)final func _managed_call_\(member.name)(\(list))"
                    + "\(resultType.map { " -> \($0.1)" } ?? "") { \(body) }")
        }
        if access >= .package {
            shown.formUnion(resolver.aliasModules.names)
            if place.extendingModule != nil { shown.formUnion([place.type.module, place.type.declaringModule]) }
            shown.subtract(["Swift", file.module])
        }
        return Extension(path: path, conditions: member.conditions.filter { !$0.isEmpty }, lines: lines, shownModules: shown)
    }

    private static let alternative =
        "Put the file into a folder that the target excludes: there the plugin writes the accessor into a copy of the file, without a symbol."

    /// Returns the spelling of a type in an extension, where enclosing types of a nested class must be written out.
    private static func spelling(_ type: TypeSyntax, in scope: Scope, _ resolver: TypeResolver) -> String {
        var written = type
        if let implicit = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
            written = TypeSyntax(OptionalTypeSyntax(wrappedType: implicit.wrappedType))
        }
        return scope.outer == nil ? written.trimmedDescription : TypeQualifier(resolver: resolver).rewrite(written).trimmedDescription
    }

    /// Returns the context of a member, the path of the class to extend, and the member's access level.
    private func place(of member: ManagedMember, in file: SourceFile) throws -> (place: MemberContext, path: String, access: Access) {
        let nominal: Nominal
        do {
            nominal = try table.nominal(of: member.scope, in: file)
        } catch let problem as TypeProblem {
            throw file.problem(
                "@NSManaged \(member.name): its class cannot be found: \(problem.reason). " + Self.alternative, at: member.position)
        }
        guard nominal.components.last?.kind == "C" else {
            throw file.problem("@NSManaged \(member.name): \(nominal.path) is not a class.", at: member.position)
        }
        var access = member.access
        var scope: Scope? = member.scope
        while let current = scope {
            guard !current.isGeneric else {
                throw file.problem("@NSManaged \(member.name): its class is generic. " + Self.alternative, at: member.position)
            }
            if case .type(let declaration) = current.kind {
                guard declaration.access > .fileprivate else {
                    throw file.problem(
                        "@NSManaged \(member.name): the \(declaration.access.rawValue) \(declaration.name) cannot be extended in another file. "
                            + "Make it internal, or: " + Self.alternative, at: member.position)
                }
                access = min(access, declaration.access)
            }
            scope = current.outer
        }
        access = min(access, declaredAccess(of: nominal))
        let discriminator = member.access <= .fileprivate ? PrivateDiscriminator.of(file: file.name, in: file.module) : nil
        var path = nominal.path
        var extendingModule: String?
        if case .extensionOf(let names) = member.scope.kind {
            path = names.joined(separator: ".")
            if nominal.declaringModule != file.module { extendingModule = file.module }
        }
        return (MemberContext(type: nominal, extendingModule: extendingModule, discriminator: discriminator), path, access)
    }

    private func declaredAccess(of nominal: Nominal) -> Access {
        var access = Access.open
        for depth in nominal.components.indices {
            let parent = depth == 0 ? nil : Nominal(module: nominal.module, components: Array(nominal.components[..<depth]))
            let found = try? table.types(nominal.components[depth].name, in: parent, of: nominal.module).first
            if let found { access = min(access, found.access) }
        }
        return access
    }
}

/// Qualifies the names of nested types.
private final class TypeQualifier: SyntaxRewriter {
    let resolver: TypeResolver

    init(resolver: TypeResolver) { self.resolver = resolver }

    func rewrite(_ type: TypeSyntax) -> TypeSyntax { super.rewrite(type).as(TypeSyntax.self) ?? type }

    override func visit(_ node: IdentifierTypeSyntax) -> TypeSyntax {
        guard let nominal = try? resolver.nominal(named: [node.name.identifierText]), nominal.components.count > 1,
            nominal.components.allSatisfy({ $0.parameterCount == 0 })
        else { return super.visit(node) }
        var full = node
        full.name = .identifier(nominal.path, leadingTrivia: node.name.leadingTrivia, trailingTrivia: node.name.trailingTrivia)
        return TypeSyntax(full)
    }
}
#endif
