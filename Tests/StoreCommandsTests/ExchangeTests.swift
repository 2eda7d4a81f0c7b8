import CoreData
import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import StoreCommands

/// Exporting and importing files.
@Suite(.enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct ExchangeTests {
    private let pad: Pad

    init() throws {
        pad = try Pad()
        try Records.make(pad.store)
    }

    private func export(_ name: String, entities: [String] = [], form: StoreExport.Form? = nil) throws -> String {
        let path = pad.url.path + "/" + name
        _ = try StoreExport(StoreReference(pad.store.path).open(), entities: entities).write(to: path, form: form)
        return path
    }

    private func difference(_ other: URL) throws -> String {
        let output = CollectedOutput()
        let stores = try [pad.store, other].map { try StoreReference($0.path).open() }
        _ = try StoreDifference(stores[0], stores[1]).write(.table, to: output)
        return output.text
    }

    /// Writes a file, and returns what an import of it says.
    private func mistakes(_ text: String, _ name: String, entity: String? = nil, writes: Bool = true) throws -> String {
        let file = pad.file(name)
        try Data(text.utf8).write(to: file)
        do {
            let outcome = try StoreImport.run(file.path, into: pad.store.path, entity: entity, writes: writes)
            return "\(outcome.added) \(outcome.changed) \(outcome.unchanged)"
        } catch { return (error as NSError).localizedDescription }
    }

    @Test(arguments: ["all.json", "folder/", "lists"]) func anExportIsImportedIntoANewStoreWithTheSameKeys(name: String) throws {
        // Keys with gaps.
        let context = try Records.open(pad.store)
        try context.performAndWait {
            let lost = Records.add("Artist", ["name": "Cluster"], to: context)
            try context.save()
            context.delete(lost)
            Records.add("Artist", ["name": "La Düsseldorf"], to: context)
            try context.save()
        }
        let files = try export(name, form: name == "lists" ? .json : nil)
        let copy = pad.file("copy.sqlite")
        let tried = try StoreImport.run(files, into: copy.path, model: pad.store.path, writes: false)
        expect(tried, equals: .init(added: 10))
        #expect(!FileManager.default.fileExists(atPath: copy.path))
        try expect(StoreImport.run(files, into: copy.path, model: pad.store.path, writes: true), equals: tried)
        try expect(difference(copy), equals: "The stores are equal.\n")
        let names = try FileManager.default.contentsOfDirectory(atPath: pad.url.path)
        #expect(!names.contains { $0.hasPrefix(".copy") || $0.hasPrefix(".all") || $0.hasPrefix(".folder") })
        #expect(try StoreCheck.findings(in: StoreReference(copy.path).open()).isEmpty)
    }

    @Test(arguments: ["copy.json", "copy.xml", "copy.binary", "copy/"]) func anExportIsImportedIntoANewStoreOfEachKind(name: String) throws
    {
        let model = pad.file("Records.xcdatamodel").path
        try ModelConversion.write(Records.model(), to: model)
        let files = try export("all.json")
        let place = pad.url.path + "/" + name
        let tried = try StoreImport.run(files, into: place, model: model, writes: false)
        expect(tried, equals: .init(added: 9))
        #expect(!FileManager.default.fileExists(atPath: place))
        try expect(StoreImport.run(files, into: place, model: model, writes: true), equals: tried)
        let output = CollectedOutput()
        let query = try Query(
            QueryText("Track", sort: "seconds", columns: "title,seconds,album.title,album.artist.name"),
            in: StoreReference(place, model: model).open())
        try QueryPrinter(query, to: output).write(.csv)
        #expect(output.text.contains(",Notre Dame,301.5,Deluxe,Harmonia\n"))
        expect(output.text.split(separator: "\n").count, equals: 5)
        // Nothing of what it was made in is left.
        let names = try FileManager.default.contentsOfDirectory(atPath: pad.url.path)
        #expect(names.filter { $0.hasPrefix(".copy") }.allSatisfy { $0 == ".copy.json.coredata" }, "\(names)")
    }

    @Test func anImportThatFailsLeavesNoNewStoreOfFiles() throws {
        let file = pad.file("Artist.csv")
        try Data("name,wrong\nCan,1\n".utf8).write(to: file)
        #expect(throws: NSError.self) {
            try StoreImport.run(file.path, into: pad.url.path + "/new/", model: pad.store.path, writes: true)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: pad.url.path)
        #expect(!names.contains { $0.contains("new") })
    }

    @Test func anImportIntoTheStoreItselfChangesWhatTheFileChanged() throws {
        let file = try export("all.json")
        var text = try String(contentsOfFile: file, encoding: .utf8)
        text = text.replacing("\"Walky-Talky\"", with: "\"Walky Talky\"")
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        let before = try Pad.contents(of: pad.url)
        try expect(StoreImport.run(file, into: pad.store.path, writes: false), equals: .init(changed: 1, unchanged: 8))
        try expect(Pad.contents(of: pad.url), equals: before)
        try expect(StoreImport.run(file, into: pad.store.path, writes: true), equals: .init(changed: 1, unchanged: 8))
        let store = try StoreReference(pad.store.path).open()
        try expect(Query(QueryText("Track", where: "title == 'Walky Talky' AND album.title == 'Deluxe'"), in: store).count(), equals: 1)
    }

    @Test func theOrderOfARelationshipIsThatOfTheFile() throws {
        let file = try export("all.json")
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let list = try #require(text.firstMatch(of: /"tracks":\[("[^\]]*")\]/)?.1)
        let reversed = list.split(separator: ",").reversed().joined(separator: ",")
        try Data(text.replacing(list, with: reversed).utf8).write(to: URL(fileURLWithPath: file))
        #expect(try StoreImport.run(file, into: pad.store.path, writes: true).changed > 0)
        let store = try StoreReference(pad.store.path).open()
        let first = try store.read {
            let albums = try store.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Album"))
            let deluxe = albums.first { $0.value(forKey: "title") as? String == "Deluxe" }
            let tracks = deluxe?.value(forKey: "tracks") as? NSOrderedSet
            return (tracks?.firstObject as? NSManagedObject)?.value(forKey: "title") as? String
        }
        expect(first, equals: "Notre Dame")
    }

    @Test func objectsOfOtherStoresAreTheSameByTheirUniqueValues() throws {
        let file = pad.file("Artist.csv")
        try Data("name\nHarmonia\nCluster\n".utf8).write(to: file)
        try expect(StoreImport.run(file.path, into: pad.store.path, writes: true), equals: .init(added: 1, unchanged: 1))
        let album = pad.file("Album.csv")
        // The value of a key stands for an object.
        try Data("title,year,artist\nZuckerzeit,1974,Cluster\n\"Deluxe\",1976,Harmonia\n".utf8).write(to: album)
        try expect(StoreImport.run(album.path, into: pad.store.path, key: "title", writes: true).changed, equals: 1)
        let store = try StoreReference(pad.store.path).open()
        try expect(Query(QueryText("Album", where: "artist.name == 'Cluster' AND year == 1974"), in: store).count(), equals: 1)
        try expect(Query(QueryText("Album", where: "title == 'Deluxe' AND year == 1976"), in: store).count(), equals: 1)
    }

    @Test(arguments: [
        ("Artist.csv", "name,country\nCan,DE\n", "Artist.csv, line 1: “Artist” has no property “country”. It has: albums, name."),
        ("Artist.csv", "name\nCan\n\"\nx\"\n\n,\n", "Artist.csv, line 6: The record has 2 fields, and the header has 1."),
        ("Artist.csv", "name\n\"Can", "Artist.csv, line 2: Expected a closing quote"),
        ("Album.csv", "title,year\nA,1971\nB,soon\n", "Album.csv, line 3, Album.year: Expected a whole number"),
        ("Album.csv", "title,year\nA,99999999999\n", "Album.csv, line 2, Album.year: Expected a whole number from -2147483648"),
        ("Album.csv", "released\nyesterday\n", "Album.csv, line 2, Album.released: “yesterday” is not a date"),
        ("Album.csv", "artist\nArtist/p99\n", "Album.csv, line 2, Album.artist: “Artist/p99” is no object"),
        ("Album.csv", "artist\nAlbum/p1\n", "Album.csv, line 2, Album.artist: “Album/p1” is of “Album”, not of “Artist”."),
        ("x.json", "{\"Artist\": [\n{\"name\": \"Can\"},\n{\"name\": null}]}", "x.json, line 3, Artist.name:"),
        ("x.json", "{\"Artist\": [\n{\"name\": \"Can\",}]}", "x.json, line 2"),
        ("x.json", "{\"Artist\": [{\"name\": \"Can\", \"name\": \"Neu!\"}]}", "x.json, line 1: The member “name” is there twice."),
        ("x.json", "{\"Singer\": [{\"name\": \"Can\"}]}", "x.json, line 1: The model has no entity “Singer”."),
        (
            "x.json", "{\"Artist\": [{\"$id\": \"Artist/p1\"}, {\"$id\": \"Artist/p1\"}]}",
            "x.json, line 1, column 35, Artist: The record in x.json, line 1 is the same object."
        ),
    ]) func mistakesNameTheirPlaceAndNothingIsImported(name: String, text: String, expected: String) throws {
        let message = try mistakes(text, name)
        #expect(message.hasPrefix("Nothing is imported: 1 mistake.\n  "), "\(message)")
        #expect(message.contains(expected), "\(message)")
        try expect(Query(QueryText("Artist"), in: StoreReference(pad.store.path).open()).count(), equals: 2)
    }

    @Test func recordsThatContradictEachOtherAreMistakes() throws {
        let message = try mistakes(
            """
            {"Track": [{"$id": "Track/p1", "album": null}],
             "Album": [{"$id": "Album/p1", "tracks": ["Track/p1"]}]}
            """, "x.json")
        #expect(message.contains("Track.album: Another record says something else"), "\(message)")
    }

    @Test func theCommandWritesOnlyWhereItIsTold() throws {
        let file = pad.file("Artist.csv")
        try Data("name\nCan\n".utf8).write(to: file)
        let tried = try CommandProcess(["import", pad.store.path, file.path])
        expect(tried.output, equals: "Would be imported: 1 added, 0 changed, 0 unchanged. Nothing is written without --write.\n")
        try expect(CommandProcess(["query", pad.store.path, "Artist", "--count"]).output, equals: "2\n")
        try expect(
            CommandProcess(["import", pad.store.path, file.path, "--write"]).output, equals: "Imported: 1 added, 0 changed, 0 unchanged.\n")
        try expect(CommandProcess(["query", pad.store.path, "Artist", "--count"]).output, equals: "3\n")
        let out = pad.file("out.json").path
        try expect(CommandProcess(["export", pad.store.path, out]).output, equals: "10 objects exported.\n")
        let again = try CommandProcess(["export", pad.store.path, out])
        expect(again.code, equals: 1)
        #expect(again.errors.contains("There is something already."))
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["COREDATA_MATERIAL"] != nil))
    func storesOfIOSComeBackFromTheirExports() throws {
        let folder = URL(fileURLWithPath: ProcessInfo.processInfo.environment["COREDATA_MATERIAL"] ?? "").appendingPathComponent("stores")
        var count = 0
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() {
            let url = folder.appendingPathComponent(name)
            guard ["sqlite", "moody", "paw"].contains(url.pathExtension) else { continue }
            let source = try StoreReference(url.path).open()
            // A model that is only drafted makes no store.
            guard case .store = source.modelOrigin else { continue }
            for form in ["all\(count).json", "all\(count)/"] {
                let files = pad.url.path + "/" + form
                let exported = try StoreExport(source).write(to: files)
                let copy = pad.file("copy\(count)-\(form.hasSuffix("/") ? "csv" : "json").sqlite")
                do {
                    try expect(StoreImport.run(files, into: copy.path, model: url.path, writes: true).added, equals: exported)
                } catch { Issue.record("\(name) \(form): \((error as NSError).localizedDescription)"); continue }
                let output = CollectedOutput()
                _ = try StoreDifference(source, StoreReference(copy.path).open()).write(.table, to: output)
                expect(output.text, equals: "The stores are equal.\n", "\(name) \(form) \(output.text.prefix(600))")
            }
            count += 1
        }
        print("\(count) stores were exported and imported.")
        #expect(count >= 10)
    }
}
