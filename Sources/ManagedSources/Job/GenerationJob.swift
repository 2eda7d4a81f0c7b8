#if ManagedAccessors
internal import Foundation

/// The tool's job for one target: reads its sources, and writes accessors and translated copies.
public struct GenerationJob: Sendable {
    /// An input file and its output file.
    public struct Output: Sendable {
        /// The path of the original.
        public let source: String
        /// The path of the output.
        public let destination: String
    }

    /// The module of the target.
    public private(set) var module = ""
    /// The Swift files that are compiled unchanged.
    public private(set) var sources: [String] = []
    /// The files to write accessors for.
    public private(set) var accessors: [Output] = []
    /// The files to translate.
    public private(set) var translations: [Output] = []
    /// The file for aliases of names that Foundation has too, and the module that declares them; nil if the target mentions none.
    public private(set) var aliases: (module: String, destination: String)?
    /// The modules that the target depends on.
    public private(set) var dependencies: [SymbolTable.Module] = []
    /// The data models of the target, whose generated classes are not in its sources.
    public private(set) var models: [String] = []

    /// Parses a job from arguments: `--module M --source A.swift … --accessors A.swift A+Accessors.swift … --translate B.swift B.swift …
    /// --aliases CoreData Names.swift --dependency Other O.swift … --model Library.xcdatamodeld`.
    ///
    /// - Throws: An ``ArgumentProblem`` for invalid arguments.
    public init(arguments: [String]) throws {
        var rest = arguments[...]
        func values(_ option: String, count: Int? = nil) throws -> [String] {
            let list = Array(rest.prefix { !$0.hasPrefix("--") })
            rest = rest.dropFirst(list.count)
            guard count == nil || list.count == count else { throw ArgumentProblem(description: "\(option) takes \(count ?? 0) paths.") }
            return list
        }
        while let option = rest.popFirst() {
            switch option {
            case "--module": module = try values(option, count: 1)[0]
            case "--source": sources += try values(option)
            case "--model": models += try values(option)
            case "--accessors", "--translate":
                let paths = try values(option, count: 2)
                let output = Output(source: paths[0], destination: paths[1])
                if option == "--accessors" { accessors.append(output) } else { translations.append(output) }
            case "--aliases":
                let list = try values(option, count: 2)
                aliases = (list[0], list[1])
            case "--dependency":
                let list = try values(option)
                guard let name = list.first else { throw ArgumentProblem(description: "--dependency takes a module and its files.") }
                dependencies.append(SymbolTable.Module(name: name, paths: Array(list.dropFirst())))
            default: throw ArgumentProblem(description: "“\(option)” is not an option.")
            }
        }
        guard !module.isEmpty else { throw ArgumentProblem(description: "--module is missing.") }
    }

    /// Writes the files.
    ///
    /// - Returns: The problems of the sources, and warnings; files with problems are not written.
    /// - Throws: An error of the file system.
    public func run() throws -> [SourceProblem] {
        let read = { (path: String) in
            SourceFile(path: path, text: try String(contentsOfFile: path, encoding: .utf8), module: module)
        }
        let originals = Set(accessors.map(\.source))
        let plain = try sources.filter { !originals.contains($0) }.map(read)
        let inPlace = try accessors.map { (try read($0.source), $0.destination) }
        let translated = try translations.map { (try read($0.source), $0.destination) }
        let table = SymbolTable(
            files: plain + inPlace.map(\.0) + translated.map(\.0), module: module, dependencies: dependencies,
            generatedClasses: try Set(models.flatMap { try ModelClasses.names(inModelAt: $0) }))
        let writer = AccessorWriter(table: table)
        var problems: [SourceProblem] = []
        for (file, destination) in inPlace {
            let (source, found) = writer.accessors(for: file)
            problems += found
            if found.isEmpty { try Self.write(source, to: destination) }
        }
        for (file, destination) in translated {
            let (source, found) = SourceTranslator(file, table: table).translation()
            problems += found
            if found.isEmpty { try Self.write(source, to: destination) }
        }
        let unchanged = plain + inPlace.map(\.0)
        problems += unchanged.flatMap(FetchRequestCastFinder.warnings)
        problems += (unchanged + translated.map(\.0)).flatMap(FetchRequestTestFinder.warnings)
        if let aliases {
            let files = unchanged + translated.map(\.0)
            try Self.write(NameAliases.source(for: files, table, exporter: aliases.module), to: aliases.destination)
        }
        return problems
    }

    private static func write(_ text: String, to path: String) throws {
        let url = URL(fileURLWithPath: path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        // An unchanged file is not written, so that it is not compiled again.
        let data = Data(text.utf8)
        if (try? Data(contentsOf: url)) != data { try data.write(to: url, options: .atomic) }
    }
}

/// The error of arguments that the tool does not understand.
public struct ArgumentProblem: Error, CustomStringConvertible {
    /// The message.
    public let description: String
}

/// Finds the classes that are generated from a data model.
enum ModelClasses {
    /// Returns the names of the classes.
    static func names(inModelAt path: String) throws -> [String] {
        let root = URL(fileURLWithPath: path)
        let files = (FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)?.allObjects ?? []).compactMap { $0 as? URL }
        return try files.filter { $0.lastPathComponent == "contents" }.flatMap {
            names(inContents: try String(contentsOf: $0, encoding: .utf8))
        }
    }

    /// Returns the class names of the entities with `codeGenerationType="class"`.
    static func names(inContents text: String) -> [String] {
        text.components(separatedBy: "<entity ").dropFirst().compactMap { piece in
            let tag = piece.prefix { $0 != ">" }
            guard attribute("codeGenerationType", of: tag) == "class" else { return nil }
            return attribute("representedClassName", of: tag)?.split(separator: ".").last.map(String.init)
        }
    }

    private static func attribute(_ name: String, of tag: Substring) -> String? {
        guard let start = tag.firstRange(of: "\(name)=\"") else { return nil }
        return String(tag[start.upperBound...].prefix { $0 != "\"" })
    }
}
#endif
