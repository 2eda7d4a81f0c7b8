import CoreData
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import Predicates
@testable import PropertyLists

/// Compiled models: archives, written here as Apple's compiler writes them.
struct CompiledModelTests {
    typealias Tree = BinaryPropertyListWriter.Tree

    /// Collects the objects of an archive.
    private struct Archive {
        var objects: [Tree] = [.string("$null")]
        private var classes: [String: Int] = [:]

        mutating func add(_ tree: Tree) -> Tree {
            objects.append(tree)
            return .uid(objects.count - 1)
        }

        mutating func reserve() -> Int {
            objects.append(.bool(false))
            return objects.count - 1
        }

        mutating func text(_ text: String) -> Tree { add(.string(text)) }

        mutating func fields(_ className: String, _ fields: [(key: String, value: Tree)]) -> Tree {
            if classes[className] == nil {
                objects.append(
                    .dictionary([("$classname", .string(className)), ("$classes", .array([.string(className), .string("NSObject")]))]))
                classes[className] = objects.count - 1
            }
            return .dictionary(fields + [("$class", .uid(classes[className]!))])
        }

        mutating func object(_ className: String, _ fields: [(key: String, value: Tree)]) -> Tree { add(self.fields(className, fields)) }

        mutating func list(_ className: String, _ elements: [Tree]) -> Tree { object(className, [("NS.objects", .array(elements))]) }

        mutating func dictionary(_ pairs: [(String, Tree)]) -> Tree {
            let keys = pairs.map { text($0.0) }
            return object("NSMutableDictionary", [("NS.keys", .array(keys)), ("NS.objects", .array(pairs.map(\.1)))])
        }

        func data(root: Tree) -> Data {
            BinaryPropertyListWriter.data(
                .dictionary([
                    ("$version", .integer(100_000)), ("$archiver", .string("NSKeyedArchiver")), ("$top", .dictionary([("root", root)])),
                    ("$objects", .array(objects)),
                ]))
        }
    }

    /// A model of two entities with a relationship, a predicate, an index and a request.
    static let data: Data = {
        var archive = Archive()
        let null = Tree.uid(0)
        let model = archive.reserve()
        let album = archive.reserve()
        let work = archive.reserve()
        let peers = archive.reserve()
        func common(_ archive: inout Archive, _ name: String, optional: Bool = true) -> [(key: String, value: Tree)] {
            [
                ("NSPropertyName", archive.text(name)), ("NSRenamingIdentifier", archive.text(name)), ("NSEntity", .uid(album)),
                ("_P", .integer(243)),
            ] + (optional ? [("NSIsOptional", .bool(true))] : [])
        }
        let rating = archive.object(
            "NSAttributeDescription",
            common(&archive, "rating", optional: false) + [
                ("NSAttributeType", .integer(200)), ("NSDefaultValue", archive.add(.integer(3))),
                ("NSAttributeValueClassName", archive.text("NSNumber")), ("NSValueTransformerName", null), ("NSFlagsKey", .integer(16)),
            ])
        let mantissa = Data([0xE3, 0x03] + [UInt8](repeating: 0, count: 14))
        let decimal = archive.object(
            "NSDecimalNumberPlaceholder",
            [
                ("NS.mantissa", .data(mantissa)), ("NS.negative", .bool(true)), ("NS.exponent", .integer(-2)),
                ("NS.mantissa.bo", .integer(1)),
                ("NS.length", .integer(1)), ("NS.compact", .bool(true)),
            ])
        let price = archive.object(
            "NSAttributeDescription", common(&archive, "price") + [("NSAttributeType", .integer(400)), ("NSDefaultValue", decimal)])
        let path = archive.object(
            "NSKeyPathSpecifierExpression", [("NSExpressionType", .integer(10)), ("NSKeyPath", archive.text("rating"))])
        let itself = archive.object("NSSelfExpression", [("NSExpressionType", .integer(1))])
        let arguments = archive.list("NSMutableArray", [path])
        let left = archive.object(
            "NSKeyPathExpression",
            [
                ("NSExpressionType", .integer(3)), ("NSOperand", itself), ("NSSelectorName", archive.text("valueForKey:")),
                ("NSArguments", arguments),
            ])
        let right = archive.object("NSVariableExpression", [("NSExpressionType", .integer(2)), ("NSVariable", archive.text("LEAST"))])
        let comparison = archive.object(
            "NSEqualityPredicateOperator",
            [("NSOperatorType", .integer(4)), ("NSModifier", .integer(0)), ("NSNegate", .bool(false)), ("NSOptions", .integer(0))])
        let predicate = archive.object(
            "NSComparisonPredicate", [("NSLeftExpression", left), ("NSRightExpression", right), ("NSPredicateOperator", comparison)])
        let request = archive.object(
            "NSFetchRequest",
            [
                ("NSEntity", .uid(album)), ("NSPredicate", predicate), ("NSFetchLimit", .integer(7)), ("NSResultType", .integer(0)),
                ("NSHasFetchRequestFlags", .bool(true)), ("NSFetchRequestFlags", .integer(31)),
            ])
        archive.objects[peers] = archive.fields(
            "NSRelationshipDescription",
            common(&archive, "peers") + [
                ("NSDestinationEntity", .uid(album)), ("_NSDestinationEntityName", archive.text("Album")), ("NSDeleteRule", .integer(2)),
                ("NSMaxCount", .integer(0)), ("NSMinCount", .integer(0)), ("NSInverseRelationship", .uid(peers)),
                ("_NSInverseRelationshipName", archive.text("peers")), ("NSIsOrdered", .bool(true)),
            ])
        let element = archive.object(
            "NSFetchIndexElementDescription",
            [("NSPropertyName", archive.text("rating")), ("NSFetchIndexElementType", .integer(0)), ("NSAscending", .bool(true))])
        let elements = archive.list("NSArray", [element])
        let index = archive.object(
            "NSFetchIndexDescription",
            [
                ("NSIndexName", archive.text("byRating")), ("NSPartialIndexPredicate", null), ("NSIndexElements", elements),
                ("NSEntity", .uid(album)),
            ])
        let indexes = archive.list("NSMutableArray", [index])
        let tuple = archive.text("rating")
        let tuples = archive.list("NSMutableArray", [archive.list("NSArray", [tuple])])
        let infoValue = archive.text("/albums")
        let info = archive.dictionary([("path", infoValue)])
        let properties = archive.dictionary([("rating", rating), ("price", price), ("peers", .uid(peers))])
        archive.objects[album] = archive.fields(
            "NSEntityDescription",
            [
                ("NSEntityName", archive.text("Album")), ("NSClassNameForEntity", archive.text("Music.Album")), ("NSUserInfo", info),
                ("NSProperties", properties), ("NSRenamingIdentifier", archive.text("Record")), ("NSManagedObjectModel", .uid(model)),
                ("NSSuperentity", .uid(work)), ("NSUniqueTuples", tuples), ("NSFetchIndexDescriptions", indexes),
            ])
        let none = archive.dictionary([])
        let subentities = archive.dictionary([("Album", .uid(album))])
        archive.objects[work] = archive.fields(
            "NSEntityDescription",
            [
                ("NSEntityName", archive.text("Work")), ("NSClassNameForEntity", null), ("NSProperties", none),
                ("NSSubentities", subentities),
                ("NSIsAbstract", .bool(true)), ("NSSuperentity", null),
            ])
        // Stores keep the entities in a dictionary of another kind than files.
        let keys = archive.list("NSArray", [archive.text("Album"), archive.text("Work")])
        let values = archive.list("NSArray", [.uid(album), .uid(work)])
        let mapping = archive.object("NSKnownKeysMappingStrategy1", [("keys", keys), ("length", .integer(2)), ("version", .integer(1))])
        let entities = archive.object("NSKnownKeysDictionary1", [("values", values), ("searchMapping", mapping), ("version", .integer(1))])
        let identifiers = archive.list("NSSet", [archive.text("1.0")])
        let templates = archive.dictionary([("Best", request)])
        let members = archive.list("NSSet", [.uid(album)])
        let configurations = archive.dictionary([("Cache", members)])
        archive.objects[model] = archive.fields(
            "NSManagedObjectModel",
            [
                ("NSEntities", entities), ("NSVersionIdentifiers", identifiers), ("NSFetchRequestTemplates", templates),
                ("NSConfigurations", configurations),
            ])
        return archive.data(root: .uid(model))
    }()

    @Test func everythingInACompiledModelIsRead() throws {
        let model = try NSManagedObjectModel(compiledModel: Self.data)
        expect(model.versionIdentifiers, equals: ["1.0"])
        let album = try #require(model.entitiesByName["Album"])
        #expect(album.superentity === model.entitiesByName["Work"])
        expect(model.entitiesByName["Work"]?.isAbstract, equals: true)
        expect(album.managedObjectClassName, equals: "Music.Album")
        expect(album.renamingIdentifier, equals: "Record")
        expect(album.userInfo as? [String: String], equals: ["path": "/albums"])
        expect(album.uniquenessConstraints as? [[String]], equals: [["rating"]])
        #expect(album.indexes.first?.elements.first?.property === album.attributesByName["rating"])
        let rating = try #require(album.attributesByName["rating"])
        #expect(rating.type == .integer32 && !rating.isOptional)
        expect(rating.defaultValue as? Int, equals: 3)
        #expect(rating.preservesValueInHistoryOnDeletion)
        #expect(rating.renamingIdentifier == nil && rating.attributeValueClassName == "NSNumber")
        expect(album.attributesByName["price"]?.defaultValue as? Decimal, equals: Decimal(string: "-9.95"))
        let peers = try #require(album.relationshipsByName["peers"])
        #expect(peers.destinationEntity === album && peers.inverseRelationship === peers)
        #expect(peers.isOrdered && peers.deleteRule == .cascadeDeleteRule)
        let best = try #require(model.fetchRequestTemplate(forName: "Best"))
        expect(best.predicate?.formatString, equals: "rating == $LEAST")
        #expect(best.fetchLimit == 7 && best.returnsDistinctResults)
        expect(model.entities(forConfigurationName: "Cache"), equals: [album])
        #expect(try NSManagedObjectModel(modelContents: model.xcdatamodelContents()).isEqual(model))
    }

    @Test func aBundleOfVersionsIsReadWithItsHashes() throws {
        let scratch = try ScratchFolder("models")
        defer { scratch.remove() }
        let folder = scratch.url
        let bundle = folder.appendingPathComponent("Music.momd")
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        for name in ["Music", "Music 2"] { try Self.data.write(to: bundle.appendingPathComponent("\(name).mom")) }
        try Data("momv2$".utf8).write(to: bundle.appendingPathComponent("Music 2.omo"))
        let hashes = ["Album": Data(repeating: 1, count: 32), "Work": Data(repeating: 2, count: 32)]
        let information: [String: Any] = [
            "NSManagedObjectModel_CurrentVersionName": "Music 2", "NSManagedObjectModel_VersionHashes": ["Music 2": hashes],
            "NSManagedObjectModel_VersionChecksums": ["Music 2": "checksum"],
        ]
        let plist = try PropertyListSerialization.data(fromPropertyList: information, format: .binary, options: 0)
        try plist.write(to: bundle.appendingPathComponent("VersionInfo.plist"))
        try expect(NSManagedObjectModel.versionNames(at: bundle), equals: ["Music", "Music 2"])
        let current = try NSManagedObjectModel(reading: bundle)
        expect(current.entityVersionHashesByName, equals: hashes)
        #expect(current.isConfiguration(withName: nil, compatibleWithStoreMetadata: [NSStoreModelVersionHashesKey: hashes]))
        #expect(
            current.isConfiguration(
                withName: "Cache", compatibleWithStoreMetadata: [NSStoreModelVersionHashesKey: ["Album": hashes["Album"]!]]))
        #expect(!current.isConfiguration(withName: nil, compatibleWithStoreMetadata: [:]))
        let first = try NSManagedObjectModel(reading: bundle, version: "Music")
        #expect(first.isEqual(current) && first.entityVersionHashesByName != hashes)
        try expect(
            NSManagedObjectModel.checksumsForVersionedModel(at: bundle), equals: ["Music": first.versionChecksum, "Music 2": "checksum"])
        // The optimised form is public nowhere; the archive beside it is read.
        #expect(try NSManagedObjectModel(reading: bundle.appendingPathComponent("Music 2.omo")).isEqual(current))
        try FileManager.default.removeItem(at: bundle.appendingPathComponent("Music 2.mom"))
        expect(failure { _ = try NSManagedObjectModel(reading: bundle.appendingPathComponent("Music 2.omo")) }?.code, equals: 260)
        expect(failure { _ = try NSManagedObjectModel(reading: bundle) }?.localizedDescription.contains("names “Music 2”"), equals: true)
    }

    @Test func anArchiveThatRefersInCirclesIsAnErrorNotAHang() throws {
        // Every reference to object 5 leads to object 1, and so on: some of these are circles, all of them are answered.
        for (from, to) in [(1, 1), (2, 3), (3, 2), (6, 6), (9, 4), (79, 80), (53, 55), (70, 75), (71, 75), (18, 22), (25, 32), (82, 83)] {
            var bytes = [UInt8](Self.data)
            for index in 0..<bytes.count - 5 where bytes[index] == 0x83 && Array(bytes[index + 1...index + 4]) == [0, 0, 0, UInt8(from)] {
                bytes[index + 4] = UInt8(to)
            }
            if let error = failure({ _ = try NSManagedObjectModel(compiledModel: Data(bytes)) }) { expect(error.code, equals: 259) }
        }
    }

    @Test func damagedArchivesAreModelsOrErrorsAndNothingElse() {
        let seed = TestSeed.current(for: "damagedArchivesAreModelsOrErrorsAndNothingElse")
        var mutation = Mutation(seed: seed)
        let original = [UInt8](Self.data)
        var (count, models) = (0, 0)
        for round in TestRounds(seconds: 1.8, atLeast: 500) {
            count += 1
            let damaged = Data(mutation.damage(original))
            do {
                let model = try NSManagedObjectModel(compiledModel: damaged)
                models += 1
                _ = model.check()
                _ = try? model.xcdatamodelContents()
            } catch {
                expect((error as NSError).domain, equals: NSCocoaErrorDomain, "COREDATA_TEST_SEED=\(seed), round \(round)")
            }
        }
        print("\(count) damaged archives: \(models) are models still.")
    }

    @Test func everyTruncatedArchiveIsAnError() {
        for length in stride(from: 0, to: Self.data.count, by: 7) {
            expect(failure { _ = try NSManagedObjectModel(compiledModel: Self.data.prefix(length)) }?.code, equals: 259)
        }
    }
}
