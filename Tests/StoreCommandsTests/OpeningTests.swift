import CoreData
import FileStores
import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import StoreCommands

/// Stores are opened by their files alone.
@Suite(.enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct OpeningTests {
    private func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch { return (error as NSError).localizedDescription }
    }

    private func count(_ opening: StoreReference, _ entity: String) throws -> Int {
        try Query(QueryText(entity), in: opening.open()).count()
    }

    @Test func theModelIsTheOneThatTheStoreKeeps() throws {
        let pad = try Pad()
        try Records.make(pad.store)
        let store = try StoreReference(pad.store.absoluteString).open()
        expect(store.kind, equals: .sqlite)
        guard case .store = store.modelOrigin else {
            Issue.record("The model comes from \(store.modelOrigin).")
            return
        }
        try expect(Query(QueryText("Album"), in: store).count(), equals: 3)
        try expect(Query(QueryText("Album", excludesSubentities: true), in: store).count(), equals: 2)
    }

    @Test func aStoreWithoutAModelIsReadByWhatItsTablesTell() throws {
        let pad = try Pad()
        try Records.make(pad.store)
        try Plain.execute("DELETE FROM Z_MODELCACHE", pad.store)
        let store = try StoreReference(pad.store.path).open()
        guard case .drafted(let note) = store.modelOrigin else {
            Issue.record("The model comes from \(store.modelOrigin).")
            return
        }
        #expect(note.contains("drafted from its tables"))
        let output = CollectedOutput()
        let query = try Query(
            QueryText("Album", where: "artist.name == 'Harmonia'", sort: "year", columns: "title,venue,artist.name"), in: store)
        try QueryPrinter(query, to: output).write(.csv)
        #expect(output.text.contains(",Live 1974,Griessem,Harmonia\n"))
        #expect(output.text.contains(",Deluxe,,Harmonia\n"))
        expect(store.model.entitiesByName["LiveAlbum"]?.superentity?.name, equals: "Album")
    }

    @Test(arguments: [NSXMLStoreType, NSBinaryStoreType]) func otherStoresOfCoreDataAreToldFromTheirFiles(type: String) throws {
        let pad = try Pad()
        let url = pad.file("records.data")
        try Records.make(url, type: type)
        let before = try Pad.contents(of: pad.url)
        let model = pad.file("Records.xcdatamodel")
        try Records.model().write(toXCDataModel: model)
        try expect(count(StoreReference(url.path, model: model.path), "Track"), equals: 4)
        let store = try StoreReference(url.path).open()
        try expect(count(StoreReference(url.path), "Track"), equals: 4)
        guard case .store = store.modelOrigin else { return #expect(Bool(false), "The model comes from \(store.modelOrigin).") }
        if type == NSXMLStoreType {
            // Apple's framework keeps none in it.
            let text = try String(contentsOf: url, encoding: .utf8)
            try text.replacing(/<key>OpenCoreDataModel<\/key>\s*<data>[^<]*<\/data>/, with: "").write(
                to: url, atomically: true, encoding: .utf8)
            guard case .drafted = try StoreReference(url.path).open().modelOrigin else { return #expect(Bool(false), "It has a model.") }
            try text.write(to: url, atomically: true, encoding: .utf8)
        }
        try FileManager.default.removeItem(at: model)
        try expect(Pad.contents(of: pad.url), equals: before)
    }

    @Test func aBinaryStoreKeepsItsModelWhenItsMetadataAreSet() throws {
        let pad = try Pad()
        let url = pad.file("records.data")
        try Records.make(url, type: NSBinaryStoreType)
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSBinaryStoreType, at: url)
        metadata["note"] = "set"
        try NSPersistentStoreCoordinator.setMetadata(metadata, forPersistentStoreOfType: NSBinaryStoreType, at: url)
        let store = try StoreReference(url.path).open()
        expect(store.store.metadata?["note"] as? String, equals: "set")
        expect(store.model.entityVersionHashesByName, equals: Records.model().entityVersionHashesByName)
    }

    @Test func aFolderOfCSVFilesIsAStore() throws {
        let pad = try Pad()
        try Data("id,title,year\n1,Deluxe,1975\n2,Zuckerzeit,1974\n".utf8).write(to: pad.file("Album.csv"))
        let before = try Pad.contents(of: pad.url)
        let output = CollectedOutput()
        let query = try Query(QueryText("Album", where: "year < 1975", columns: "title"), in: StoreReference(pad.url.path).open())
        try QueryPrinter(query, to: output).write(.csv)
        #expect(output.text.hasSuffix(",Zuckerzeit\n"))
        try expect(Pad.contents(of: pad.url), equals: before)
    }

    @Test func aJSONStoreIsReadByADraftOfItsModel() throws {
        let pad = try Pad()
        let url = pad.file("records.json")
        let text = """
            {"Artist": [{"id": 1, "name": "Neu!"}, {"id": 2, "name": "Can", "tags": ["a"]}],
             "Album": [{"id": 1, "artist": 1, "year": 1972, "price": 9.5, "live": false}, {"id": 2, "artist": 2, "year": null, "price": 8}]}
            """
        try Data(text.utf8).write(to: url)
        let before = try Pad.contents(of: pad.url)
        let store = try StoreReference(url.path).open()
        guard case .drafted(let note) = store.modelOrigin else {
            Issue.record("The model comes from \(store.modelOrigin).")
            return
        }
        #expect(note.contains("drafted from their records"))
        let output = CollectedOutput()
        let query = try Query(QueryText("Album", where: "artist.name == 'Neu!'", columns: "year,price,live,artist.name"), in: store)
        try QueryPrinter(query, to: output).write(.csv)
        #expect(output.text.contains(",1972,9.5,false,Neu!\n"))
        expect(store.model.entitiesByName["Artist"]?.propertiesByName.keys.sorted(), equals: ["id", "name"])
        try expect(Pad.contents(of: pad.url), equals: before)
    }

    @Test func aJSONStoreWithoutRecordsNeedsAModelAndSaysSo() throws {
        let pad = try Pad()
        let url = pad.file("records.json")
        try Data(#"{"Artist": []}"#.utf8).write(to: url)
        #expect(message { _ = try StoreReference(url.path).open() }.contains("--model"))
        try Data(#"{"Artist": [{"id": 1, "name": "Neu!"}], "Album": [], "Track": []}"#.utf8).write(to: url)
        let model = pad.file("Records.xcdatamodel")
        let artist = NSEntityDescription()
        artist.name = "Artist"
        artist.properties = [NSAttributeDescription(name: "name", type: .string)]
        try NSManagedObjectModel(entities: [artist]).write(toXCDataModel: model)
        try expect(count(StoreReference(url.path, model: model.path), "Artist"), equals: 1)
    }

    @Test("The tables of another program are opened with a drafted model, and their file stays as it is")
    func tables() throws {
        let pad = try Pad()
        let url = pad.file("db.sqlite3")
        try Plain.execute(
            """
            CREATE TABLE artists (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE albums (id INTEGER PRIMARY KEY, artist_id INTEGER NOT NULL REFERENCES artists, title TEXT);
            CREATE VIEW counts AS SELECT count(*) AS number FROM albums;
            CREATE VIEW broken AS SELECT * FROM nowhere;
            INSERT INTO artists VALUES (1, 'Neu!');
            INSERT INTO albums VALUES (1, 1, 'Neu! 2'), (2, 1, 'Neu! 75');
            """, url)
        let bytes = try Data(contentsOf: url)
        let store = try StoreReference(url.path).open()
        guard case .drafted(let note) = store.modelOrigin else { return #expect(Bool(false), "It is \(store.modelOrigin).") }
        #expect(note.contains("It leaves out: The view broken"))
        try expect(Query(QueryText("Counts"), in: store).count(), equals: 1)
        let query = try Query(QueryText("Albums", where: "artist.name == 'Neu!' AND title ENDSWITH '2'"), in: store)
        let output = CollectedOutput()
        try QueryPrinter(query, to: output).write(.csv)
        #expect(output.text.contains("Neu! 2"))
        let explanation = try QueryExplanation(query).json().text()
        #expect(explanation.contains("\"way\"") && explanation.contains("artists"))
        try expect(Data(contentsOf: url), equals: bytes)
        let written = try StoreReference(url.path, isWritable: true).open()
        try written.read {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Albums")
            request.predicate = NSPredicate(format: "id == 1")
            try written.context.fetch(request).first?.setValue("Zwei", forKey: "title")
            try written.context.save()
        }
        try expect(count(StoreReference(url.path), "Albums"), equals: 2)
    }

    @Test func errorsNameTheNextStep() throws {
        let pad = try Pad()
        #expect(message { _ = try StoreReference(pad.file("none.sqlite").path).open() }.contains("Check the path."))
        try Data().write(to: pad.file("empty.sqlite"))
        #expect(message { _ = try StoreReference(pad.file("empty.sqlite").path).open() }.contains("-wal"))
        try Data("Hello".utf8).write(to: pad.file("text.txt"))
        #expect(message { _ = try StoreReference(pad.file("text.txt").path).open() }.contains("It is none of these"))
        #expect(message { _ = try StoreReference("https://example.com/api").open() }.contains("https"))
        try Records.make(pad.store)
        let store = try StoreReference(pad.store.path).open()
        #expect(message { _ = try Query(QueryText("album"), in: store) }.contains("Did you mean “Album”?"))
        #expect(message { _ = try Query(QueryText("Album", columns: "titel"), in: store) }.contains("tracks"))
        #expect(message { _ = try Query(QueryText("Album", columns: "tracks.title"), in: store) }.contains("tracks.@count"))
        #expect(message { _ = try Query(QueryText("Album", where: "year >"), in: store) }.contains("\n  year >\n        ^"))
        #expect(message { _ = try Query(QueryText("Album", limit: -1), in: store) }.contains("--limit"))
    }

    @Test func aDamagedStoreIsAnErrorAndNoCrash() throws {
        let pad = try Pad()
        try Records.make(pad.store)
        let whole = try Data(contentsOf: pad.store)
        for length in [17, 100, 1000, 4096, whole.count / 2] {
            try whole.prefix(length).write(to: pad.store)
            #expect(message { try StoreReport(StoreReference(pad.store.path).open()).write(.json, to: CollectedOutput()) } != "")
        }
    }
}
