internal import Foundation
internal import ObjectGraph

/// A mapping model that the plugin `ModelCompiler` has compiled into the program. The plugin writes a subclass for each mapping model of a target.
///
/// The program does not use it directly: `NSMappingModel(from:forSourceModel:destinationModel:)` finds every subclass. Its members may be used on any
/// thread. The name of a subclass begins with `EmbeddedMappingModel_`, and it is declared at the top level of its module.
open class EmbeddedMappingModel {
    /// The name of the mapping model: that of its file without the extension.
    open class var name: String { "" }
    /// The XML of the mapping model, without the copies of the models.
    open class var contents: StaticString { "" }

    /// The mapping models of the program.
    static var all: [EmbeddedMappingModel.Type] {
        ProgramClasses.shared.names(beginningWith: "EmbeddedMappingModel_").compactMap {
            NSClassFromString($0) as? EmbeddedMappingModel.Type
        }
    }

    /// Reads the mapping model.
    static func mappingModel() throws -> NSMappingModel {
        try MappingModelFile.read(contents.withUTF8Buffer { Data($0) }, file: "\(name).xcmappingmodel in the program")
    }
}
