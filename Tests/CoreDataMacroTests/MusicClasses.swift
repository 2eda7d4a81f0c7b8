#if Macros
import CoreDataMacros

/// The classes that these tests are about, spelled as a program would spell them.

enum Genre: String, ManagedValue {
    case rock
    case folk
}

struct Review: Codable, Equatable {
    var text: String
    var stars: Int
}

@Composite struct Address: Equatable {
    var city: String = "Delft"
    var street: String?
    @Element(.range(0...99999)) var number: Int32 = 0
    var genre: Genre?
}

@ManagedObject(.abstract, .index("title"), hashModifier: "1")
class Item: NSManagedObject {
    @Attribute(.length(1...80)) var title: String = "Untitled"
    @Attribute(.unique) var code: UUID?
    var added: Date?

    override func awakeFromInsert() {
        super.awakeFromInsert()
        added = Date(timeIntervalSinceReferenceDate: 0)
    }
}

@ManagedObject(
    "Record", .unique("year", "title"), .index(.descending("year"), "title", where: "year > 1900"), .configuration("Cache"),
    .fetchRequest("Recent", where: "year >= $YEAR", configure: { $0.fetchLimit = 2 }), originalName: "LP", userInfo: ["path": "/albums"])
final class Album: Item {
    @Attribute(.type(.integer16), .range(1900...2100)) var year: Int = 2000
    @Attribute(.optional) var plays: Int64 = 0
    var genre: Genre = .folk
    var mood: Genre?
    var price: Decimal?
    @Attribute(.codable) var reviews: [Review] = []
    @Attribute(.codable) var best: Review?
    @Attribute(.transformable(by: "Tags")) var tags: [String]?
    @Attribute(.externalStorage, name: "image") var cover: Data?
    @Attribute(.derived(from: "tracks.@count")) var trackCount: Int64
    var shop: Address?
    @Transient var isPlaying: Bool = false
    @Transient(.type(.undefined)) var player: Any?
    @Relationship(.required, deleteRule: .deny) var band: Band?
    @Relationship(deleteRule: .cascade, inverse: \Track.album) var tracks: [Track]
    var singles: Set<Track>
    @FetchedProperty("year == $FETCH_SOURCE.year", configure: { $0.fetchLimit = 5 }) var sameYear: [Album]
    @Ignored var cache = 7
    lazy var lazily = 3
    static let shared = 5
    var shout: String { title.uppercased() }
}

@ManagedObject final class Band: NSManagedObject {
    @Attribute(.required, .matching("[A-Z].*")) var name: String
    var albums: Set<Album> = []
    @Relationship(.symmetric) var friends: Set<Band>
    @Relationship(inverse: nil) var idol: Band?
}

@ManagedObject final class Track: NSManagedObject {
    var name: String?
    @Attribute(.validated("SELF != 13", "Thirteen brings bad luck.")) var seconds: Double = 0
    var album: Album?
    @Relationship(inverse: \Album.singles) var singleOf: Album?
}

/// A class without an entity between those of two, which a program may have to share code.
@ManagedObject class Node: NSManagedObject {
    var name: String = ""
    var parent: Node?
    var children: Set<Node>
}
class NamedNode: Node { func rename() { name += "!" } }
@ManagedObject final class Leaf: NamedNode { var size: Int32 = 0 }
#endif
