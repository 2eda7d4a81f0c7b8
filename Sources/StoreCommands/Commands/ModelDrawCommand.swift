#if Command
internal import ArgumentParser
internal import Foundation

struct ModelDraw: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "draw", abstract: "Draws a model as a picture (SVG).",
        discussion: "The picture follows the reader's choice of light or dark.")

    @OptionGroup var model: ModelArguments

    @Option(name: .shortAndLong, help: "The file to write; otherwise standard output.", completion: .file(extensions: ["svg"]))
    var output: String?

    func run() throws {
        let picture = ModelDrawing(try model.read()).svg()
        if let output {
            try StoreKind.refuseAddress(output)
            try Data(picture.utf8).write(to: URL(fileURLWithPath: output), options: .atomic)
        } else {
            try print { try $0.write(picture) }
        }
    }
}
#endif
