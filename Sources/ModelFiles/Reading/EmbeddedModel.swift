internal import Foundation
internal import ObjectGraph

/// A model that the `ModelCompiler` plugin has compiled into the program. The plugin writes a subclass for each model of a target.
///
/// The program does not use it directly: `NSPersistentContainer(name:)` and `NSManagedObjectModel.mergedModel(from: nil)` find every
/// subclass of the program, in any module, also when the executable is moved without its resources. Its members may be used on any
/// thread.
///
/// The name of a subclass begins with `EmbeddedModel_`, and it is declared at the top level of its module.
open class EmbeddedModel {
    /// A version of the model.
    public struct Version: Sendable {
        /// The name of the version.
        public let name: String
        /// The XML of the version's `.xcdatamodel`.
        public let contents: StaticString

        /// Creates a version from its name and XML.
        public init(name: String, contents: StaticString) {
            self.name = name
            self.contents = contents
        }
    }

    /// The name of the model: that of its file without the extension.
    open class var name: String { "" }
    /// The name of the current version.
    open class var currentVersion: String { "" }
    /// All versions.
    open class var versions: [Version] { [] }
}

extension EmbeddedModel {
    /// The module of the model.
    static var module: String { String(String(reflecting: self).prefix { $0 != "." }) }

    /// The models of the program.
    static var all: [EmbeddedModel.Type] {
        ProgramClasses.shared.names(beginningWith: "EmbeddedModel_").compactMap { NSClassFromString($0) as? EmbeddedModel.Type }
    }

    /// Returns the model called `name`; if several modules have one, that of the program itself.
    static func called(_ name: String) -> EmbeddedModel.Type? {
        var found = all.filter { $0.name == name }
        if found.isEmpty {
            ProgramClasses.shared.forget()
            found = all.filter { $0.name == name }
        }
        return found.first { $0.module == NSEntityDescription.programModule } ?? found.first
    }

    /// The versions, as files.
    static var files: [ModelFile] {
        versions.map { version in
            let contents = version.contents.withUTF8Buffer { Data($0) }
            var file = ModelFile(
                form: .contents, url: URL(fileURLWithPath: "\(module)/\(name).momd/\(version.name).mom"), name: version.name,
                isCurrent: version.name == currentVersion, contents: contents)
            file.module = module
            return file
        }
    }

    /// Returns the current version.
    static func model() throws -> NSManagedObjectModel {
        guard let file = files.first(where: \.isCurrent) else {
            throw ModelFileError.missing(name, "The model in the program has no version “\(currentVersion)”.")
        }
        let model = NSManagedObjectModel()
        try file.read(into: model)
        return model
    }
}
