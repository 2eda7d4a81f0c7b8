internal import CoreData
package import Foundation

/// What becomes of a model bundle in a build: classes, the model within the program, the model among the resources, and what there is to tell.
package struct ModelCompilation {
    /// The name of the model, without its ending.
    package let name: String
    /// What there is to tell, errors among them if the model cannot be compiled.
    package private(set) var diagnostics: [ModelDiagnostic] = []
    /// The Swift code: `Album+CoreDataClass.swift`, …
    package private(set) var sources: [GeneratedFile] = []
    /// The file that is generated for every model: the class by which the program finds it.
    package private(set) var embedding: GeneratedFile
    /// What stands in the folder `Library.momd`.
    package private(set) var resources: [GeneratedFile] = []

    private let url: URL
    private let module: String

    /// Compiles the `.xcdatamodeld` or `.xcdatamodel` at `url` for a module.
    ///
    /// - Throws: a ``ModelDiagnostic`` for a model that cannot be read.
    package init(_ url: URL, module: String) throws {
        self.url = url
        self.module = module
        name = url.deletingPathExtension().lastPathComponent
        embedding = GeneratedFile(name: "", contents: "")
        do {
            let current = try NSManagedObjectModel.currentVersionName(at: url)
            var versions: [(name: String, contents: String)] = []
            for version in try NSManagedObjectModel.versionNames(at: url) {
                let model = try NSManagedObjectModel(reading: url, version: version)
                if version == current { generate(from: model, version: version) }
                versions.append((version, String(decoding: try compiled(model), as: UTF8.self)))
            }
            embedding = EmbeddedModelCode(name: name, modelFile: url.lastPathComponent, versions: versions, currentVersion: current).file
            resources = versions.map { GeneratedFile(name: "\($0.name).mom", contents: $0.contents) } + [try versionInfo(current: current)]
        } catch let diagnostic as ModelDiagnostic {
            throw diagnostic
        } catch { throw ModelDiagnostic(error, reading: url) }
    }

    private mutating func generate(from model: NSManagedObjectModel, version: String) {
        let places = ModelPlaces(version: version, of: url)
        let findings = model.check(namesOfClasses: false)
        var noticed: Set<ModelDiagnostic> = []
        var owners: [String: String] = [:]
        func tell(_ diagnostic: ModelDiagnostic) { if noticed.insert(diagnostic).inserted { diagnostics.append(diagnostic) } }
        func fail(_ entity: NSEntityDescription, _ property: String? = nil, _ message: String) {
            tell(
                ModelDiagnostic(
                    isError: true, file: places.file, line: places.line(entity: entity.name, property: property), message: message))
        }
        for finding in findings { tell(ModelDiagnostic(finding, in: places)) }
        guard !diagnostics.contains(where: \.isError) else { return }
        for entity in model.entities {
            guard let code = EntityCode(entity, modelFile: url.lastPathComponent) else { continue }
            let place = entity.name ?? "?"
            guard code.className.isIdentifier else {
                fail(entity, nil, "\(place): “\(code.className)” cannot be the name of a class. Choose another class name.")
                continue
            }
            if let other = owners.updateValue(place, forKey: code.className) {
                fail(entity, nil, "\(place): the class “\(code.className)” is generated for “\(other)” already. Choose another class name.")
            }
            for property in entity.properties where property.entity === entity {
                if !property.name.isIdentifier {
                    fail(entity, property.name, "\(place).\(property.name): this cannot be the name of a property. Rename it.")
                } else if NSManagedObjectModel.namesOfMembers.contains(property.name) {
                    fail(
                        entity, property.name,
                        "\(place).\(property.name): the name is that of a member of every managed object. Rename it, and keep the old name as renaming ID."
                    )
                }
            }
            sources += code.files
        }
        // The warning says the same of names that no class can have.
        let failed = Set(diagnostics.filter(\.isError).map(\.line))
        diagnostics.removeAll { !$0.isError && $0.line != nil && failed.contains($0.line) }
    }

    /// The XML of a model as it is compiled: “Current Product Module” has become the module, and the diagram of the editor is left out.
    private func compiled(_ model: NSManagedObjectModel) throws -> Data {
        for entity in model.entities {
            guard let name = entity.managedObjectClassName, name.hasPrefix(".") else { continue }
            entity.managedObjectClassName = module + name
        }
        return try model.xcdatamodelContents()
    }

    private func versionInfo(current: String) throws -> GeneratedFile {
        let info: [String: String] = [
            "NSManagedObjectModel_CurrentVersionName": current, NSManagedObjectModel.moduleKeyOfVersionInfo: module,
        ]
        let data = try PropertyListSerialization.data(fromPropertyList: info, format: .xml, options: 0)
        return GeneratedFile(name: "VersionInfo.plist", contents: String(decoding: data, as: UTF8.self))
    }
}

extension ModelPlaces {
    /// Of a version of a bundle, or of the only one.
    init(version: String, of url: URL) {
        let folder = url.pathExtension == "xcdatamodeld" ? url.appendingPathComponent("\(version).xcdatamodel") : url
        let file = folder.appendingPathComponent("contents")
        let contents = (try? Data(contentsOf: file)).map { String(decoding: $0, as: UTF8.self) }
        self.init(file: contents == nil ? url.path : file.path, contents: contents ?? "")
    }
}
