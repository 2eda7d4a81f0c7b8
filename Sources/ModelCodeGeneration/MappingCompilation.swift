package import Foundation
internal import Migration
internal import ObjectGraph

/// The output of compiling an `.xcmappingmodel`: the class by which the program finds it, and the file in the resources, both without the copies of the
/// models that Xcode keeps in it.
package struct MappingCompilation {
    /// The name of the mapping model, without its extension.
    package let name: String
    /// The Swift code.
    package let embedding: GeneratedFile
    /// The XML for the resources.
    package let contents: String

    /// Compiles the mapping model at `url`.
    ///
    /// - Throws: A ``ModelDiagnostic`` for a mapping model that cannot be read.
    package init(_ url: URL) throws {
        name = url.deletingPathExtension().lastPathComponent
        do { contents = try MappingModelFile.compiled(url) } catch { throw ModelDiagnostic(error, reading: url) }
        let fileName = "\(name)+MappingModel.swift"
        let className =
            "EmbeddedMappingModel_"
            + name.unicodeScalars.map { $0.properties.isAlphabetic || ("0"..."9").contains($0) ? String($0) : "_\($0.value)_" }.joined()
        embedding = GeneratedFile(
            name: fileName,
            contents: """
                \(GeneratedFile.header(fileName, from: url.lastPathComponent))
                public import CoreData

                /// NSMappingModel(from:forSourceModel:destinationModel:) finds the mapping model by this class.
                public final class \(className): EmbeddedMappingModel {
                    public override class var name: String { \(EmbeddedModelCode.literal(name)) }
                    public override class var contents: StaticString {
                \(EmbeddedModelCode.textLiteral(contents))
                    }
                }

                """)
    }

    /// Writes the class and the resource to the directory of a build; unchanged files are not written.
    package func write(to folder: URL) throws {
        let resource = folder.appendingPathComponent("\(name).xcmappingmodel")
        try FileManager.default.createDirectory(at: resource, withIntermediateDirectories: true)
        try ModelOutput.write(embedding.contents, to: folder.appendingPathComponent(embedding.name))
        try ModelOutput.write(contents, to: resource.appendingPathComponent("xcmapping.xml"))
    }
}
