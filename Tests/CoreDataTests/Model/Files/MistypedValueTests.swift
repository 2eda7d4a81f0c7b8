import CoreData
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph

/// Values in model files that are none of their attribute's type, as Apple's compiler has let them pass into programs and stores.
@Suite("Values that are none of the attribute's type") struct MistypedValueTests {
    private func model(_ attribute: String) throws -> NSManagedObjectModel {
        let text =
            "<model type=\"com.apple.IDECoreDataModeler.DataModel\" documentVersion=\"1.0\"><entity name=\"A\"><attribute name=\"x\" optional=\"YES\" \(attribute)/></entity></model>"
        return try NSManagedObjectModel(modelContents: Data(text.utf8))
    }

    private func attribute(_ model: NSManagedObjectModel) throws -> NSAttributeDescription {
        try #require(model.entitiesByName["A"]?.attributesByName["x"])
    }

    @Test(
        "A default value is what it says or begins with, or none; check() tells, and it is written back as it was",
        arguments: [
            (#"attributeType="Integer 32" defaultValueString="NO""#, "0"), (#"attributeType="Integer 16" defaultValueString="YES""#, "1"),
            (#"attributeType="Integer 64" defaultValueString="12.5""#, "12"),
            (#"attributeType="Double" defaultValueString="12 px""#, "12.0"),
            (#"attributeType="Decimal" defaultValueString=".5x""#, "0.5"), (#"attributeType="Boolean" defaultValueString="0.0""#, "NO"),
            (#"attributeType="Boolean" defaultValueString="2""#, "YES"), (#"attributeType="Date" defaultValueString="NO""#, "0"),
            (#"attributeType="Integer 16" defaultValueString="70000""#, nil), (#"attributeType="Integer 32" defaultValueString="""#, nil),
            (#"attributeType="Transformable" defaultValueString="""#, nil), (#"attributeType="Binary" defaultValueString="text""#, nil),
            (#"attributeType="UUID" defaultValueString="none""#, nil), (#"attributeType="Boolean" defaultValueString="maybe""#, nil),
        ] as [(String, String?)])
    func defaults(spelling: String, value: String?) throws {
        let model = try model(spelling)
        let found = try attribute(model)
        expect(found.defaultValue.flatMap { AttributeText.text($0, type: found.attributeType) }, equals: value)
        let findings = model.check(namesOfClasses: false).filter { $0.message.hasPrefix("Its default value") }
        #expect(findings.count == 1 && findings[0].severity == .warning && findings[0].property == "x")
        expect(findings.first?.message.hasSuffix(value.map { "it is taken for \($0)." } ?? "there is none."), equals: true, "\(findings)")
        #expect(model.check(namesOfClasses: false, isStrict: true).contains { $0.severity == .error })
        // The model is in use.
        _ = try NSPersistentStoreCoordinator(checking: try #require(model.copy() as? NSManagedObjectModel))
        if found.attributeType != .dateAttributeType {
            for part in spelling.split(separator: "\" ") { #expect(model.xcdatamodelText.contains(part)) }
        }
        let again = try NSManagedObjectModel(modelContents: model.xcdatamodelContents())
        let isDate = found.attributeType == .dateAttributeType
        #expect(again.differences(from: model, includingFileAttributes: !isDate).isEmpty)
        // The default that a program sets is its own.
        found.defaultValue = nil
        #expect(!model.check(namesOfClasses: false).contains { $0.message.hasPrefix("Its default value") })
        #expect(!model.xcdatamodelText.contains("defaultValueString"))
    }

    @Test(
        "A bound that is none of the type has no effect, is told, and is written back",
        arguments: [
            #"attributeType="Double" minValueString="low""#, #"attributeType="Transformable" maxValueString="3""#,
            #"attributeType="String" minDateTimeInterval="3""#,
        ])
    func bounds(spelling: String) throws {
        let model = try model(spelling)
        #expect(try attribute(model).validationPredicates.isEmpty)
        expect(model.check(namesOfClasses: false).filter { $0.message.hasPrefix("Its bound") }.count, equals: 1)
        expect(model.check(namesOfClasses: false, isStrict: true).filter { $0.severity == .error }.count, equals: 1)
        for part in spelling.split(separator: "\" ") { #expect(model.xcdatamodelText.contains(part)) }
    }

    @Test("A compiled default of a class that is not known here is none, and is told") func unknownClass() throws {
        let date = NSAttributeDescription(name: "x", type: .date, defaultValue: Date(timeIntervalSinceReferenceDate: 1))
        var data = try NSManagedObjectModel(entities: [NSEntityDescription(name: "A", properties: [date])]).compiledModel()
        // A class whose name has the same length.
        while let place = data.range(of: Data("NSDate".utf8)) { data.replaceSubrange(place, with: Data("MYDate".utf8)) }
        let model = try NSManagedObjectModel(compiledModel: data)
        #expect(try attribute(model).defaultValue == nil)
        let finding = try #require(model.check(namesOfClasses: false).first { $0.message.hasPrefix("Its default value") })
        expect(finding.severity, equals: .warning)
        #expect(finding.message.contains("an archived MYDate"))
        _ = try NSPersistentStoreCoordinator(checking: model)
    }

    @Test("A relationship to any number of objects, maxCount = .max, survives every form of the model and a store") func maximumCount()
        throws
    {
        func model() -> NSManagedObjectModel {
            let band = NSEntityDescription(name: "Band"), album = NSEntityDescription(name: "Album")
            let albums = NSRelationshipDescription(name: "albums", destination: album, toMany: true)
            albums.maxCount = .max
            let owner = NSRelationshipDescription(name: "band", destination: band)
            albums.inverse(to: owner)
            band.properties = [albums]
            album.properties = [owner]
            return NSManagedObjectModel(entities: [band, album])
        }
        let made = model()
        #expect(made.check(namesOfClasses: false).isEmpty)
        #expect(try NSManagedObjectModel(compiledModel: made.compiledModel()).isEqual(made))
        #expect(try NSManagedObjectModel(modelContents: made.xcdatamodelContents()).isEqual(made))
        let pad = try Scratchpad()
        let context = try pad.context(made)
        try context.performAndWait {
            let band = context.insert("Band")
            band.setValue(Set([context.insert("Album"), context.insert("Album")]), forKey: "albums")
            try context.save()
        }
        let cached = try NSManagedObjectModel(storeAt: pad.store)
        expect(cached.entitiesByName["Band"]?.relationshipsByName["albums"]?.maxCount, equals: .max)
        #expect(cached.isEqual(model()))
    }

    @Test("A to-one relationship that is flagged as ordered works like any other") func orderedToOne() throws {
        let band = NSEntityDescription(name: "Band"), album = NSEntityDescription(name: "Album")
        let owner = NSRelationshipDescription(name: "band", destination: band, isOrdered: true)
        let albums = NSRelationshipDescription(name: "albums", destination: album, toMany: true)
        owner.inverse(to: albums)
        band.properties = [albums]
        album.properties = [owner]
        let pad = try Scratchpad()
        let context = try pad.context(NSManagedObjectModel(entities: [band, album]))
        try context.performAndWait {
            let (first, second) = (context.insert("Band"), context.insert("Band"))
            let album = context.insert("Album")
            album.setValue(first, forKey: "band")
            try context.save()
            album.setValue(second, forKey: "band")
            #expect(album.changedValuesForCurrentEvent()["band"] as? NSManagedObject === first)
            try context.save()
            context.reset()
            let read = try #require(try context.all("Album").first)
            expect((read.value(forKey: "band") as? NSManagedObject)?.objectID, equals: second.objectID)
        }
    }

    @Test("A container with a model that has mistakes reports them when its stores are loaded") func container() throws {
        let attribute = NSAttributeDescription(name: "x", type: .undefined)
        let model = NSManagedObjectModel(entities: [NSEntityDescription(name: "A", properties: [attribute])])
        let container = NSPersistentContainer(name: "Bad", managedObjectModel: model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))]
        var errors: [NSError?] = []
        container.loadPersistentStores { errors.append($1 as NSError?) }
        expect(errors.count, equals: 1)
        expect(errors.first??.code, equals: NSPersistentStoreIncompatibleSchemaError)
        expect(errors.first??.localizedDescription.contains("“A.x” has no type"), equals: true)
        #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
    }
}
