import CoreData
import Foundation
import ModelCodeGeneration
import TestSupport
import Testing

/// There is a class of this name in another module of the tests (`ClassLookupTests`).
final class ZooTwin: NSManagedObject {}

/// Models written for a test, in a folder that goes away with it.
final class ModelFolder {
    private let scratch: ScratchFolder
    var url: URL { scratch.url }

    init() throws { scratch = try ScratchFolder("Models") }

    /// Writes a model with one version.
    func model(_ entities: String, name: String = "Music") throws -> URL {
        try model(name, versions: [name: entities], current: nil)
    }

    /// Writes a model with several versions.
    func model(_ name: String, versions: [String: String], current: String?) throws -> URL {
        let bundle = url.appendingPathComponent("\(name).xcdatamodeld")
        for (version, entities) in versions {
            let folder = bundle.appendingPathComponent("\(version).xcdatamodel")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(Self.contents(entities).utf8).write(to: folder.appendingPathComponent("contents"))
        }
        if let current {
            let mark = try PropertyListSerialization.data(
                fromPropertyList: ["_XCCurrentVersionName": "\(current).xcdatamodel"], format: .xml, options: 0)
            try mark.write(to: bundle.appendingPathComponent(".xccurrentversion"))
        }
        return bundle
    }

    static func contents(_ entities: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift" userDefinedModelVersionIdentifier="">
        \(entities)
        </model>
        """
    }
}

extension ModelCompilation {
    /// The generated file called `name`.
    func source(_ name: String) throws -> String { try #require(sources.first { $0.name == name }?.contents) }
}
