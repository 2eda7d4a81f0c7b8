import CoreData
import FileStores
import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import StoreCommands

/// Comparing, copying and migrating stores.
@Suite(.enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct StoresTests {
    private let pad: Pad

    init() throws {
        pad = try Pad()
        try Records.make(pad.store)
    }

    private func difference(_ other: URL, key: String? = nil, model: String? = nil) throws -> String {
        let output = CollectedOutput()
        let stores = try [pad.store, other].map { try StoreReference($0.path, model: model).open() }
        _ = try StoreDifference(stores[0], stores[1], key: key).write(.table, to: output)
        return output.text
    }

    @Test func aCopyIsEqualAndAChangedCopyIsNot() throws {
        let copy = pad.file("copy.sqlite")
        try expect(StoreCopying(StoreReference(pad.store.path, decodesTransformables: true)).copy(to: copy.path), equals: 9)
        try expect(difference(copy), equals: "The stores are equal.\n")
        let context = try Records.open(copy)
        try context.performAndWait {
            let tracks = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Track"))
            tracks.first { $0.value(forKey: "title") as? String == "Monza" }.map(context.delete)
            tracks.first { $0.value(forKey: "title") as? String == "Notre Dame" }?.setValue(7.5, forKey: "seconds")
            Records.add("Artist", ["name": "Cluster"], to: context)
            try context.save()
        }
        let text = try difference(copy)
        #expect(text.contains("+ Artist/p3\n"))
        #expect(text.contains("    seconds: 301.5 → 7.5\n"))
        #expect(text.contains("- Track/p"))
        #expect(text.contains("    tracks: ["))
        #expect(text.hasSuffix("1 added, 1 removed, 2 changed.\n"))
        try expect(CommandProcess(["diff", pad.store.path, copy.path]).code, equals: 1)
        try expect(CommandProcess(["diff", pad.store.path, pad.store.path]).code, equals: 0)
    }

    @Test func objectsOfOtherStoresAreComparedByTheirUniqueValues() throws {
        let other = pad.file("other.sqlite")
        let context = try Records.open(other)
        try context.performAndWait {
            // Other keys, the same names.
            for name in ["Cluster", "Neu!", "Harmonia"] {
                Records.add("Artist", ["name": name], to: context)
                try context.save()
            }
        }
        let output = CollectedOutput()
        let stores = try [pad.store, other].map { try StoreReference($0.path).open() }
        _ = try StoreDifference(stores[0], stores[1]).write(.table, entity: "Artist", to: output)
        #expect(output.text.contains("+ Artist/p1\n"))
        #expect(output.text.contains("1 added, 2 changed."))
    }

    @Test(arguments: ["xml", "binary", "json", "csv"]) func aStoreIsCopiedToEachKindAndBack(ending: String) throws {
        let model = pad.file("Records.xcdatamodel").path
        try ModelConversion.write(Records.model(), to: model)
        let copy = pad.url.appendingPathComponent("copy.\(ending)").path
        let before = try Data(contentsOf: pad.store)
        try expect(StoreCopying(StoreReference(pad.store.path, decodesTransformables: true)).copy(to: copy), equals: 9)
        try expect(Data(contentsOf: pad.store), equals: before)
        let back = pad.file("back.sqlite")
        try expect(StoreCopying(StoreReference(copy, model: model, decodesTransformables: true)).copy(to: back.path), equals: 9)
        let store = try StoreReference(back.path).open()
        let output = CollectedOutput()
        let query = try Query(QueryText("Track", sort: "seconds", columns: "title,seconds,album.title,album.artist.name"), in: store)
        try QueryPrinter(query, to: output).write(.csv)
        let lines = output.text.split(separator: "\n").dropFirst().map { $0.split(separator: ",", maxSplits: 1)[1] }
        expect(
            lines,
            equals: [
                "Deluxe (Immer wieder),0,Deluxe,Harmonia", "Walky-Talky,100.5,Deluxe,Harmonia", "Monza,201,Deluxe,Harmonia",
                "Notre Dame,301.5,Deluxe,Harmonia",
            ])
        // Nothing is overwritten.
        #expect(throws: NSError.self) { try StoreCopying(StoreReference(pad.store.path)).copy(to: copy) }
    }

    @Test func aDryRunSaysWhatAMigrationWouldDoAndTheMigrationDoesIt() throws {
        let model = pad.file("New.xcdatamodel").path
        let changed = Records.model()
        changed.entitiesByName["Track"]?.properties.append(NSAttributeDescription(name: "isrc", type: .string))
        try ModelConversion.write(changed, to: model)
        let before = try Pad.contents(of: pad.url)
        let dry = try CommandProcess(["migrate", pad.store.path, "--model", model, "--dry-run"])
        expect(dry.code, equals: 0)
        #expect(dry.output.contains("would be migrated in one step"))
        try expect(Pad.contents(of: pad.url), equals: before)
        try expect(CommandProcess(["query", pad.store.path, "Track", "--model", model, "--count"]).code, equals: 1)
        try expect(CommandProcess(["migrate", pad.store.path, "--model", model]).output, equals: "Migrated in 1 step.\n")
        try expect(CommandProcess(["query", pad.store.path, "Track", "--model", model, "--count"]).output, equals: "4\n")
        #expect(try CommandProcess(["migrate", pad.store.path, "--model", model]).output.contains("is of the model's version"))
    }
}
