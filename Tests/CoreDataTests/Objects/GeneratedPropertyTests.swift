import CoreData
import TestSupport
import Testing

/// The types of properties that are generated from a model, where they are not plain Swift values, and the methods beside them.
@Suite("Generated properties") @MainActor struct GeneratedPropertyTests {
    final class Everything: NSManagedObject {
        var number: NSNumber? {
            get { self[ManagedProperty<NSNumber?>("number")] }
            set { self[ManagedProperty<NSNumber?>("number")] = newValue }
        }
        var price: NSDecimalNumber? {
            get { self[ManagedProperty<NSDecimalNumber?>("price")] }
            set { self[ManagedProperty<NSDecimalNumber?>("price")] = newValue }
        }
        var seconds: TimeInterval {
            get { self[ManagedProperty<TimeInterval>("date")] }
            set { self[ManagedProperty<TimeInterval>("date")] = newValue }
        }
        var words: [String]? {
            get { self[ManagedProperty<AnyManagedValue<[String]>?>("words")]?.wrapped }
            set { self[ManagedProperty<AnyManagedValue<[String]>?>("words")] = newValue.map { AnyManagedValue($0) } }
        }
        var object: NSObject? {
            get { self[ManagedProperty<AnyManagedValue<NSObject>?>("words")]?.wrapped }
            set { self[ManagedProperty<AnyManagedValue<NSObject>?>("words")] = newValue.map { AnyManagedValue($0) } }
        }
        var others: NSSet? {
            get { self[ManagedProperty<NSSet?>("others")] }
            set { self[ManagedProperty<NSSet?>("others")] = newValue }
        }
        var list: NSOrderedSet? { self[ManagedProperty<NSOrderedSet?>("list")] }
    }

    private let context: NSManagedObjectContext

    init() throws {
        let entity = NSEntityDescription(
            name: "Everything", managedObjectClass: Everything.self,
            properties: [
                NSAttributeDescription(name: "number", type: .integer16), NSAttributeDescription(name: "price", type: .decimal),
                NSAttributeDescription(name: "date", type: .date), NSAttributeDescription(name: "words", type: .transformable),
            ])
        let others = NSRelationshipDescription(name: "others", destination: entity, toMany: true)
        let otherOf = NSRelationshipDescription(name: "otherOf", destination: entity, toMany: true)
        others.inverse(to: otherOf)
        let list = NSRelationshipDescription(name: "list", destination: entity, toMany: true, isOrdered: true)
        let listOf = NSRelationshipDescription(name: "listOf", destination: entity, toMany: true)
        list.inverse(to: listOf)
        entity.properties += [others, otherOf, list, listOf]
        let container = NSPersistentContainer(name: "Everything", managedObjectModel: NSManagedObjectModel(entities: [entity]))
        container.persistentStoreDescriptions.first?.type = NSInMemoryStoreType
        container.loadPersistentStores { _, error in #expect(error == nil) }
        context = container.viewContext
    }

    private func objects(_ count: Int) -> [Everything] { (0..<count).map { _ in Everything(context: context) } }

    @Test("A number that is nil is told from zero, and a decimal number keeps its digits") func numbers() throws {
        let object = Everything(context: context)
        #expect(object.number == nil && object.price == nil && object.seconds == 0)
        object.number = 0
        object.price = NSDecimalNumber(string: "12345678901234567890.12345")
        object.seconds = 1.5
        try context.save()
        context.refresh(object, mergeChanges: false)
        expect(object.number, equals: 0)
        expect(object.price, equals: NSDecimalNumber(string: "12345678901234567890.12345"))
        expect(object.seconds, equals: 1.5)
        expect(object.value(forKey: "date") as? Date, equals: Date(timeIntervalSinceReferenceDate: 1.5))
        object.number = nil
        #expect(object.value(forKey: "number") == nil)
    }

    @Test("A number that the attribute has no room for is refused when the object is saved") func outOfRange() {
        let object = Everything(context: context)
        object.number = 40_000
        #expect(object.number == nil)
        #expect(throws: (any Error).self) { try context.save() }
    }

    @Test("A transformable value is read as the type that it is asked for as, and as nil where it is of another") func transformable() {
        let object = Everything(context: context)
        #expect(object.words == nil)
        object.words = ["a", "b"]
        expect(object.words, equals: ["a", "b"])
        expect(object.object as? NSArray, equals: NSArray(array: ["a", "b"]))
        object.object = NSString("text")
        #expect(object.words == nil)
        expect(object.value(forKey: "words") as? String, equals: "text")
    }

    @Test("A set is what the relationship leads to, and setting it keeps the inverse") func sets() {
        let made = objects(3)
        expect(made[0].others?.count, equals: 0)
        made[0].others = NSSet(array: [made[1], made[2]])
        #expect(made[0].others?.count == 2 && made[0].others as? Set<Everything> == [made[1], made[2]])
        expect(made[1].value(forKey: "otherOf") as? Set<NSManagedObject>, equals: [made[0]])
        made[0].others = nil
        expect(made[0].others?.count, equals: 0)
    }

    @Test("Objects are added to and taken out of a relationship by its property") func members() {
        let made = objects(4)
        let others = ManagedProperty<NSSet?>("others")
        made[0].add(made[1], to: others)
        made[0].add(NSSet(array: [made[2], made[3]]), to: others)
        made[0].remove(made[1], from: others)
        made[0].remove(NSSet(array: [made[1], made[2]]), from: others)
        expect(made[0].others, equals: NSSet(object: made[3]))
        let list = ManagedProperty<NSOrderedSet?>("list")
        made[0].add(made[1], to: list)
        made[0].insert([made[2], made[3]], at: NSIndexSet(indexesIn: NSRange(location: 0, length: 2)), into: list)
        expect(made[0].list?.array as? [Everything], equals: [made[2], made[3], made[1]])
        made[0].remove(at: NSIndexSet(index: 1), from: list)
        made[0].replace(at: NSIndexSet(index: 0), with: [made[0]], in: list)
        expect(made[0].list?.array as? [Everything], equals: [made[0], made[1]])
    }

    @Test("A value that is not a managed object is rejected, and the save reports it") func refused() {
        let object = Everything(context: context)
        object.add(NSSet(object: "text"), to: ManagedProperty<NSSet?>("others"))
        expect(object.others?.count, equals: 0)
        #expect(throws: (any Error).self) { try context.save() }
    }
}
