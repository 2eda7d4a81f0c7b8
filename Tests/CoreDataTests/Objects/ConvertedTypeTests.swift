import CoreData
import TestSupport
import Testing

/// Properties whose Swift type is not the type that the model gives the attribute, with the accessors that the plugin `ManagedAccessors`
/// writes for `@NSManaged`.
@Suite("Properties of another type than the attribute's") struct ConvertedTypeTests {
    enum Size: Int16 { case small = 1, large }

    /// One property that reads the attribute of another type; the attributes are named by their types.
    final class Thing: NSManagedObject {
        var exactCount: NSDecimalNumber? {
            get { self[ManagedAccess.property("integer", as: NSDecimalNumber?.self)] }
            set { self[ManagedAccess.property("integer", as: NSDecimalNumber?.self)] = newValue }
        }
        var shortCount: Int16 {
            get { self[ManagedAccess.property("integer", as: Int16.self)] }
            set { self[ManagedAccess.property("integer", as: Int16.self)] = newValue }
        }
        var isCounted: Bool {
            get { self[ManagedAccess.property("integer", as: Bool.self)] }
            set { self[ManagedAccess.property("integer", as: Bool.self)] = newValue }
        }
        var size: Size? {
            get { self[ManagedAccess.property("real", as: Size?.self)] }
            set { self[ManagedAccess.property("real", as: Size?.self)] = newValue }
        }
        var wholes: Int {
            get { self[ManagedAccess.property("real", as: Int.self)] }
            set { self[ManagedAccess.property("real", as: Int.self)] = newValue }
        }
        var optionalWholes: Int? { self[ManagedAccess.property("real", as: Int?.self)] }
        var price: Decimal {
            get { self[ManagedAccess.property("real", as: Decimal.self)] }
            set { self[ManagedAccess.property("real", as: Decimal.self)] = newValue }
        }
        var single: Float {
            get { self[ManagedAccess.property("real", as: Float.self)] }
            set { self[ManagedAccess.property("real", as: Float.self)] = newValue }
        }
        var flag: NSNumber? {
            get { self[ManagedAccess.property("flag", as: NSNumber?.self)] }
            set { self[ManagedAccess.property("flag", as: NSNumber?.self)] = newValue }
        }
        var flagAsNumber: Int32 {
            get { self[ManagedAccess.property("flag", as: Int32.self)] }
            set { self[ManagedAccess.property("flag", as: Int32.self)] = newValue }
        }
        var amount: Double {
            get { self[ManagedAccess.property("decimal", as: Double.self)] }
            set { self[ManagedAccess.property("decimal", as: Double.self)] = newValue }
        }
        var text: String? {
            get { self[ManagedAccess.property("anything", as: String?.self)] }
            set { self[ManagedAccess.property("anything", as: String?.self)] = newValue }
        }
        var number: Int {
            get { self[ManagedAccess.property("anything", as: Int.self)] }
            set { self[ManagedAccess.property("anything", as: Int.self)] = newValue }
        }
        var primitiveInteger: NSDecimalNumber? {
            get { self[ManagedAccess.primitive("primitiveInteger", of: "integer", as: NSDecimalNumber?.self)] }
            set { self[ManagedAccess.primitive("primitiveInteger", of: "integer", as: NSDecimalNumber?.self)] = newValue }
        }
    }

    private static func withThing(_ type: String, _ body: (Thing, NSManagedObjectContext) throws -> Void) throws {
        let entity = NSEntityDescription(
            name: "Thing", managedObjectClass: Thing.self,
            properties: [
                NSAttributeDescription(name: "integer", type: .integer64), NSAttributeDescription(name: "real", type: .double),
                NSAttributeDescription(name: "flag", type: .boolean), NSAttributeDescription(name: "decimal", type: .decimal),
                NSAttributeDescription(name: "anything", type: .transformable),
            ])
        let scratch = try ScratchFolder("ConvertedTypes")
        defer { scratch.remove() }
        let folder = scratch.url
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [entity]))
        _ = try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: type == NSSQLiteStoreType ? folder.appendingPathComponent("a.sqlite") : nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try body(Thing(context: context), context) }
    }

    @Test("A number is read as any type of numbers, like an NSNumber", arguments: [NSInMemoryStoreType, NSSQLiteStoreType])
    func numbers(_ type: String) throws {
        try Self.withThing(type) { thing, context in
            thing.setValue(70_000, forKey: "integer")
            thing.setValue(-2.75, forKey: "real")
            thing.setValue(true, forKey: "flag")
            thing.setValue(Decimal(string: "12345678901234567890.5"), forKey: "decimal")
            thing.setValue("text", forKey: "anything")
            for isSaved in [false, true] {
                if isSaved {
                    try context.save()
                    context.refresh(thing, mergeChanges: false)
                }
                #expect(thing.exactCount == NSDecimalNumber(string: "70000") && thing.isCounted)
                expect(thing.exactCount?.adding(1), equals: NSDecimalNumber(string: "70001"))
                expect(thing.primitiveInteger, equals: NSDecimalNumber(string: "70000"))
                expect(thing.shortCount, equals: Int16(truncatingIfNeeded: 70_000))
                #expect(thing.wholes == -2 && thing.optionalWholes == -2 && thing.size == nil && thing.single == -2.75)
                expect(thing.price, equals: Decimal(string: "-2.75"))
                #expect(thing.flag == true && thing.flagAsNumber == 1)
                expect(thing.amount, equals: 12345678901234567890.5)
                expect(thing.text, equals: "text")
            }
        }
    }

    @Test("Nil is what the property has for it")
    func nothing() throws {
        try Self.withThing(NSInMemoryStoreType) { thing, _ in
            #expect(thing.exactCount == nil && thing.optionalWholes == nil && thing.size == nil && thing.text == nil && thing.flag == nil)
            #expect(thing.wholes == 0 && thing.price == 0 && thing.amount == 0 && thing.number == 0 && !thing.isCounted)
        }
    }

    @Test("What is set by such a property is stored as the attribute's type", arguments: [NSInMemoryStoreType, NSSQLiteStoreType])
    func setting(_ type: String) throws {
        try Self.withThing(type) { thing, context in
            thing.exactCount = NSDecimalNumber(string: "9007199254740993")
            thing.size = .large
            thing.flagAsNumber = 1
            thing.amount = 0.1
            thing.text = "text"
            try context.save()
            context.refresh(thing, mergeChanges: false)
            expect(thing.value(forKey: "integer") as? Int64, equals: 9_007_199_254_740_993)
            #expect(thing.value(forKey: "real") as? Double == 2 && thing.size == .large)
            expect(thing.value(forKey: "flag") as? Bool, equals: true)
            expect(thing.value(forKey: "decimal") as? NSDecimalNumber, equals: NSDecimalNumber(string: "0.1"))
            expect(thing.value(forKey: "anything") as? String, equals: "text")
            thing.price = Decimal(string: "2.5")!
            thing.isCounted = true
            thing.number = 7
            thing.exactCount = nil
            #expect(thing.value(forKey: "real") as? Double == 2.5 && thing.value(forKey: "integer") == nil)
            #expect(thing.number == 7 && thing.changedValues().count == 3)
            thing.size = nil
            #expect(thing.value(forKey: "real") == nil)
        }
    }

    @Test("A number that the attribute cannot hold is rejected, and the save reports it")
    func rejected() throws {
        try Self.withThing(NSInMemoryStoreType) { thing, context in
            thing.flagAsNumber = 2
            thing.exactCount = NSDecimalNumber(string: "1.5")
            #expect(thing.flag == nil && thing.exactCount == nil)
            let error = #expect(throws: NSError.self) { try context.save() }
            expect((error?.userInfo[NSDetailedErrorsKey] as? [NSError])?.map(\.code), equals: [1550, 1550])
        }
    }

    @Test("A number beyond a type is its nearest, and what is no number is zero")
    func limits() throws {
        try Self.withThing(NSInMemoryStoreType) { thing, _ in
            thing.setValue(1e300, forKey: "real")
            expect(thing.wholes, equals: .max)
            thing.setValue(-Double.infinity, forKey: "real")
            expect(thing.wholes, equals: .min)
            thing.setValue(Decimal(string: "-99.99"), forKey: "anything")
            expect(thing.number, equals: -99)
            thing.setValue(Decimal(string: "1e40"), forKey: "anything")
            expect(thing.number, equals: .max)
        }
    }

    @Test("Key paths to such properties have their names")
    func keyPaths() throws {
        try Self.withThing(NSInMemoryStoreType) { thing, context in
            thing.wholes = 3
            let sorted = NSSortDescriptor(keyPath: \Thing.wholes, ascending: true)
            expect(sorted.key, equals: "real")
            let paths = try [\Thing.exactCount, \Thing.size, \Thing.text].map { try Thing.propertyPath(for: $0) }
            expect(paths, equals: [["integer"], ["real"], ["anything"]])
            let request = NSFetchRequest<Thing>(entityName: "Thing")
            request.sortDescriptors = [sorted]
            let found = try context.fetch(request)
            expect(found, equals: [thing])
        }
    }
}
