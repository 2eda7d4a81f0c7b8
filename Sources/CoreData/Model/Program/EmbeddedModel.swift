internal import Foundation

/// A model that the `ModelCompiler` plugin has compiled into the program. The plugin writes a subclass for each model of a target.
///
/// Nothing has to be done with it: `NSPersistentContainer(name:)` and `NSManagedObjectModel.mergedModel(from: nil)` find every subclass of the
/// program, in whichever module it is, also when the executable is moved without its resources. Its members may be used from any thread.
///
/// The name of a subclass begins with `EmbeddedModel_`, and it stands at the top of its module.
open class EmbeddedModel {
    /// A version of the model.
    public struct Version: Sendable {
        /// The name of the version.
        public let name: String
        /// The XML of its `.xcdatamodel`.
        public let contents: StaticString

        /// Makes a version of its name and its XML.
        public init(name: String, contents: StaticString) {
            self.name = name
            self.contents = contents
        }
    }

    /// The name of the model, that of its file without the ending.
    open class var name: String { "" }
    /// The name of the current version.
    open class var currentVersion: String { "" }
    /// All versions.
    open class var versions: [Version] { [] }
}

extension EmbeddedModel {
    /// The module that the model belongs to.
    static var module: String { String(String(reflecting: self).prefix { $0 != "." }) }

    /// The models in the program.
    static var all: [EmbeddedModel.Type] {
        ProgramClasses.shared.names(beginningWith: "EmbeddedModel_").compactMap { NSClassFromString($0) as? EmbeddedModel.Type }
    }

    /// The model called `name`; where modules of the program have several, that of the program itself.
    static func called(_ name: String) -> EmbeddedModel.Type? {
        var found = all.filter { $0.name == name }
        if found.isEmpty {
            ProgramClasses.shared.forget()
            found = all.filter { $0.name == name }
        }
        return found.first { $0.module == NSEntityDescription.programModule } ?? found.first
    }

    /// The versions, as files are.
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

    /// The current version.
    static func model() throws -> NSManagedObjectModel {
        guard let file = files.first(where: \.isCurrent) else {
            throw ModelFileError.missing(name, "The model in the program has no version “\(currentVersion)”.")
        }
        let model = NSManagedObjectModel()
        try file.read(into: model)
        return model
    }
}
