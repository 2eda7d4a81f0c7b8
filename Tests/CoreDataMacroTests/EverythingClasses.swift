#if Macros
// Written by NSManagedObjectModel.codeFirstSource(functionName:).
// swift-format-ignore-file
import CoreDataMacros

@Composite struct Place {
    var latitude: Double = 0.0
    var name: String?
}

@Composite struct Human2 {
    var home: Place?
    @Element(.required) var size: Float?
}

@ManagedObject("Album", .unique("title", "released"), .index(.descending("rating"), .expression("price + 1", .decimal), name: "byRating", where: "rating > 2"), .compoundIndex("title", "rating"), .configuration("Cache"), .fetchRequest("Best", where: "rating >= $LEAST AND title CONTAINS \"a\"", configure: { $0.fetchLimit = 10; $0.fetchOffset = 2; $0.fetchBatchSize = 20; $0.resultType = NSFetchRequestResultType(rawValue: 1); $0.includesSubentities = false; $0.includesPropertyValues = false; $0.returnsObjectsAsFaults = false; $0.returnsDistinctResults = true }), originalName: "Record", hashModifier: "a", userInfo: ["path": "/albums"])
final class WholeAlbum: Work {
    @Attribute(.externalStorage, .spotlight) var cover: Data?
    @Attribute(.unique, .preserveValueOnDeletion) var identifier: UUID = UUID(uuidString: "6D2D9A9C-1F4C-4B3E-9B0C-7E8B0C0B7A11")!
    var link: URL? = URL(string: "https://example.com/?a=1&b=%22")!
    @Attribute(.transformable(by: "MoodTransformer")) var mood: Mood?
    var place: Place?
    var price: Decimal? = Decimal(string: "9.95")!
    @Attribute(.optional, .indexed, .range(0...5)) var rating: Int16 = 3
    @Attribute(.allowsCloudEncryption, .range(Date(timeIntervalSinceReferenceDate: -63114076800)...Date(timeIntervalSinceReferenceDate: 700000000.5))) var released: Date? = Date(timeIntervalSinceReferenceDate: 31556952)
    var seen: Bool = false
    @Transient(.type(.undefined)) var sound: Any?
    @Attribute(.length(1...200), .matching("[A-Z].*"), originalName: "name", hashModifier: "b", userInfo: ["json": "album_title", "unit": ""]) var title: String = "\"Untitled\" <\n"
    @Attribute(.derived(from: "tracks.@count")) var trackCount: Int64
    @Attribute(.optional) var weight: Float = 0.5
    @Relationship(.count(1...99), deleteRule: .cascade) var tracks: [WholeTrack]
    @FetchedProperty("rating == $FETCH_SOURCE.rating", configure: { $0.fetchLimit = 5 }) var similar: [WholeAlbum]
}

@ManagedObject("Track", .spotlightDisplayName("name"), .configuration("Cache"))
final class WholeTrack: NSManagedObject {
    var name: String?
    @Relationship(.required, deleteRule: .deny) var album: WholeAlbum?
}

@ManagedObject(.abstract)
class Work: NSManagedObject {}

@ManagedObject("Data", .index(IndexElement("plays", isAscending: true, type: .rTree)))
final class DataObject: NSManagedObject {
    var `default`: String?
    @Attribute(name: "description") var descriptionValue: String?
    @Attribute(.required) var größe: Int32
    @Attribute(.optional) var plays: Int64 = 0
    @Attribute(.required) var uri: URL?
    @Relationship(deleteRule: .noAction, inverse: \Human.firstOf) var first: Human?
    @Relationship(.required, inverse: \Human.secondOf) var second: Human?
}

@ManagedObject("Person")
final class Human: NSManagedObject {
    var label: Human2?
    @Relationship(inverse: \Human.parent) var children: Set<Human>
    var firstOf: Set<DataObject>
    @Relationship(.symmetric) var friends: Set<Human>
    @Relationship(inverse: nil) var idol: Human?
    var parent: Human?
    @Relationship(.required, .count(2...), deleteRule: .cascade) var secondOf: Set<DataObject>
}

extension NSManagedObjectModel {
    static func everything() throws -> NSManagedObjectModel {
        let model = try NSManagedObjectModel(for: WholeAlbum.self, WholeTrack.self, Work.self, DataObject.self, Human.self)
        model.versionIdentifiers = ["2.1"]
        return model
    }
}
#endif
