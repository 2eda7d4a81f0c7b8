import Foundation
import PackagePlugin

/// Writes the accessors of `@NSManaged` declarations, which the Objective-C runtime provides on Apple's platforms.
///
/// Files that the target compiles get extensions. Of files that it excludes, translated copies are compiled: see ``UncompiledFiles``. Names
/// that Foundation has too get aliases, and casts that fail without Objective-C a warning.
@main struct ManagedAccessors: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        let sources = target.swiftSources
        let inPlace = sources.filter(\.mentionsAccessors)
        let excluded = try UncompiledFiles(of: target, in: context.package).translated
        let exporter =
            (sources + excluded).contains { $0.contains("NSExpression", "NSComparisonPredicate") } ? Self.exporter(for: target) : nil
        let casts = sources.contains {
            $0.contains("as! NSFetchRequest<", "as? NSFetchRequest<", "as NSFetchRequest<", "is NSFetchRequest<")
        }
        guard !inPlace.isEmpty || !excluded.isEmpty || exporter != nil || casts else { return [] }
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
        // Without a class to work on, too, the tool writes a file: warnings of a command without outputs would be seen at each build.
        if exporter != nil || (inPlace.isEmpty && excluded.isEmpty) {
            outputs.append(context.pluginWorkDirectoryURL.appending(path: Self.unused("\(target.moduleName)+Names", in: &names)))
            arguments += ["--aliases", exporter ?? "CoreData", outputs[outputs.count - 1].path]
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

    /// Returns the modules that a target can import, with their Swift files; the tool knows Core Data's own.
    private static func dependencies(of target: any SourceModuleTarget) -> [(module: String, files: [URL])] {
        let known: Set<String> = [
            "CoreData", "ObjectGraph", "ModelFiles", "SQLQueries", "SQLiteStore", "Predicates", "PropertyLists", "CoreDataRuntime",
            "CoreDataRegistration", "TakenNames", "FoundationCompatibility",
        ]
        var seen: Set<String> = []
        return target.recursiveTargetDependencies.compactMap { $0 as? any SourceModuleTarget }.compactMap { module in
            guard !known.contains(module.moduleName), seen.insert(module.moduleName).inserted else { return nil }
            let files = module.swiftSources
            return files.isEmpty ? nil : (module.moduleName, files)
        }
    }

    /// Returns the module that declares the names that Foundation has too: the highest that a target can import; nil if it can import none.
    private static func exporter(for target: any SourceModuleTarget) -> String? {
        let modules = Set(target.recursiveTargetDependencies.compactMap { ($0 as? any SourceModuleTarget)?.moduleName })
        return ["CoreData", "ObjectGraph", "Predicates"].first(where: modules.contains)
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
