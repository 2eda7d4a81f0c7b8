#if ManagedAccessors
internal import Foundation

/// Finds the types of a module and its dependencies by name.
///
/// The files of other modules are parsed only when a name in them is looked up.
public final class SymbolTable {
    /// A module with source files.
    public struct Module: Sendable {
        /// The name of the module.
        public let name: String
        /// The paths of its Swift files.
        public let paths: [String]

        /// Creates a module from its name and files.
        public init(name: String, paths: [String]) {
            self.name = name
            self.paths = paths
        }
    }

    let module: String
    private let others: [Module]
    private let generatedClasses: Set<String>
    private let own: [String: [TypeDeclaration]]
    private let plainImports: Set<String>
    private let publicImports: Set<String>
    private var texts: [String: Data] = [:]
    private var parsed: [String: SourceFile] = [:]

    /// Creates the table of a module.
    ///
    /// - Parameters:
    ///   - files: The files of the module.
    ///   - module: The name of the module.
    ///   - dependencies: The modules that it may import.
    ///   - generatedClasses: The classes generated from the module's data models, which are not in its sources.
    public init(files: [SourceFile], module: String, dependencies: [Module] = [], generatedClasses: Set<String> = []) {
        self.module = module
        others = dependencies
        self.generatedClasses = generatedClasses
        own = Dictionary(grouping: files.flatMap(\.types), by: \.name)
        let imports = files.flatMap(\.imports)
        plainImports = Set(imports.filter(\.isPlain).map(\.module))
        publicImports = Set(imports.filter { $0.text.hasPrefix("public ") }.map(\.module))
    }

    /// Whether some file of the target imports a module without an access level.
    func isPlainlyImported(_ module: String) -> Bool { plainImports.contains(module) }

    /// Returns the import of a module for a file that is added to the target.
    ///
    /// An access level on one import of a module makes an import without one ambiguous if the target's imports are public by default: none is written
    /// if the target's own files write none.
    func importDeclaration(of module: String, isShown: Bool) -> String {
        if isShown { return (publicImports.contains(module) ? "public " : "") + "import \(module)" }
        return (plainImports.contains(module) ? "" : "internal ") + "import \(module)"
    }

    /// Creates a table for tests, with other modules as sources in memory.
    convenience init(files: [SourceFile], module: String, others: [SourceFile]) {
        let modules = Dictionary(grouping: others, by: \.module).map { Module(name: $0, paths: $1.map(\.path)) }
        self.init(files: files, module: module, dependencies: modules.sorted { $0.name < $1.name })
        for file in others { (texts[file.path], parsed[file.path]) = (Data(file.text.utf8), file) }
    }

    /// Returns the types called `name` declared directly in `parent`, or at the top level of the module.
    func types(_ name: String, in parent: Nominal?, of module: String) throws -> [TypeDeclaration] {
        try declarations(called: name, in: module).filter { try parent == nominal(around: $0) }
    }

    private func declarations(called name: String, in module: String) -> [TypeDeclaration] {
        if module == self.module { return own[name] ?? [] }
        return others.filter { $0.name == module }.flatMap(\.paths).flatMap { path -> [TypeDeclaration] in
            let text = texts[path] ?? FileManager.default.contents(atPath: path) ?? Data()
            texts[path] = text
            guard Self.mayDeclare(name, text) else { return [] }
            let file = parsed[path] ?? SourceFile(path: path, text: String(decoding: text, as: UTF8.self), module: module)
            parsed[path] = file
            return file.types.filter { $0.name == name }
        }
    }

    /// Returns whether a text may declare a type of a name. Dependencies are large, and parsing is slow.
    private static func mayDeclare(_ name: String, _ text: Data) -> Bool {
        let keywords = ["class", "struct", "enum", "protocol", "typealias", "actor"]
        return keywords.contains { text.range(of: Data("\($0) \(name)".utf8)) != nil }
    }

    /// Returns the modules for lookups from a file, in order: imported modules first.
    func modules(visibleFrom file: SourceFile) -> [[String]] {
        let imported = Set(file.imports.map(\.module))
        let names = others.map(\.name)
        return [names.filter(imported.contains), names.filter { !imported.contains($0) }]
    }

    func isModule(_ name: String) -> Bool { name == module || others.contains { $0.name == name } }

    /// Returns whether a class is one of managed objects: `NSManagedObject`, or a class that inherits from it, as far as the sources show.
    func isManaged(_ declaration: TypeDeclaration) -> Bool {
        guard declaration.kind == .objectClass, var current = try? nominal(of: declaration) else { return false }
        let resolver = TypeResolver(table: self, file: declaration.file, scope: declaration.scope)
        var visited: Set<Nominal> = []
        while visited.insert(current).inserted {
            let name = current.components.last?.name
            if name == "NSManagedObject" || name.map(generatedClasses.contains) == true && current.module == module { return true }
            guard let parent = try? resolver.superclass(of: current) else { return false }
            current = parent
        }
        return false
    }

    /// Returns a class generated from a data model of the module.
    func generatedClass(_ name: String) -> Nominal? {
        guard generatedClasses.contains(name) else { return nil }
        return Nominal(module: module, components: []).nested(name, kind: "C", extendingModule: nil, parameterCount: 0)
    }

    /// Returns the enclosing type of a declaration, nil at the top level.
    func nominal(around declaration: TypeDeclaration) throws -> Nominal? {
        try declaration.scope.map { try self.nominal(of: $0, in: declaration.file) }
    }

    /// Returns the type of a scope.
    func nominal(of scope: Scope, in file: SourceFile) throws -> Nominal {
        switch scope.kind {
        case .type(let declaration): return try nominal(of: declaration)
        case .extensionOf(let names): return try TypeResolver(table: self, file: file, scope: nil).nominal(named: names)
        }
    }

    func nominal(of declaration: TypeDeclaration) throws -> Nominal {
        guard let parent = try nominal(around: declaration) else {
            return Nominal(module: declaration.file.module, components: []).nested(
                declaration.name, kind: declaration.kind.rawValue, extendingModule: nil, parameterCount: declaration.parameterCount)
        }
        var extending: String?
        if case .extensionOf = declaration.scope?.kind, parent.declaringModule != declaration.file.module {
            extending = declaration.file.module
        }
        return parent.nested(
            declaration.name, kind: declaration.kind.rawValue, extendingModule: extending, parameterCount: declaration.parameterCount)
    }
}
#endif
