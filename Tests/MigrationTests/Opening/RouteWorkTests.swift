import CoreData
import Foundation
import TestSupport
import Testing

@testable import Migration
@testable import ModelFiles
@_spi(Stores) @testable import ObjectGraph

/// How much is read, hashed and inferred until the way of a store is known: of many versions, few.
struct RouteWorkTests {
    private let shop: Workshop
    private var url: URL { shop.store }

    init() throws { shop = try Workshop() }

    /// A model of `Person` with some attributes, see ``People``, and of thirty entities that stay as they are.
    private static func model(_ attributes: [String]) -> NSManagedObjectModel {
        func attribute(_ text: String) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = text.trimmingCharacters(in: ["#"])
            attribute.attributeType = text.hasPrefix("#") ? .integer64AttributeType : .stringAttributeType
            attribute.isOptional = true
            return attribute
        }
        func entity(_ name: String, _ attributes: [String]) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = name
            entity.properties = attributes.map(attribute)
            return entity
        }
        return NSManagedObjectModel(entities: [entity("Person", attributes)] + (1...30).map { entity("Other\($0)", ["note", "#rank"]) })
    }

    /// 117 versions, each with one more attribute. From the sixtieth on the age is a text, so that only the one before, which has none, leads there.
    private static func versions() -> [NSManagedObjectModel] {
        (1...117).map { number in
            model(["name"] + (1...number).map { "a\($0)" } + (number < 59 ? ["#age"] : number == 59 ? [] : ["age"]))
        }
    }

    private func journey(_ model: NSManagedObjectModel) throws -> StoreJourney {
        PaperStore.registered
        let opening = StoreOpening(
            coordinator: NSPersistentStoreCoordinator(managedObjectModel: model), storeClass: PaperStore.self, type: PaperStore.type,
            configuration: nil, url: url,
            options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
        return try StoreJourney(StoreVersion(opening, at: url, refused: nil), refusal: nil)
    }

    private func read(_ journey: StoreJourney) -> [String] {
        journey.groups.joined().filter { $0.isRead && $0.name.contains("People") }.map(\.name)
    }

    @Test func ofAHundredVersionsOnlyThoseOnTheWayAreReadAndFewMappingsAreInferred() throws {
        let bundle = try shop.bundle(Self.versions())
        try NSManagedObjectModel(reading: bundle, version: "People 40").opening(url)
        let journey = try self.journey(NSManagedObjectModel(reading: bundle))
        let route = MigrationRoute(journey.store, in: journey.groups)
        let steps = try journey.steps(by: route)
        expect(steps.map(\.source.name), equals: ["“People 40”", "“People 59”"])
        expect(steps.map(\.destination.name), equals: ["“People 59”", "“People 117”"])
        // The direct way, and a chain whose two steps are possible as far as the direct way tells.
        #expect(route.work.inferences <= 4, "\(route.work.inferences)")
        // The coordinator has its own.
        expect(read(journey), equals: ["“People 40”", "“People 59”"])
    }

    @Test func whereNothingLeadsThereTheNumberOfInferencesIsNotThatOfThePairsOfVersions() throws {
        let bundle = try shop.bundle((1...60).map { Self.model(["name"] + (1...$0).map { "a\($0)" } + [$0 < 30 ? "#age" : "age"]) })
        try NSManagedObjectModel(reading: bundle, version: "People").opening(url)
        let journey = try self.journey(NSManagedObjectModel(reading: bundle))
        let route = MigrationRoute(journey.store, in: journey.groups)
        expect(openingFailure { _ = try journey.steps(by: route) }?.code, equals: NSInferredMappingModelError)
        #expect(route.work.inferences <= 3, "\(route.work.inferences)")
        expect(read(journey), equals: ["“People”"])
    }

    @Test func aMappingModelBetweenTwoOfManyVersionsIsFoundWithoutInferringAllPairs() throws {
        let versions = (1...14).map { number in
            Self.model(
                ["name"] + (1...number).map { "a\($0)" } + [number < 10 ? "#age" : "age"]
                    + (number == 9 ? ["old"] : number == 10 ? ["fresh"] : []))
        }
        let bundle = try shop.bundle(versions)
        let path = shop.url.appendingPathComponent("People9To10.xcmappingmodel")
        try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
        func attribute(_ id: Int, _ name: String, _ format: String) throws -> String {
            let data = try PredicateArchive.data(of: CoreData.NSExpression(format: format)).base64EncodedString()
            return """
                <object type="XDDEVATTRIBUTEMAPPING" id="z\(id)"><attribute name="name" type="string">\(name)</attribute>
                <attribute name="valueexpressiondata" type="binary">\(data)</attribute></object>
                """
        }
        func entity(_ number: Int, _ name: String, _ ids: String) -> String {
            """
            <object type="XDDEVENTITYMAPPING" id="z\(number)">
            <attribute name="sourcename" type="string">\(name)</attribute><attribute name="destinationname" type="string">\(name)</attribute>
            <attribute name="mappingnumber" type="int16">\(number)</attribute>
            <relationship name="attributemappings" type="0/0" destination="XDDEVATTRIBUTEMAPPING" idrefs="\(ids)"></relationship>
            </object>
            """
        }
        let others = (1...30).map { entity($0 + 1, "Other\($0)", "") }.joined()
        try """
        <?xml version="1.0" standalone="no"?>
        <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
        <database><databaseInfo><version>134481920</version><metadata><plist version="1.0"><dict/></plist></metadata></databaseInfo>
        <object type="XDDEVMAPPINGMODEL" id="z100">
        <relationship name="entitymappings" type="0/0" destination="XDDEVENTITYMAPPING" idrefs="\((1...31).map { "z\($0)" }.joined(separator: " "))">
        </relationship></object>
        \(entity(1, "Person", "z101 z102"))\(others)
        \(try attribute(101, "fresh", "$source.old"))\(try attribute(102, "age", "$source.name"))
        </database>
        """.write(to: path.appendingPathComponent("xcmapping.xml"), atomically: true, encoding: .utf8)
        try NSManagedObjectModel(reading: bundle, version: "People").opening(url)
        let journey = try self.journey(NSManagedObjectModel(reading: bundle))
        let route = MigrationRoute(journey.store, in: journey.groups)
        let steps = try journey.steps(by: route)
        expect(steps.map(\.destination.name), equals: ["“People 9”", "“People 10”", "“People 14”"])
        #expect(route.work.inferences <= 4, "\(route.work.inferences)")
        guard case .mappingModel(_, let name) = steps[1].way else {
            Issue.record("No mapping model is taken.")
            return
        }
        #expect(name.contains("People9To10"))
    }

    @Test func aStoreOfAnUnknownVersionIsToldFromAllVersionsWithoutReadingThem() throws {
        let bundle = try shop.bundle((1...30).map { Self.model(["name"] + (1...$0).map { "a\($0)" }) })
        try Self.model(["name", "other"]).opening(url)
        try PaperStore.forgetModel(at: url)
        let model = try NSManagedObjectModel(reading: bundle)
        expect(openingFailure { _ = try self.journey(model) }?.code, equals: NSMigrationMissingSourceModelError)
        try FileManager.default.removeItem(at: url)
        try Self.model(["name", "other"]).opening(url)
        let journey = try self.journey(model)
        expect(read(journey), equals: [])
    }

    @Test func whatVersionsHaveInCommonIsHashedOnce() throws {
        let bundle = try shop.bundle((1...40).map { Self.model(["name"] + (1...$0).map { "a\($0)" }) })
        let profiles = EntityProfiles()
        for _ in 0..<2 {
            for version in try NSManagedObjectModel.versionNames(at: bundle) {
                let contents = try Data(contentsOf: bundle.appendingPathComponent("\(version).xcdatamodel/contents"))
                #expect(try #require(profiles.profiles(in: contents)).count == 31)
            }
        }
        expect(profiles.madeCount, equals: 40 + 30)
    }

    @Test func profilesHaveTheHashesOfModelsThatAreRead() throws {
        let seed = TestSeed.current(for: "RouteWorkTests")
        var models: [(model: NSManagedObjectModel, contents: Data)] = []
        for round in TestRounds(seconds: 0.5, atLeast: 20) {
            var random = RandomVersions(seed: seed &+ UInt64(round))
            let model = random.version().model()
            // The file has no words for some default values.
            if let contents = try? model.xcdatamodelContents() { models.append((model, contents)) }
        }
        if let folder = ProcessInfo.processInfo.environment["COREDATA_MATERIAL"] {
            let files = FileManager.default.enumerator(
                at: URL(fileURLWithPath: folder).appendingPathComponent("models"), includingPropertiesForKeys: nil)
            while let file = files?.nextObject() as? URL {
                guard file.pathExtension == "xcdatamodel", let model = try? NSManagedObjectModel(reading: file) else { continue }
                if let data = try? Data(contentsOf: file.appendingPathComponent("contents")) { models.append((model, data)) }
            }
        }
        for (model, contents) in models where !model.entities.isEmpty {
            let profiles = try #require(EntityProfiles().profiles(in: contents))
            expect(profiles.mapValues(\.ownHash), equals: model.entitiesByName.mapValues(\.ownVersionHash))
            let whole = model.entitiesByName.mapValues { EntityProfile(of: $0) }
            expect(profiles.mapValues(\.propertyTraits), equals: whole.mapValues(\.propertyTraits))
            expect(profiles.mapValues(\.traits), equals: whole.mapValues(\.traits))
        }
    }

    @Test(
        "What could hide an entity is left to the reader of models", arguments: ["<!-- <entity name=\"A\"/> -->", "<![CDATA[<entity ]]>"])
    func hidden(_ text: String) {
        #expect(EntityProfiles().profiles(in: Data("<model><entity name=\"B\"/>\(text)</model>".utf8)) == nil)
        #expect(EntityProfiles().profiles(in: Data("<model><entity name=\"B\"/></model>".utf8))?.keys.sorted() == ["B"])
        #expect(EntityProfiles().profiles(in: Data("<model><entity name=\"B\"/><entity name=\"B\"/></model>".utf8)) == nil)
        #expect(EntityProfiles().profiles(in: Data("<model><entity name=\"B\" parentEntity=\"B\"/></model>".utf8)) == nil)
        #expect(EntityProfiles().profiles(in: Data("<model><entity name=\"B\" a='>'><attribute".utf8)) == nil)
    }
}
