import CoreData

// An entity with an attribute of every type, and the lifecycle calls of its objects written down.

enum Mood: String, ManagedValue {
    case calm, loud
}

enum Grade: Int16, ManagedValue {
    case low = 1
    case high = 2
}

final class Scrap: NSManagedObject {
    static let tinyProperty = ManagedProperty<Int16?>("tiny")
    static let smallProperty = ManagedProperty<Int32>("small")
    static let smallAsIntProperty = ManagedProperty<Int>("small")
    static let bigProperty = ManagedProperty<Int64>("big")
    static let realProperty = ManagedProperty<Double>("real")
    static let singleProperty = ManagedProperty<Float>("single")
    static let textProperty = ManagedProperty<String?>("text")
    static let flagProperty = ManagedProperty<Bool>("flag")
    static let momentProperty = ManagedProperty<Date?>("moment")
    static let bytesProperty = ManagedProperty<Data?>("bytes")
    static let keyProperty = ManagedProperty<UUID?>("key")
    static let linkProperty = ManagedProperty<URL?>("link")
    static let amountProperty = ManagedProperty<Decimal>("amount")
    static let moodProperty = ManagedProperty<Mood?>("mood")
    static let gradeProperty = ManagedProperty<Grade>("grade")
    static let listProperty = ManagedProperty<[String]>("anything")

    var calls: [String] = []
    /// A closure alone is no value of a task: optimized code of Swift 6.3 crashes where it is set.
    struct Awakening: Sendable { let call: @Sendable (Scrap) -> Void }
    /// What the next objects do when they awake.
    @TaskLocal static var onAwake: Awakening?
    var onWillSave: ((Scrap) -> Void)?
    var onPrepareForDeletion: ((Scrap) -> Void)?

    override func awakeFromInsert() {
        super.awakeFromInsert()
        calls.append("awakeFromInsert")
        setPrimitiveValue("set on awaking", forKey: "note")
    }

    override func awakeFromFetch() {
        super.awakeFromFetch()
        calls.append("awakeFromFetch")
        Self.onAwake?.call(self)
    }

    var snapshotEvents: [NSSnapshotEventType] = []
    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
        super.awake(fromSnapshotEvents: flags)
        snapshotEvents.append(flags)
    }

    override func willSave() {
        super.willSave()
        calls.append("willSave")
        onWillSave?(self)
    }

    override func didSave() {
        super.didSave()
        calls.append("didSave")
    }

    override func prepareForDeletion() {
        super.prepareForDeletion()
        calls.append("prepareForDeletion")
        onPrepareForDeletion?(self)
    }

    override func willTurnIntoFault() { calls.append("willTurnIntoFault") }
    override func didTurnIntoFault() { calls.append("didTurnIntoFault") }

    override func value(forUndefinedKey key: String) -> Any? { "undefined \(key)" }
}

enum Scraps {
    static func model() -> NSManagedObjectModel {
        let scrap = NSEntityDescription(name: "Scrap", managedObjectClass: Scrap.self)
        let draft = NSAttributeDescription(name: "draft", type: .undefined)
        draft.isTransient = true
        scrap.properties = [
            NSAttributeDescription(name: "tiny", type: .integer16),
            NSAttributeDescription(name: "small", type: .integer32),
            NSAttributeDescription(name: "big", type: .integer64),
            NSAttributeDescription(name: "amount", type: .decimal),
            NSAttributeDescription(name: "real", type: .double),
            NSAttributeDescription(name: "single", type: .float),
            NSAttributeDescription(name: "text", type: .string),
            NSAttributeDescription(name: "flag", type: .boolean),
            NSAttributeDescription(name: "moment", type: .date),
            NSAttributeDescription(name: "bytes", type: .binaryData),
            NSAttributeDescription(name: "key", type: .uuid),
            NSAttributeDescription(name: "link", type: .uri),
            NSAttributeDescription(name: "anything", type: .transformable),
            NSAttributeDescription(name: "mood", type: .string),
            NSAttributeDescription(name: "grade", type: .integer16, defaultValue: 1),
            NSAttributeDescription(name: "note", type: .string),
            NSAttributeDescription(name: "preset", type: .string, defaultValue: "preset"),
            draft,
        ]
        return NSManagedObjectModel(entities: [scrap])
    }

    static func coordinator() throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        return coordinator
    }

    /// Runs `body` in a new context of a new in-memory store.
    static func run(_ body: (NSManagedObjectContext) throws -> Void) throws {
        let context = Music.context(try coordinator())
        try context.performAndWait { try body(context) }
    }
}
