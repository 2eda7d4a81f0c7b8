import CoreData
import Foundation
import TestSupport
import Testing

/// Models written as Apple's compiler writes them.
struct CompiledModelWriterTests {
    @Test func aModelWithEverythingComesBackFromItsCompiledForm() throws {
        let model = NSManagedObjectModel.sample()
        let again = try NSManagedObjectModel(compiledModel: model.compiledModel())
        #expect(again.differences(from: model).isEmpty)
    }

    @Test func aCompiledModelIsWrittenWithWhatWasReadFromIt() throws {
        let model = try NSManagedObjectModel(compiledModel: CompiledModelTests.data)
        let again = try NSManagedObjectModel(compiledModel: model.compiledModel())
        #expect(again.differences(from: model).isEmpty)
    }

    @Test func predicatesAndValuesOfEveryTypeStandInTheArchiveItself() throws {
        let album = NSEntityDescription(name: "Album")
        let values: [(NSAttributeDescription.AttributeType, Any)] = [
            (.integer16, 3), (.integer64, Int(Int64.min)), (.double, 0.1), (.float, Float(1.5)), (.boolean, true), (.string, "“é” <&>"),
            (.date, Date(timeIntervalSinceReferenceDate: -5.25)),
            (.decimal, try #require(Decimal(string: "-12345678901234567890.123456789"))),
            (.uuid, UUID()), (.uri, try #require(URL(string: "https://example.com/?a=%22"))),
        ]
        album.properties = values.enumerated().map { index, value in
            NSAttributeDescription(name: "a\(index)", type: value.0, isOptional: false, defaultValue: value.1)
        }
        let bounded = try #require(album.attributesByName["a0"])
        bounded.setValidationPredicates(
            [NSPredicate(format: "SELF >= 0"), NSPredicate(format: "SELF < 10")], withValidationWarnings: [7, "no"])
        let model = NSManagedObjectModel(entities: [album])
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Album")
        request.entity = album
        request.predicate = NSPredicate(format: "ANY {1, 2} == a0 AND a5 LIKE[cd] %@", "a*")
        request.fetchLimit = 4
        model.setFetchRequestTemplate(request, forName: "few")
        let data = try model.compiledModel()
        let again = try NSManagedObjectModel(compiledModel: data)
        #expect(again.differences(from: model).isEmpty)
        let archive = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
        let keys = (archive?["$objects"] as? [Any] ?? []).compactMap { ($0 as? [String: Any])?.keys }.flatMap { $0 }
        #expect(!keys.contains { $0.hasPrefix("OpenCoreData") })
    }

    @Test func valuesOfUserInfoKeepTheirTypes() throws {
        let information: [String: Any] = [
            "one": 1, "yes": true, "no": false, "two": 2.0, "large": UInt64.max, "least": Int(Int64.min), "byte": 255, "word": 65_536,
            "text": "“é”🎵", "long": String(repeating: "x", count: 70_000), "data": Data(count: 300),
        ]
        let album = NSEntityDescription(name: "Album")
        album.userInfo = information
        let again = try NSManagedObjectModel(compiledModel: NSManagedObjectModel(entities: [album]).compiledModel())
        let found = try #require(again.entitiesByName["Album"]?.userInfo as? [String: Any])
        expect(found.mapValues { "\(type(of: $0)) \($0)" }, equals: information.mapValues { "\(type(of: $0)) \($0)" })
    }

    @Test func aModelIsAlwaysCompiledToTheSameBytes() throws {
        let model = NSManagedObjectModel.sample()
        // Copies have other collections with the same elements in them.
        let first = try model.compiledModel()
        for _ in 0..<5 { try expect((model.copy() as! NSManagedObjectModel).compiledModel(), equals: first) }
    }

    @Test func aPredicateWithCodeIsRefusedWithThePlace() throws {
        let album = NSEntityDescription(name: "Album")
        let title = NSAttributeDescription(name: "title", type: .string)
        title.setValidationPredicates([NSPredicate { _, _ in true }], withValidationWarnings: nil)
        album.properties = [title]
        let model = NSManagedObjectModel(entities: [album])
        let error = failure { _ = try model.compiledModel() }
        expect(error?.code, equals: 512)
        #expect(error?.localizedDescription.contains("title") == true || error?.localizedFailureReason?.contains("title") == true)
    }
}
