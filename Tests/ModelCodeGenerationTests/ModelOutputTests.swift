import CoreData
import Foundation
import ModelCodeGeneration
import TestSupport
import Testing

/// What the tool leaves in the folder of a build.
struct ModelOutputTests {
    private static let song = #"<entity name="Song" representedClassName="Song" codeGenerationType="class"/>"#
    private static let album = #"<entity name="Album" representedClassName=".Album" codeGenerationType="class"/>"#

    private func files(in folder: URL) throws -> [String: String] {
        var files: [String: String] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            let data = FileManager.default.contents(atPath: folder.appendingPathComponent(path).path)
            if let data, !data.isEmpty || path.hasSuffix(".swift") { files[path] = String(decoding: data, as: UTF8.self) }
        }
        return files
    }

    @Test("An entity that the build did not expect stands in the file that every model has, one that is gone leaves an empty file")
    func unexpected() throws {
        let models = try ModelFolder()
        defer { withExtendedLifetime(models) {} }
        let folder = models.url.appendingPathComponent("output")
        let compilation = try ModelCompilation(models.model(Self.album), module: "MusicApp")
        try ModelOutput(folder: folder, expected: ["Song+CoreDataClass.swift"]).write(compilation)
        let files = try files(in: folder)
        expect(files["Song+CoreDataClass.swift"], equals: "")
        let embedding = try #require(files["Music+CoreDataModel.swift"])
        #expect(embedding.contains("public class Album: NSManagedObject {") && embedding.contains("extension Album: Identifiable {"))
        #expect(files["Album+CoreDataClass.swift"] == nil)
    }

    @Test("Unchanged files are not written again") func unchanged() throws {
        let models = try ModelFolder()
        defer { withExtendedLifetime(models) {} }
        let folder = models.url.appendingPathComponent("output")
        let compilation = try ModelCompilation(models.model(Self.song), module: "MusicApp")
        let output = ModelOutput(folder: folder, expected: compilation.sources.map { $0.name })
        try output.write(compilation)
        let paths = try files(in: folder).keys.map { folder.appendingPathComponent($0).path }
        let old = Date(timeIntervalSince1970: 1_000_000)
        for path in paths { try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: path) }
        try output.write(compilation)
        for path in paths {
            try expect(FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date, equals: old, "\(path)")
        }
    }

    @Test("The compiled bundle is read as the model is, with the current product's module in the names of classes") func bundle() throws {
        let models = try ModelFolder()
        defer { withExtendedLifetime(models) {} }
        let url = try models.model("Music", versions: ["Music": Self.song, "Music 2": Self.song + Self.album], current: "Music 2")
        let folder = models.url.appendingPathComponent("output")
        try ModelOutput(folder: folder, expected: []).write(try ModelCompilation(url, module: "MusicApp"))
        let bundle = folder.appendingPathComponent("Music.momd")
        try expect(NSManagedObjectModel.versionNames(at: bundle), equals: ["Music", "Music 2"])
        let model = try NSManagedObjectModel(reading: bundle)
        expect(model.entitiesByName["Album"]?.managedObjectClassName, equals: "MusicApp.Album")
        expect(model.entitiesByName["Song"]?.managedObjectClassName, equals: "Song")
        try expect(NSManagedObjectModel(reading: bundle, version: "Music").entities.map(\.name), equals: ["Song"])
        let source = try NSManagedObjectModel(reading: url)
        expect(model.entityVersionHashesByName, equals: source.entityVersionHashesByName)
        try expect(NSManagedObjectModel(reading: bundle.appendingPathComponent("Music 2.mom")).entities.count, equals: 2)
    }

    @Test("The compiled bundle has the form of Apple's: keyed archives, and hashes and checksums of every version") func form() throws {
        let models = try ModelFolder()
        defer { withExtendedLifetime(models) {} }
        let url = try models.model("Music", versions: ["Music": Self.song, "Music 2": Self.song + Self.album], current: "Music 2")
        let folder = models.url.appendingPathComponent("output")
        try ModelOutput(folder: folder, expected: []).write(try ModelCompilation(url, module: "MusicApp"))
        let bundle = folder.appendingPathComponent("Music.momd")
        func list(_ name: String) throws -> [String: Any] {
            let data = try Data(contentsOf: bundle.appendingPathComponent(name))
            #expect(data.starts(with: Data("bplist00".utf8)), "\(name)")
            return try #require(try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
        }
        for name in ["Music.mom", "Music 2.mom"] {
            let archive = try list(name)
            expect(archive["$archiver"] as? String, equals: "NSKeyedArchiver")
            let classes = (archive["$objects"] as? [Any] ?? []).compactMap { ($0 as? [String: Any])?["$classname"] as? String }
            #expect(Set(classes).isSuperset(of: ["NSManagedObjectModel", "NSEntityDescription", "NSDictionary"]))
        }
        let information = try list("VersionInfo.plist")
        expect(information["NSManagedObjectModel_CurrentVersionName"] as? String, equals: "Music 2")
        let hashes = try #require(information["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]])
        let checksums = try #require(information["NSManagedObjectModel_VersionChecksums"] as? [String: String])
        for version in ["Music", "Music 2"] {
            let source = try NSManagedObjectModel(reading: url, version: version)
            expect(hashes[version], equals: source.entityVersionHashesByName)
            expect(checksums[version], equals: source.versionChecksum)
        }
    }

    @Test("A model whose text looks like the end of a literal is embedded whole") func literals() throws {
        let models = try ModelFolder()
        defer { withExtendedLifetime(models) {} }
        let entity =
            ##"<entity name="Song"><userInfo><entry key="quote" value="&quot;&quot;&quot;# \#(x) &quot;&quot;&quot;##"/></userInfo></entity>"##
        let compilation = try ModelCompilation(models.model(entity), module: "MusicApp")
        let code = compilation.embedding.contents
        #expect(code.contains("contents: ####\"\"\"\n") || code.contains("contents: ###\"\"\"\n"))
        let resource = try #require(compilation.resources.first { $0.name == "Music.mom" })
        let quote = try NSManagedObjectModel(compiledModel: resource.data).entitiesByName["Song"]?.userInfo?["quote"] as? String
        expect(quote, equals: "\"\"\"# \\#(x) \"\"\"##")
    }
}
