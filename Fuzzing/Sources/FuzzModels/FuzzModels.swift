import CoreData
import Foundation
import FuzzDriver

@main struct FuzzModels {
    static func main() { fuzz { fuzzModels($0, $1) } }
}

/// The parts of a model's XML, which an input puts together.
private let parts = [
    "<model type=\"com.apple.IDECoreDataModeler.DataModel\" documentVersion=\"1.0\">", "</model>", "<entity name=\"A\">",
    "<entity name=\"B\" parentEntity=\"A\" isAbstract=\"YES\">", "</entity>", "<attribute name=\"a\" attributeType=\"String\"/>",
    "<attribute name=\"n\" attributeType=\"Integer 16\" defaultValueString=\"40000\" minValueString=\"-1\"/>",
    "<attribute name=\"d\" optional=\"YES\" attributeType=\"Date\" defaultDateTimeInterval=\"1e300\"/>",
    "<attribute name=\"x\" attributeType=\"Integer 64\" derived=\"YES\" derivationExpression=\"bs.@count\"/>",
    "<relationship name=\"bs\" toMany=\"YES\" ordered=\"YES\" destinationEntity=\"B\" inverseName=\"a\" inverseEntity=\"B\" maxCount=\"3\"/>",
    "<relationship name=\"a\" maxCount=\"1\" deletionRule=\"Cascade\" destinationEntity=\"A\"/>", "<compositeAttribute name=\"c\">",
    "</compositeAttribute>", "<fetchedProperty name=\"f\" optional=\"YES\">", "</fetchedProperty>",
    "<fetchRequest name=\"r\" entity=\"A\" predicateString=\"a == $X\" fetchLimit=\"9223372036854775807\"/>",
    "<fetchIndex name=\"i\">", "<fetchIndexElement property=\"a\" type=\"Binary\" order=\"ascending\"/>", "</fetchIndex>",
    "<uniquenessConstraints><uniquenessConstraint><constraint value=\"a\"/></uniquenessConstraint></uniquenessConstraints>",
    "<userInfo><entry key=\"k\" value=\"v\"/></userInfo>", "<configuration name=\"C\"><memberEntity name=\"A\"/></configuration>",
    "<composite name=\"P\">", "</composite>", "\"", "<", ">", "&#0;", "&amp;", "<!DOCTYPE model>", "<![CDATA[", "]]>",
    "9223372036854775808",
]

/// The bytes of a model in the form that `FUZZ` names, in which an input changes some.
private let whole: [UInt8] = {
    let base = NSEntityDescription(name: "Work")
    let album = NSEntityDescription(name: "Album")
    let year = NSAttributeDescription(name: "year", type: .integer16)
    year.defaultValue = 1971
    let tracks = NSRelationshipDescription(name: "tracks", destination: base, toMany: true)
    let owner = NSRelationshipDescription(name: "album", destination: album)
    tracks.inverse(to: owner)
    tracks.isOrdered = true
    base.properties = [NSAttributeDescription(name: "title", type: .string), year, owner]
    album.properties = [
        NSAttributeDescription(name: "released", type: .date), NSAttributeDescription(name: "price", type: .decimal), tracks,
    ]
    base.uniquenessConstraints = [["title"]]
    base.subentities = [album]
    let model = NSManagedObjectModel(entities: [base, album])
    let data = try? fuzzesCompiled ? model.compiledModel() : model.xcdatamodelContents()
    guard let data else { fatalError("The model of the fuzzer cannot be written.") }
    return Array(data)
}()

/// Whether compiled models are fuzzed instead of XML.
private let fuzzesCompiled = ProcessInfo.processInfo.environment["FUZZ"] == "compiled"

/// An input may be a model, or be an error; it must not stop the program. What is a model can be checked, compared and used, or the error says why not.
func fuzzModels(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = UnsafeBufferPointer(start: start, count: count)
    let isWhole = input.first.map { $0 & 1 == 0 } ?? true
    let bytes = isWhole ? damaged(whole, by: input.dropFirst()) : fuzzesCompiled ? Array(input) : assembled(input.dropFirst(), of: parts)
    let data = Data(bytes)
    guard let model = try? fuzzesCompiled ? NSManagedObjectModel(compiledModel: data) : NSManagedObjectModel(modelContents: data) else {
        return 0
    }
    let errors = model.check().filter { $0.severity == .error }
    guard model.copy() as? NSManagedObjectModel == model else { fatalError("A copy differs.") }
    _ = model.entityVersionHashesByName
    _ = try? model.swiftSource()
    if let text = try? model.xcdatamodelContents(), (try? NSManagedObjectModel(modelContents: text)) == nil {
        fatalError("What was written cannot be read.")
    }
    guard errors.isEmpty else { return 0 }
    // A model without errors has objects.
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    guard (try? coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)) != nil else { return 0 }
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.performAndWait {
        for entity in model.entities where !entity.isAbstract { _ = NSManagedObject(entity: entity, insertInto: context) }
        try? context.save()
        for entity in model.entities { _ = try? context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")) }
    }
    return 0
}
