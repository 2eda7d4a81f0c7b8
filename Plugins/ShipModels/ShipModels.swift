import Foundation
import PackagePlugin

/// Notes the versions of the package's models as shipped: `swift package ship-models [--target <target>]…`.
///
/// The plugin ModelCompiler then fails the build when one of them is edited. The file `VersionHashes.lock` in each bundle belongs into the
/// repository.
@main struct ShipModels: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        var extractor = ArgumentExtractor(arguments)
        let names = extractor.extractOption(named: "target")
        let targets = try names.isEmpty ? context.package.targets : context.package.targets(named: names)
        let tool = try context.tool(named: "ModelCompilerTool").url
        var models: Set<String> = []
        for target in targets {
            let files = FileManager.default.enumerator(at: target.directoryURL, includingPropertiesForKeys: nil)
            while let file = files?.nextObject() as? URL {
                guard ["xcdatamodeld", "xcdatamodel"].contains(file.pathExtension) else { continue }
                files?.skipDescendants()
                models.insert(file.path)
            }
        }
        if models.isEmpty { return Diagnostics.warning("ship-models has nothing to do: there is no .xcdatamodeld or .xcdatamodel.") }
        let process = Process()
        process.executableURL = tool
        process.arguments = ["--ship"] + models.sorted()
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus != 0 { Diagnostics.error("A version was not noted as shipped.") }
    }
}
