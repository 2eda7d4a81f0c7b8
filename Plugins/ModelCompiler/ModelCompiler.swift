import Foundation
import PackagePlugin

/// Compiles the Core Data models of a target: each `.xcdatamodeld`, `.xcdatamodel` and `.xcmappingmodel` among its files.
@main struct ModelCompiler: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        var models = target.sourceFiles.map(\.url).filter { ["xcdatamodeld", "xcdatamodel"].contains($0.pathExtension) }
        if models.isEmpty { models = Self.excludedModels(of: target, in: context.package, endings: ["xcdatamodeld", "xcdatamodel"]) }
        var mappings = target.sourceFiles.map(\.url).filter { $0.pathExtension == "xcmappingmodel" }
        if mappings.isEmpty { mappings = Self.excludedModels(of: target, in: context.package, endings: ["xcmappingmodel"]) }
        if models.isEmpty, mappings.isEmpty {
            Diagnostics.warning(
                "ModelCompiler has nothing to do: there is no .xcdatamodeld or .xcdatamodel in \(target.directoryURL.path).")
        }
        let tool = try context.tool(named: "ModelCompilerTool").url
        let options = try ModelCompilerOptions(of: target)
        let mappingCommands = mappings.map { Self.command(for: $0, tool: tool, in: context) }
        return mappingCommands
            + models.map { model in
                let outline = ModelOutline(model)
                let name = model.deletingPathExtension().lastPathComponent
                let folder = context.pluginWorkDirectoryURL.appending(path: name, directoryHint: .isDirectory)
                let sources = outline.classFiles + ["\(name)+CoreDataModel.swift"]
                return .buildCommand(
                    displayName: "Compiling the model \(model.lastPathComponent)", executable: tool,
                    arguments: options.arguments + [model.path, target.moduleName, folder.path] + outline.classFiles,
                    // The bundle itself is an input, so that the package manager treats it as handled.
                    inputFiles: [model] + outline.files + options.files,
                    outputFiles: sources.map { folder.appending(path: $0) } + [folder.appending(path: "\(name).momd")])
            }
    }
}

extension ModelCompiler {
    /// Returns the command that compiles a mapping model into a class and a resource.
    private static func command(for mapping: URL, tool: URL, in context: PluginContext) -> Command {
        let name = mapping.deletingPathExtension().lastPathComponent
        let folder = context.pluginWorkDirectoryURL.appending(path: "\(name)-mapping", directoryHint: .isDirectory)
        return .buildCommand(
            displayName: "Compiling the mapping model \(mapping.lastPathComponent)", executable: tool,
            arguments: ["--mapping", mapping.path, folder.path],
            // The bundle itself is an input, so that the package manager treats it as handled.
            inputFiles: [mapping, mapping.appending(path: "xcmapping.xml")],
            outputFiles: [folder.appending(path: "\(name)+MappingModel.swift"), folder.appending(path: "\(name).xcmappingmodel")])
    }

    /// Returns the models in folders that a target excludes: a folder of classes, which the plugin ManagedAccessors translates, may contain
    /// their model.
    private static func excludedModels(of target: any SourceModuleTarget, in package: Package, endings: [String]) -> [URL] {
        let root = target.directoryURL.standardizedFileURL.path
        let otherFolders = package.targets.map(\.directoryURL.standardizedFileURL.path).filter { $0.hasPrefix(root + "/") }
        guard let files = FileManager.default.enumerator(at: target.directoryURL, includingPropertiesForKeys: nil) else { return [] }
        var found: [URL] = []
        for case let file as URL in files {
            let path = file.standardizedFileURL.path
            if file.lastPathComponent.hasPrefix(".") || otherFolders.contains(path) {
                files.skipDescendants()
            } else if endings.contains(file.pathExtension) {
                files.skipDescendants()
                found.append(file)
            }
        }
        return found.sorted { $0.path < $1.path }
    }
}

/// The options of a target: the file `ModelCompiler.json` among its files, `{"strict": true}`.
private struct ModelCompilerOptions {
    private struct Contents: Decodable {
        /// Whether values of a model that are none of their attribute's type are errors instead of warnings.
        var strict: Bool?
    }

    /// The file, if there is one. As an input it makes the commands run again when it changes.
    let files: [URL]
    let arguments: [String]

    init(of target: any SourceModuleTarget) throws {
        let file = target.directoryURL.appending(path: "ModelCompiler.json")
        guard let data = try? Data(contentsOf: file) else {
            (files, arguments) = ([], [])
            return
        }
        do {
            arguments = try JSONDecoder().decode(Contents.self, from: data).strict == true ? ["--strict"] : []
        } catch {
            Diagnostics.error("\(file.path) has no options of ModelCompiler, which look like {\"strict\": true}: \(error)")
            throw error
        }
        files = [file]
    }
}

/// The outline of a model that the build needs before the model is read: its files, and the files to generate.
///
/// A plugin cannot use libraries. The tool, which reads the model completely, compensates for errors of the outline.
private struct ModelOutline {
    /// The files of the bundle.
    let files: [URL]
    /// The names of the Swift files of entities.
    let classFiles: [String]

    init(_ model: URL) {
        let paths = FileManager.default.enumerator(atPath: model.path)?.compactMap { $0 as? String }.sorted() ?? []
        files = paths.map { model.appending(path: $0) }.filter { !$0.isDirectory }
        guard let contents = Self.currentVersion(of: model), let text = try? String(contentsOf: contents, encoding: .utf8) else {
            classFiles = []
            return
        }
        var names: [String] = []
        for entity in text.matches(of: /<entity\s[^>]*>/) {
            let tag = String(entity.output)
            guard let kind = Self.value(of: "codeGenerationType", in: tag), let name = Self.value(of: "representedClassName", in: tag),
                let className = name.split(separator: ".").last, className != "NSManagedObject"
            else { continue }
            if kind == "class" { names.append("\(className)+CoreDataClass.swift") }
            if kind == "class" || kind == "category" { names.append("\(className)+CoreDataProperties.swift") }
        }
        var seen: Set<String> = []
        classFiles = names.filter { seen.insert($0).inserted }
    }

    private static func currentVersion(of model: URL) -> URL? {
        if model.pathExtension == "xcdatamodel" { return model.appending(path: "contents") }
        let mark = model.appending(path: ".xccurrentversion")
        if let data = try? Data(contentsOf: mark),
            let list = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any],
            let name = list["_XCCurrentVersionName"] as? String
        {
            return model.appending(path: name).appending(path: "contents")
        }
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: model.path))?.filter { $0.hasSuffix(".xcdatamodel") } ?? []
        return versions.count == 1 ? model.appending(path: versions[0]).appending(path: "contents") : nil
    }

    private static func value(of name: String, in tag: String) -> String? {
        guard let start = tag.range(of: " \(name)=\"")?.upperBound, let end = tag[start...].firstIndex(of: "\"") else { return nil }
        return String(tag[start..<end])
    }
}

extension URL {
    fileprivate var isDirectory: Bool { (try? resourceValues(forKeys: [.isDirectoryKey]).isDirectory) ?? false }
}
