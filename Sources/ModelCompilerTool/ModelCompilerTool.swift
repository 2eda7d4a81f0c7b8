import Foundation
import ModelCodeGeneration

/// Compiles one model for the plugin `ModelCompiler`: `ModelCompilerTool [--strict] <model> <module> <folder> <expected file>…`.
///
/// With `--strict`, values of the model that are none of their attribute's type are errors instead of warnings.
///
/// `ModelCompilerTool --mapping <mapping model> <folder>` compiles a mapping model.
///
/// Reports errors like a compiler, and exits with status 1 if there are any.
@main enum ModelCompilerTool {
    static func main() {
        if CommandLine.arguments.dropFirst().first == "--ship" { return ship(CommandLine.arguments.dropFirst(2)) }
        if CommandLine.arguments.dropFirst().first == "--mapping" { return compileMapping(Array(CommandLine.arguments.dropFirst(2))) }
        let isStrict = CommandLine.arguments.dropFirst().first == "--strict"
        let arguments = CommandLine.arguments.dropFirst(isStrict ? 2 : 1)
        guard arguments.count >= 3 else {
            report("usage: ModelCompilerTool [--strict] <model> <module> <folder> <expected file>…")
            exit(2)
        }
        let values = Array(arguments)
        let model = URL(fileURLWithPath: values[0])
        let output = ModelOutput(folder: URL(fileURLWithPath: values[2]), expected: Array(values[3...]))
        do {
            let compilation = try ModelCompilation(model, module: values[1], isStrict: isStrict)
            for diagnostic in compilation.diagnostics { report("\(diagnostic)") }
            if compilation.diagnostics.contains(where: \.isError) { exit(1) }
            try output.write(compilation)
        } catch let diagnostic as ModelDiagnostic {
            report("\(diagnostic)")
            exit(1)
        } catch {
            report("\(model.path): error: \(error.localizedDescription)")
            exit(1)
        }
    }

    /// Notes the versions of models as shipped, for the plugin `ShipModels`: `ModelCompilerTool --ship <model>…`.
    private static func ship(_ models: ArraySlice<String>) {
        for path in models {
            do {
                let names = try ShippedVersions.ship(URL(fileURLWithPath: path)).map { "“\($0)”" }.joined(separator: ", ")
                print(names.isEmpty ? "\(path): every version was shipped before." : "\(path): shipped \(names).")
            } catch let diagnostic as ModelDiagnostic {
                report("\(diagnostic)")
                exit(1)
            } catch {
                report("\(path): error: \(error.localizedDescription)")
                exit(1)
            }
        }
    }

    private static func compileMapping(_ values: [String]) {
        guard values.count == 2 else {
            report("usage: ModelCompilerTool --mapping <mapping model> <folder>")
            exit(2)
        }
        let mapping = URL(fileURLWithPath: values[0])
        do { try MappingCompilation(mapping).write(to: URL(fileURLWithPath: values[1])) } catch let diagnostic as ModelDiagnostic {
            report("\(diagnostic)")
            exit(1)
        } catch {
            report("\(mapping.path): error: \(error.localizedDescription)")
            exit(1)
        }
    }

    private static func report(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
}
