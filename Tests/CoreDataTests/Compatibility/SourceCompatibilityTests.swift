import CoreData
import TestSupport
import Testing

// Declarations and calls as they are written for Apple's platforms.

/// A transformer whose initializer is not marked as required.
final class UppercaseTransformer: ValueTransformer {
    let locale: String

    override init() {
        locale = "en"
        super.init()
    }

    override func transformedValue(_ value: Any?) -> Any? { (value as? String)?.uppercased() }
}

/// A transformer with an initializer of its own.
private final class PrefixTransformer: ValueTransformer {
    let prefix: String

    init(prefix: String) {
        self.prefix = prefix
        super.init()
    }

    override func transformedValue(_ value: Any?) -> Any? { (value as? String).map { prefix + $0 } }
}

/// A context that counts the blocks it runs.
private final class CountingContext: NSManagedObjectContext, @unchecked Sendable {
    var count = 0

    override func performAndWait(_ block: () -> Void) {
        count += 1
        super.performAndWait(block)
    }
}

private final class CountingCoordinator: NSPersistentStoreCoordinator, @unchecked Sendable {
    var count = 0

    override func performAndWait(_ block: () -> Void) {
        count += 1
        super.performAndWait(block)
    }
}

private final class FixedID: NSManagedObjectID, @unchecked Sendable {
    let name: String

    init(name: String) {
        self.name = name
        super.init()
    }
}

/// A comparison that remembers what it was asked.
private final class RememberingComparison: NSComparisonPredicate {
    var asked: [String] = []

    override init(
        leftExpression lhs: NSExpression, rightExpression rhs: NSExpression, modifier: Modifier, type: Operator, options: Options = []
    ) {
        super.init(leftExpression: lhs, rightExpression: rhs, modifier: modifier, type: type, options: options)
    }

    required init?(coder: NSCoder) { super.init(coder: coder) }

    override func evaluate(with object: Any?) -> Bool {
        asked.append("\(object ?? "nil")")
        return super.evaluate(with: object)
    }
}

@Suite("Code for Apple's platforms") struct SourceCompatibilityTests {
    @Test("A transformer needs no required initializer, and is made by the name of its class")
    func transformers() throws {
        let name = NSValueTransformerName("CoreDataTests.UppercaseTransformer")
        let made = try #require(ValueTransformer(forName: name) as? UppercaseTransformer)
        expect(made.locale, equals: "en")
        expect(made.transformedValue("low") as? String, equals: "LOW")
        #expect(ValueTransformer(forName: name) === made)
        expect(PrefixTransformer(prefix: "> ").transformedValue("low") as? String, equals: "> low")
    }

    @Test("A block without a result goes through the function that a subclass overrides, and one with a result returns it")
    func performAndWait() throws {
        let context = CountingContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = try Music.coordinator()
        context.performAndWait { Band(context: context).name = "Low" }
        context.performAndWait {
            let band = Band(context: context)
            band.name = "Ebb"
        }
        let function: (() -> Void) -> Void = context.performAndWait
        function { Band(context: context).name = "Tide" }
        expect(context.count, equals: 3)
        let count = context.performAndWait { context.insertedObjects.count }
        expect(count, equals: 3)
        let names = try context.performAndWait { try context.fetch(NSFetchRequest<Band>(entityName: "Band")).map(\.name) }
        expect(Set(names), equals: ["Low", "Ebb", "Tide"])
        expect(context.count, equals: 3)
    }

    @Test("A coordinator is made of a class that is known at run time only")
    func coordinators() {
        let type: NSPersistentStoreCoordinator.Type = CountingCoordinator.self
        let coordinator = type.init(managedObjectModel: Music.model())
        #expect(coordinator.managedObjectModel.entitiesByName["Band"] != nil)
        coordinator.performAndWait {}
        expect((coordinator as? CountingCoordinator)?.count, equals: 1)
        expect(coordinator.performAndWait { 7 }, equals: 7)
    }

    @Test("IDs of nothing are equal to themselves only, and no context finds their objects")
    func objectIDs() throws {
        let id = NSManagedObjectID()
        #expect(id == id && id != NSManagedObjectID() && id.isTemporaryID && id.persistentStore == nil)
        expect(Set([id, id, FixedID(name: "a")]).count, equals: 2)
        #expect(!id.description.isEmpty && id.uriRepresentation() == id.uriRepresentation())
        try withMusic { context in
            #expect(context.registeredObject(for: id) == nil)
            expect(failure { _ = try context.existingObject(with: id) }?.code, equals: NSManagedObjectReferentialIntegrityError)
        }
    }

    @Test("A constraint conflict can be made without parts")
    func conflicts() {
        let conflict = NSConstraintConflict()
        #expect(conflict.constraint.isEmpty && conflict.constraintValues.isEmpty && conflict.databaseObject == nil)
        #expect(conflict.conflictingObjects.isEmpty && !conflict.description.isEmpty)
    }

    @Test("A proxy by a key path is not optional, and finds the index of an object as an ordered set does")
    func proxies() throws {
        try withMusic { context in
            let album = Album(context: context)
            let tracks = (0..<3).map { context.insert("Track", ["title": "\($0)"]) }
            for track in tracks { track.setValue(album, forKey: "album") }
            let order = tracks[0].mutableOrderedSetValue(forKeyPath: "album.tracks")!
            order.add(tracks[2])
            tracks[0].mutableOrderedSetValue(forKeyPath: "album.tracks").moveObjects(at: [0], to: 2)
            let place = order.index(of: tracks[0])
            expect(place, equals: 2)
            let missing = order.index(of: context.insert("Track"))
            expect(missing, equals: NSNotFound)
            #expect(context.insert("Track").mutableOrderedSetValue(forKeyPath: "album.tracks") == nil)
            tracks[0].mutableSetValue(forKeyPath: "album.tags").add(context.insert("Tag"))
            expect(album.mutableSetValue(forKey: "tags").count, equals: 1)
        }
    }

    @available(*, deprecated, message: "For the deprecated kind of context.")
    @Test("A confined context works on the thread that uses it, and saves")
    func confinement() throws {
        expect(NSManagedObjectContextConcurrencyType.confinementConcurrencyType.rawValue, equals: 0)
        let coordinator = try Music.coordinator()
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let band = Band(context: context)
        band.name = "Low"
        try expect(context.fetch(NSFetchRequest<Band>(entityName: "Band")), equals: [band])
        try context.save()
        let other = Music.context(coordinator)
        try expect(other.performAndWait { try other.fetch(NSFetchRequest<Band>(entityName: "Band")).map(\.name) }, equals: ["Low"])
    }

    @Test("The codes of errors have Apple's numbers")
    func codes() {
        #expect(NSManagedObjectContextLockingError == 132000 && NSPersistentStoreCoordinatorLockingError == 132010)
        expect(NSMigrationConstraintViolationError, equals: 134111)
        expect(CocoaError.managedObjectContextLocking.rawValue, equals: 132000)
        expect(CocoaError.persistentStoreCoordinatorLocking.rawValue, equals: 132010)
    }

    @Test("The keys of notifications have both of Apple's spellings")
    func keys() {
        typealias Key = NSManagedObjectContext.NotificationKey
        #expect(Key.insertedObjectIDs.rawValue == NSInsertedObjectIDsKey && Key.updatedObjectIDs.rawValue == NSUpdatedObjectIDsKey)
        #expect(Key.deletedObjectIDs.rawValue == NSDeletedObjectIDsKey && Key.refreshedObjectIDs.rawValue == NSRefreshedObjectIDsKey)
        expect(Key.invalidatedObjectIDs.rawValue, equals: NSInvalidatedObjectIDsKey)
        expect(Key.queryGeneration.rawValue, equals: NSManagedObjectContextQueryGenerationKey)
    }

    @Test("An expression is made of a Swift key path, before a model names it")
    func expressions() throws {
        let path = NSExpression(forKeyPath: \Album.band?.name)
        let comparison = NSComparisonPredicate(
            leftExpression: path, rightExpression: NSExpression(forConstantValue: "Low"), modifier: .direct, type: .equalTo)
        try withMusic { context in
            try context.saveBand("Low", albums: ["A", "B"])
            try context.saveBand("Ebb", albums: ["C"])
            #expect(path.keyPath == "band.name" && path == NSExpression(forKeyPath: "band.name"))
            let request = NSFetchRequest<Album>(entityName: "Album")
            request.predicate = NSComparisonPredicate(
                leftExpression: path, rightExpression: NSExpression(forConstantValue: "Low"), modifier: .direct, type: .equalTo)
            try expect(context.count(for: request), equals: 2)
            // Names are looked up in the loaded models, of which this is one as long as its context is there.
            expect(NSExpression(forKeyPath: \Album.self).expressionType, equals: .evaluatedObject)
            #expect(!comparison.formatString.isEmpty)
        }
    }

    @Test("A comparison can be subclassed, and CoreData's is the one without its module too")
    func comparisons() throws {
        let predicate = RememberingComparison(
            leftExpression: .expressionForEvaluatedObject(), rightExpression: NSExpression(forConstantValue: 3), modifier: .direct,
            type: .lessThan)
        expect([1, 5, 2].filter { predicate.evaluate(with: $0) }, equals: [1, 2])
        expect(predicate.asked, equals: ["1", "5", "2"])
        expect(predicate.predicateFormat, equals: "SELF < 3")
        let qualified: CoreData.NSComparisonPredicate = predicate
        expect(qualified.predicateOperatorType, equals: .lessThan)
        try withMusic { context in
            let album = Album(context: context)
            album.year = 1977
            let request = NSFetchRequest<Album>(entityName: "Album")
            request.predicate = RememberingComparison(
                leftExpression: NSExpression(forKeyPath: "year"), rightExpression: NSExpression(forConstantValue: 1980), modifier: .direct,
                type: .lessThan)
            let found = try context.fetch(request)
            expect(found, equals: [album])
        }
    }

    @Test("A predicate without a condition can be held, and a fetch with it says what it lacks")
    func emptyPredicate() throws {
        try withMusic { context in
            let request = NSFetchRequest<Album>(entityName: "Album")
            request.predicate = NSPredicate()
            let error = try #require(failure { _ = try context.fetch(request) })
            #expect("\(error)".contains("NSPredicate(value: true)"))
        }
    }

    @Test("A fetch request is converted to another result type, where Apple's is cast")
    func convertedRequests() throws {
        try withMusic { context in
            try context.saveBand("Low", albums: ["A"])
            let request = NSFetchRequest<Band>(entityName: "Band")
            request.fetchLimit = 1
            let erased = try #require(NSFetchRequest<any NSFetchRequestResult>.converted(from: request))
            #expect(erased.fetchLimit == 1 && erased.callersRequest === request)
            #expect(NSFetchRequest<any NSFetchRequestResult>.converted(from: erased) === erased)
            let bands = try #require(NSFetchRequest<Band>.converted(from: erased as Any))
            try expect(context.fetch(bands).map(\.name), equals: ["Low"])
            #expect(NSFetchRequest<Band>.converted(from: "request") == nil && NSFetchRequest<Band>.converted(from: nil) == nil)
        }
    }
}
