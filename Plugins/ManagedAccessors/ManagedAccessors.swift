import Foundation
import PackagePlugin

/// Writes the accessors of `@NSManaged` declarations, which the Objective-C runtime provides on Apple's platforms.
///
/// Files that the target compiles get extensions. In a folder that the target excludes and that has managed object classes, translated
/// copies of the files are compiled.
@main struct ManagedAccessors: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        let sources = target.sourceFiles(withSuffix: "swift").map(\.url)
        let inPlace = sources.filter(Self.mentionsAccessors)
        let excluded = try Self.excludedFiles(of: target, sources: sources, otherTargets: context.package.targets)
        guard !inPlace.isEmpty || !excluded.isEmpty else { return [] }
        let tool = try context.tool(named: "ManagedAccessorsTool").url
        var names = Set(sources.map(\.lastPathComponent))
        var arguments = ["--module", target.moduleName, "--source"] + sources.map(\.path)
        var outputs: [URL] = []
        for file in inPlace {
            let name = Self.unused("\(file.deletingPathExtension().lastPathComponent)+Accessors", in: &names)
            outputs.append(context.pluginWorkDirectoryURL.appending(path: name))
            arguments += ["--accessors", file.path, outputs[outputs.count - 1].path]
        }
        for file in excluded {
            // A name different from the original, so that the two files differ in messages.
            let name = Self.unused("\(file.deletingPathExtension().lastPathComponent)+Translated", in: &names)
            outputs.append(context.pluginWorkDirectoryURL.appending(path: name))
            arguments += ["--translate", file.path, outputs[outputs.count - 1].path]
        }
        var inputs = sources + excluded
        for (module, files) in Self.dependencies(of: target) {
            arguments += ["--dependency", module] + files.map(\.path)
            inputs += files
        }
        for model in target.directoryURL.files(endingWith: [".xcdatamodeld", ".xcdatamodel"]) {
            arguments += ["--model", model.path]
            inputs += model.files(endingWith: ["contents"])
        }
        var commands: [Command] = []
        if !inPlace.isEmpty {
            let compiler = try context.tool(named: "swiftc").url
            let stamp = context.pluginWorkDirectoryURL.appending(path: "ManagedAccessorsToolchain.swift")
            commands.append(
                .buildCommand(
                    displayName: "Trying how the compiler refers to accessors", executable: tool,
                    arguments: ["--probe", compiler.path, context.pluginWorkDirectoryURL.appending(path: "Probe").path, stamp.path],
                    inputFiles: [compiler], outputFiles: [stamp]))
        }
        commands.append(
            .buildCommand(
                displayName: "Writing the accessors of \(target.name)", executable: tool, arguments: arguments, inputFiles: inputs,
                outputFiles: outputs))
        return commands
    }

    /// Returns the Swift files below the target's directory that it does not compile: those of folders with managed object classes.
    private static func excludedFiles(of target: any SourceModuleTarget, sources: [URL], otherTargets: [any Target]) throws -> [URL] {
        let compiled = Set(sources.map(\.standardizedFileURL.path))
        let otherFolders = otherTargets.map(\.directoryURL.standardizedFileURL.path).filter {
            $0.hasPrefix(target.directoryURL.standardizedFileURL.path + "/")
        }
        let candidates = target.directoryURL.files(endingWith: [".swift"]).filter { file in
            let path = file.standardizedFileURL.path
            return !compiled.contains(path) && !otherFolders.contains { path.hasPrefix($0 + "/") }
        }
        let root = target.directoryURL.standardizedFileURL.path
        let folders = Dictionary(grouping: candidates) { file in
            excludedFolder(of: file.standardizedFileURL.path, below: root, compiled: compiled)
        }
        return folders.values.filter { $0.contains { mentionsAccessors($0) || declaresClass($0) } }.flatMap { $0 }.sorted {
            $0.path < $1.path
        }
    }

    /// Returns the outermost folder around a file in which nothing is compiled; the file itself where there is none.
    private static func excludedFolder(of path: String, below root: String, compiled: Set<String>) -> String {
        var folder = root
        for component in path.dropFirst(root.count).split(separator: "/").dropLast() {
            folder += "/" + component
            if !compiled.contains(where: { $0.hasPrefix(folder + "/") }) { return folder }
        }
        return path
    }

    /// Returns the modules that a target can import, with their Swift files; the tool knows Core Data's own.
    private static func dependencies(of target: any SourceModuleTarget) -> [(module: String, files: [URL])] {
        let known: Set<String> = [
            "CoreData", "ObjectGraph", "ModelFiles", "SQLQueries", "SQLiteStore", "Predicates", "PropertyLists", "CoreDataRuntime",
            "CoreDataRegistration", "TakenNames",
        ]
        var seen: Set<String> = []
        return target.recursiveTargetDependencies.compactMap { $0 as? any SourceModuleTarget }.compactMap { module in
            guard !known.contains(module.moduleName), seen.insert(module.moduleName).inserted else { return nil }
            let files = module.sourceFiles(withSuffix: "swift").map(\.url)
            return files.isEmpty ? nil : (module.moduleName, files)
        }
    }

    private static func mentionsAccessors(_ file: URL) -> Bool {
        guard let data = try? Data(contentsOf: file) else { return false }
        return data.range(of: Data("@NSManaged".utf8)) != nil
    }

    /// Returns whether a file has a class that is visible to Objective-C and inherits from `NSManagedObject`; its properties may be
    /// generated.
    private static func declaresClass(_ file: URL) -> Bool {
        guard let data = try? Data(contentsOf: file), data.range(of: Data("@objc".utf8)) != nil else { return false }
        return [" ", "{", ",", "\n"].contains { data.range(of: Data(": NSManagedObject\($0)".utf8)) != nil }
    }

    /// Returns a file name that is unique in the module, because the compiler distinguishes files by name.
    private static func unused(_ name: String, in names: inout Set<String>) -> String {
        var candidate = "\(name).swift"
        var number = 2
        while !names.insert(candidate).inserted {
            candidate = "\(name)-\(number).swift"
            number += 1
        }
        return candidate
    }
}

extension URL {
    /// Returns the files and folders with given endings below a folder, without nested packages.
    fileprivate func files(endingWith endings: [String]) -> [URL] {
        guard let enumerator = FileManager.default.enumerator(at: self, includingPropertiesForKeys: nil) else { return [] }
        var found: [URL] = []
        for case let file as URL in enumerator {
            if file.lastPathComponent.hasPrefix(".") {
                enumerator.skipDescendants()
            } else if endings.contains(where: file.lastPathComponent.hasSuffix) {
                found.append(file)
            }
        }
        return found.sorted { $0.path < $1.path }
    }
}
