import CoreData
import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import PropertyLists
@testable import StoreCommands

/// The commands about models.
@Suite(.enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct ModelTests {
    private let pad: Pad

    init() throws { pad = try Pad() }

    @Test func showDescribesPropertiesOfAModelAndOfAStore() throws {
        try Records.make(pad.store)
        let output = CollectedOutput()
        try ModelReport(ModelSource.model(at: pad.store.path)).write(.table, to: output)
        #expect(output.text.contains("LiveAlbum: Album\n  venue  string\n"))
        #expect(output.text.contains("  albums  →→ Album  (inverse artist)\n"))
        #expect(output.text.contains("  tracks    →→ Track  (inverse album, ordered)\n"))
        #expect(output.text.contains("  unique: name\n"))
    }

    @Test(arguments: ["xcdatamodeld", "xcdatamodel", "mom"]) func aConvertedModelIsTheSameModel(ending: String) throws {
        let file = pad.file("Records.\(ending)").path
        try ModelConversion.write(Records.model(), to: file)
        try expect(ModelConversion.differences(ModelSource.model(at: file), Records.model()), equals: [])
        // Nothing is overwritten.
        #expect(throws: NSError.self) { try ModelConversion.write(Records.model(), to: file) }
    }

    @Test func swiftAndUnknownFormsAreWrittenOrRefused() throws {
        let file = pad.file("Records.swift")
        try ModelConversion.write(Records.model(), to: file.path)
        #expect(try String(contentsOf: file, encoding: .utf8).contains("final class Track"))
        #expect(throws: NSError.self) { try ModelConversion.write(Records.model(), to: pad.file("Records.txt").path) }
    }

    @Test func diffNamesEachDifferenceAndTheWayBetween() throws {
        let (first, second) = (pad.file("A.xcdatamodel").path, pad.file("B.xcdatamodel").path)
        try ModelConversion.write(Records.model(), to: first)
        let changed = Records.model()
        changed.entitiesByName["Track"]?.properties.append(NSAttributeDescription(name: "isrc", type: .string))
        try ModelConversion.write(changed, to: second)
        let result = try CommandProcess(["model", "diff", first, second])
        expect(result.code, equals: 1)
        #expect(result.output.contains("Track.isrc is only there."))
        #expect(result.output.contains("inferred mapping"))
        let same = try CommandProcess(["model", "diff", first, first])
        expect(same.code, equals: 0)
    }

    @Test func lintReportsWhatIsUnusual() throws {
        let file = pad.file("Odd.xcdatamodel").path
        let model = Records.model()
        let one = NSRelationshipDescription(name: "lonely", destination: model.entitiesByName["Artist"]!)
        model.entitiesByName["Track"]?.properties.append(one)
        try ModelConversion.write(model, to: file)
        let result = try CommandProcess(["model", "lint", file])
        expect(result.code, equals: 1)
        #expect(result.output.contains("Track.lonely"))
    }

    @Test func aDrawingHasEachEntityAndRelationshipOnceAndEscapesNames() throws {
        let model = Records.model()
        model.entitiesByName["Track"]?.properties.append(NSAttributeDescription(name: "a<b>&\"c", type: .string))
        let svg = ModelDrawing(model).svg()
        let root = try XMLReader.read(Data(svg.utf8))
        var texts: [String] = []
        func collect(_ element: PropertyLists.XMLElement) {
            if element.name == "text" { texts.append(element.text) }
            element.children.forEach(collect)
        }
        collect(root)
        for name in ["Artist", "Album", "LiveAlbum", "Track", "albums", "artist", "tracks ↕", "album", "a<b>&\"c"] {
            expect(texts.filter { $0 == name }.count, equals: 1, "\(name)")
        }
    }

    @Test func boxesOfADrawingDoNotOverlap() throws {
        let seed = TestSeed.current(for: "boxesOfADrawingDoNotOverlap")
        var generator = SeededGenerator(seed: seed)
        for count in [1, 2, 5, 12, 30] {
            let entities = (0..<count).map { number in
                let entity = NSEntityDescription()
                entity.name = "Entity\(number)"
                entity.properties = (0..<Int.random(in: 0...6, using: &generator)).map {
                    NSAttributeDescription(name: "value\($0)", type: .string)
                }
                return entity
            }
            for number in 0..<count {
                let other = entities[Int.random(in: 0..<count, using: &generator)]
                entities[number].properties.append(
                    NSRelationshipDescription(name: "link\(number)", destination: other, toMany: number % 2 == 0))
            }
            var graph = ModelGraph(NSManagedObjectModel(entities: entities)) { _ in (120, Double.random(in: 30...150, using: &generator)) }
            graph.place(gaps: { _ in 60 })
            let boxes = graph.nodes.filter { $0.entity != nil }
            expect(boxes.count, equals: count)
            for (index, box) in boxes.enumerated() {
                for other in boxes[(index + 1)...] {
                    let isApart =
                        box.x + box.width <= other.x || other.x + other.width <= box.x || box.y + box.height <= other.y + 0.01
                        || other.y + other.height <= box.y + 0.01
                    #expect(isApart, "COREDATA_TEST_SEED=\(seed): \(box.entity?.name ?? "") \(other.entity?.name ?? "")")
                }
            }
        }
    }
}
