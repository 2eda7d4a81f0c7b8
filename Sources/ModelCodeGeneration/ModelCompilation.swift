package import Foundation
internal import ModelFiles
internal import ObjectGraph
internal import Predicates
internal import PropertyLists
internal import TakenNames

/// The output of compiling a model bundle: classes, the embedded model, the model in the resources, and diagnostics.
package struct ModelCompilation {
    /// The name of the model, without its extension.
    package let name: String
    /// The diagnostics, with errors if the model cannot be compiled.
    package private(set) var diagnostics: [ModelDiagnostic] = []
    /// The Swift code: `Album+CoreDataClass.swift`, …
    package private(set) var sources: [GeneratedFile] = []
    /// The file generated for every model: the class by which the program finds it.
    package private(set) var embedding: GeneratedFile
    /// The files of the directory `Library.momd`.
    package private(set) var resources: [ModelResource] = []

    private let url: URL
    private let module: String
    private let isStrict: Bool

    /// Compiles the `.xcdatamodeld` or `.xcdatamodel` at `url` for a module.
    ///
    /// - Parameter isStrict: Whether values in the model that do not fit their attribute's type are errors instead of warnings.
    /// - Throws: A ``ModelDiagnostic`` for a model that cannot be read.
    package init(_ url: URL, module: String, isStrict: Bool = false) throws {
        self.url = url
        self.isStrict = isStrict
        self.module = module
        name = url.deletingPathExtension().lastPathComponent
        embedding = GeneratedFile(name: "", contents: "")
        do {
            let current = try NSManagedObjectModel.currentVersionName(at: url)
            var versions: [(name: String, contents: String)] = []
            var compiled: [(name: String, model: NSManagedObjectModel)] = []
            for version in try NSManagedObjectModel.versionNames(at: url) {
                let model = try NSManagedObjectModel(reading: url, version: version)
                if version == current { generate(from: model, version: version) }
                nameModule(in: model)
                versions.append((version, String(decoding: try model.xcdatamodelContents(), as: UTF8.self)))
                compiled.append((version, model))
                resources.append(ModelResource(name: "\(version).mom", data: try model.compiledModel()))
            }
            // The modules in class names are part of neither the shipped versions nor the hashes.
            diagnostics += try ShippedVersions(of: url).diagnostics(of: compiled, in: url)
            embedding = EmbeddedModelCode(name: name, modelFile: url.lastPathComponent, versions: versions, currentVersion: current).file
            resources.append(versionInfo(of: compiled, current: current))
        } catch let diagnostic as ModelDiagnostic {
            throw diagnostic
        } catch { throw ModelDiagnostic(error, reading: url) }
    }

    private mutating func generate(from model: NSManagedObjectModel, version: String) {
        let locations = SourceLocations(version: version, of: url)
        let findings = model.check(namesOfClasses: false, isStrict: isStrict)
        var noticed: Set<ModelDiagnostic> = []
        var owners: [String: String] = [:]
        func report(_ diagnostic: ModelDiagnostic) { if noticed.insert(diagnostic).inserted { diagnostics.append(diagnostic) } }
        func fail(_ entity: NSEntityDescription, _ property: String? = nil, _ message: String) {
            report(
                ModelDiagnostic(
                    isError: true, file: locations.file, line: locations.line(entity: entity.name, property: property), message: message))
        }
        for finding in findings { report(ModelDiagnostic(finding, in: locations)) }
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
                } else if TakenNames.members.contains(property.name) {
                    fail(
                        entity, property.name,
                        "\(place).\(property.name): the name is that of a member of every managed object. Rename it, and keep the old name as renaming ID."
                    )
                }
            }
            sources += code.files
        }
        // The warning repeats the error about names that are invalid for classes.
        let failed = Set(diagnostics.filter(\.isError).map(\.line))
        diagnostics.removeAll { !$0.isError && $0.line != nil && failed.contains($0.line) }
    }

    /// Replaces “Current Product Module” in class names by the module.
    private func nameModule(in model: NSManagedObjectModel) {
        for entity in model.entities {
            guard let name = entity.managedObjectClassName, name.hasPrefix(".") else { continue }
            entity.managedObjectClassName = module + name
        }
    }

    /// Returns the file in which Apple's compiler stores the current version, the hashes of the entities and the checksum of each
    /// version. The entry of the module is this framework's.
    private func versionInfo(of versions: [(name: String, model: NSManagedObjectModel)], current: String) -> ModelResource {
        typealias Node = BinaryPropertyListWriter.Node
        let checksums = versions.map { ($0.name, Node.text($0.model.versionChecksum)) }
        let hashes = versions.map { version in
            let hashes = version.model.entityVersionHashesByName.sorted { $0.key < $1.key }
            return (version.name, Node.dictionary(hashes.map { ($0.key, .data($0.value)) }))
        }
        let data = BinaryPropertyListWriter.data(
            of: .dictionary([
                ("NSManagedObjectModel_CurrentVersionName", .text(current)),
                ("NSManagedObjectModel_VersionChecksums", .dictionary(checksums)),
                ("NSManagedObjectModel_VersionHashes", .dictionary(hashes)), (NSManagedObjectModel.moduleKeyOfVersionInfo, .text(module)),
            ]))
        return ModelResource(name: "VersionInfo.plist", data: data)
    }
}

extension SourceLocations {
    /// Reads the `contents` of a version of a bundle, or of the only version.
    init(version: String, of url: URL) {
        let folder = url.pathExtension == "xcdatamodeld" ? url.appendingPathComponent("\(version).xcdatamodel") : url
        let file = folder.appendingPathComponent("contents")
        let contents = (try? Data(contentsOf: file)).map { String(decoding: $0, as: UTF8.self) }
        self.init(file: contents == nil ? url.path : file.path, contents: contents ?? "")
    }
}
