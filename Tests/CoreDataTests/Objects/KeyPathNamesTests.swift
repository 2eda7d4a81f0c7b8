import CoreData
import TestSupport
import Testing

/// A class whose models come and go.
final class Passer: NSManagedObject {
    private static let nameProperty = ManagedProperty<String>("name")
    var name: String { self[Self.nameProperty] }
}

/// An entity whose class has accessors of every kind, and computed properties of every kind.
final class Gizmo: NSManagedObject {
    enum Size: Int16, ManagedValue {
        case small = 3
        case large = 7
    }

    private static let nameProperty = ManagedProperty<String>("name")
    private static let countProperty = ManagedProperty<Int>("count")
    private static let noteProperty = ManagedProperty<String?>("note")
    private static let linkProperty = ManagedProperty<URL>("link")
    private static let priceProperty = ManagedProperty<Decimal>("price")
    private static let sizeProperty = ManagedProperty<Size>("size")
    private static let oddSizeProperty = ManagedProperty<Size?>("size")
    private static let isNewProperty = ManagedProperty<Bool>("isNew")
    private static let weightProperty = ManagedProperty<Float>("weight")
    private static let madeProperty = ManagedProperty<Date>("made")
    private static let wordsProperty = ManagedProperty<[String]>("words")
    private static let oddWordsProperty = ManagedProperty<[String]?>("words")
    private static let ownerProperty = ManagedProperty<Gizmo?>("owner")
    private static let makerProperty = ManagedProperty<Gizmo>("owner")
    private static let ownedProperty = ManagedProperty<Set<Gizmo>>("owned")

    var name: String {
        get { self[Self.nameProperty] }
        set { self[Self.nameProperty] = newValue }
    }
    var count: Int {
        get { self[Self.countProperty] }
        set { self[Self.countProperty] = newValue }
    }
    var note: String? {
        get { self[Self.noteProperty] }
        set { self[Self.noteProperty] = newValue }
    }
    var link: URL { self[Self.linkProperty] }
    var price: Decimal { self[Self.priceProperty] }
    var size: Size {
        get { self[Self.sizeProperty] }
        set { self[Self.sizeProperty] = newValue }
    }
    var oddSize: Size? { self[Self.oddSizeProperty] }
    var isNew: Bool { self[Self.isNewProperty] }
    var weight: Float { self[Self.weightProperty] }
    var made: Date { self[Self.madeProperty] }
    var words: [String] { self[Self.wordsProperty] }
    var oddWords: [String]? { self[Self.oddWordsProperty] }
    var owner: Gizmo? {
        get { self[Self.ownerProperty] }
        set { self[Self.ownerProperty] = newValue }
    }
    var maker: Gizmo { self[Self.makerProperty] }
    var owned: Set<Gizmo> { self[Self.ownedProperty] }

    // By key.
    var nameByKey: String { value(forKey: "name") as? String ?? "" }
    var countByPrimitiveKey: Int {
        willAccessValue(forKey: "count")
        defer { didAccessValue(forKey: "count") }
        return primitiveValue(forKey: "count") as? Int ?? 0
    }

    // Computed.
    var label: String { name }
    var ownersName: String? { owner?.name }
    var upperName: String { name.uppercased() }
    var shownName: String { name.isEmpty ? "Nameless" : name }
    var fullName: String { name + (note ?? "") }
    var distance: Int { abs(count) }
    var isOld: Bool { !isNew }
    var knownNote: String { note ?? "" }
    var constant: String { "x" }
    var wordCount: Int { words.count }
    var stored = 1

    static func model() -> NSManagedObjectModel {
        let gizmo = NSEntityDescription(name: "Gizmo", managedObjectClass: Gizmo.self)
        let owner = NSRelationshipDescription(name: "owner", destination: gizmo)
        let owned = NSRelationshipDescription(name: "owned", destination: gizmo, toMany: true)
        owner.inverse(to: owned)
        gizmo.properties = [
            NSAttributeDescription(name: "name", type: .string), NSAttributeDescription(name: "count", type: .integer64),
            NSAttributeDescription(name: "note", type: .string), NSAttributeDescription(name: "link", type: .uri),
            NSAttributeDescription(name: "price", type: .decimal), NSAttributeDescription(name: "size", type: .integer16),
            NSAttributeDescription(name: "isNew", type: .boolean), NSAttributeDescription(name: "weight", type: .float),
            NSAttributeDescription(name: "made", type: .date), NSAttributeDescription(name: "words", type: .transformable), owner, owned,
        ]
        return NSManagedObjectModel(entities: [gizmo])
    }
}

/// An entity whose model is loaded late.
final class Latecomer: NSManagedObject {
    static let nameProperty = ManagedProperty<String>("name")
    var name: String { self[Self.nameProperty] }
}

@Suite("A key path of a managed object") struct KeyPathNamesTests {
    /// Keeps a model loaded.
    private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Gizmo.model())
    private let music = NSPersistentStoreCoordinator(managedObjectModel: Music.model())

    @Test("has the name of the property that its getter asks for, whatever the type")
    func properties() throws {
        try expect(KeyPathNames.path(of: \Gizmo.name), equals: "name")
        try expect(KeyPathNames.path(of: \Gizmo.count), equals: "count")
        try expect(KeyPathNames.path(of: \Gizmo.note), equals: "note")
        try expect(KeyPathNames.path(of: \Gizmo.link), equals: "link")
        try expect(KeyPathNames.path(of: \Gizmo.price), equals: "price")
        try expect(KeyPathNames.path(of: \Gizmo.size), equals: "size")
        try expect(KeyPathNames.path(of: \Gizmo.oddSize), equals: "size")
        try expect(KeyPathNames.path(of: \Gizmo.isNew), equals: "isNew")
        try expect(KeyPathNames.path(of: \Gizmo.weight), equals: "weight")
        try expect(KeyPathNames.path(of: \Gizmo.made), equals: "made")
        try expect(KeyPathNames.path(of: \Gizmo.words), equals: "words")
        try expect(KeyPathNames.path(of: \Gizmo.owner), equals: "owner")
        try expect(KeyPathNames.path(of: \Gizmo.owned), equals: "owned")
        try expect(KeyPathNames.path(of: \Album.tracks), equals: "tracks")
        try expect(KeyPathNames.path(of: \Band.founded), equals: "founded")
    }

    @Test("has a name also where the getter asks by key")
    func keyed() throws {
        try expect(KeyPathNames.path(of: \Gizmo.nameByKey), equals: "name")
        try expect(KeyPathNames.path(of: \Gizmo.countByPrimitiveKey), equals: "count")
    }

    @Test("names every relationship on its way")
    func chains() throws {
        try expect(KeyPathNames.path(of: \Gizmo.owner?.name), equals: "owner.name")
        try expect(KeyPathNames.path(of: \Gizmo.owner!.owner!.note), equals: "owner.owner.note")
        try expect(KeyPathNames.path(of: \Gizmo.maker.owned), equals: "owner.owned")
        try expect(KeyPathNames.path(of: \Album.band?.name), equals: "band.name")
    }

    @Test("may insist on a value")
    func unwrapped() throws {
        try expect(KeyPathNames.path(of: \Gizmo.note!), equals: "note")
        try expect(KeyPathNames.path(of: \Gizmo.oddSize!), equals: "size")
        try expect(KeyPathNames.path(of: \Gizmo.owner!.oddWords!), equals: "owner.words")
        try expect(KeyPathNames.path(of: \Album.rating!), equals: "rating")
        #expect(throws: InvalidPredicateError.self) { try KeyPathNames.path(of: \Gizmo.note!.count) }
        #expect(throws: InvalidPredicateError.self) { try KeyPathNames.path(of: \Gizmo.owner!.knownNote) }
    }

    @Test("to the object itself or to its ID has no keys")
    func identity() throws {
        try expect(KeyPathNames.names(of: \Gizmo.self), equals: [])
        try expect(KeyPathNames.names(of: \Gizmo.objectID), equals: [])
        try expect(KeyPathNames.names(of: \Gizmo.owner?.objectID), equals: ["owner"])
        try expect(KeyPathNames.names(of: \NSManagedObject.objectID), equals: [])
    }

    @Test("to a computed property that hands a property on has the name of that property")
    func aliases() throws {
        try expect(KeyPathNames.path(of: \Gizmo.label), equals: "name")
        try expect(KeyPathNames.path(of: \Gizmo.ownersName), equals: "owner.name")
    }

    @Test(
        "to anything else is an error that shows the key path",
        arguments: [
            \Gizmo.upperName, \Gizmo.shownName, \Gizmo.fullName, \Gizmo.distance, \Gizmo.isOld, \Gizmo.knownNote, \Gizmo.constant,
            \Gizmo.wordCount, \Gizmo.stored, \Gizmo.name.count, \Gizmo.owned.count, \Gizmo.managedObjectContext, \Gizmo.isFault,
        ] as [any AnyKeyPath & Sendable])
    func computed(keyPath: any AnyKeyPath & Sendable) {
        let error = #expect(throws: InvalidPredicateError.self) { try KeyPathNames.names(of: keyPath) }
        expect(error?.kind, equals: .unknownKeyPath)
        expect(error?.message.contains("\(keyPath)"), equals: true)
    }

    @Test("has no name before a model with the class is loaded, and has one afterwards")
    func laterModel() throws {
        let descriptor = NSSortDescriptor(keyPath: \Latecomer.name, ascending: true)
        let predicate = try #require(NSPredicate(#Predicate<Latecomer> { $0.name == "x" }))
        #expect(descriptor.key == nil)
        expect(predicate.parseError?.message.contains("no loaded model has an entity whose class is Latecomer"), equals: true)
        let entity = NSEntityDescription(
            name: "Latecomer", managedObjectClass: Latecomer.self, properties: [NSAttributeDescription(name: "name", type: .string)])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [entity]))
        withExtendedLifetime(coordinator) {
            expect(descriptor.key, equals: "name")
            expect(predicate.formatString, equals: "name == \"x\"")
        }
    }

    @Test("is named while another thread releases a model of the same class")
    func modelsThatGo() async throws {
        @Sendable func coordinator() -> NSPersistentStoreCoordinator {
            let entity = NSEntityDescription(
                name: "Passer", managedObjectClass: Passer.self, properties: [NSAttributeDescription(name: "name", type: .string)])
            return NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [entity]))
        }
        // This one stays, so there always is a name.
        let staying = coordinator()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for _ in 0..<2_000 { _ = coordinator() } }
            // Past the names that are kept once they are found.
            group.addTask {
                for _ in 0..<4_000 {
                    let path = try Passer.propertyPath(for: \Passer.name)
                    expect(path, equals: ["name"])
                }
            }
            try await group.waitForAll()
        }
        withExtendedLifetime(staying) {}
    }

    @Test("is named from many threads at once")
    func threads() async throws {
        let names = try await withThrowingTaskGroup(of: String.self) { group in
            for index in 0..<64 {
                group.addTask {
                    index.isMultiple(of: 2) ? try KeyPathNames.path(of: \Album.band?.founded) : try KeyPathNames.path(of: \Gizmo.maker.made)
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        expect(names, equals: ["band.founded", "owner.made"])
    }
}
