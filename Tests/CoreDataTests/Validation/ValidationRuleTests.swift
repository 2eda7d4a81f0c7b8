import CoreData
import TestSupport
import Testing

/// An object whose class has a rule of its own.
final class ValidatedMember: NSManagedObject {
    override func validateValue(_ value: inout Any?, forKey key: String) throws {
        if key == "nick", let nick = value as? String { value = nick.lowercased() }
        if key == "email", (value as? String)?.contains("@") == false {
            throw NSError(domain: "Members", code: 7, userInfo: [NSValidationKeyErrorKey: key])
        }
        try super.validateValue(&value, forKey: key)
    }

    override func validateForUpdate() throws {
        try super.validateForUpdate()
        if value(forKey: "nick") as? String == "root" { throw NSError(domain: "Members", code: 8) }
    }
}

@Suite("Validation") struct ValidationRuleTests {
    private func context(
        _ type: NSAttributeDescription.AttributeType, _ formats: [String], warnings: [Any]? = nil, isOptional: Bool = true
    ) throws -> NSManagedObjectContext {
        let thing = NSEntityDescription(name: "Thing")
        let attribute = NSAttributeDescription(name: "value", type: type, isOptional: isOptional)
        attribute.setValidationPredicates(formats.map { NSPredicate(format: $0) }, withValidationWarnings: warnings)
        thing.properties = [attribute, NSAttributeDescription(name: "other", type: .string)]
        let coordinator = try NSPersistentStoreCoordinator(checking: NSManagedObjectModel(entities: [thing]))
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        return Music.context(coordinator)
    }

    struct Case: CustomTestStringConvertible {
        let type: NSAttributeDescription.AttributeType
        let format: String
        let good: [any Sendable]
        let bad: [any Sendable]
        let code: Int
        var testDescription: String { format }
    }

    static let cases = [
        Case(type: .integer32, format: "SELF >= 1", good: [1, 7], bad: [0, -1], code: NSValidationNumberTooSmallError),
        Case(type: .integer64, format: "SELF < 10", good: [9, -10], bad: [10], code: NSValidationNumberTooLargeError),
        Case(type: .double, format: "SELF <= 0.5", good: [0.5], bad: [0.51], code: NSValidationNumberTooLargeError),
        Case(type: .double, format: "SELF > 1", good: [1.01], bad: [1.0], code: NSValidationNumberTooSmallError),
        Case(type: .float, format: "SELF >= 1", good: [1], bad: [0.5], code: NSValidationNumberTooSmallError),
        Case(type: .decimal, format: "SELF >= 1", good: [Decimal(1)], bad: [Decimal(0)], code: NSValidationNumberTooSmallError),
        Case(type: .string, format: "length >= 3", good: ["abc"], bad: ["", "ab"], code: NSValidationStringTooShortError),
        Case(type: .string, format: "length > -9223372036854775808", good: ["", "abc"], bad: [], code: NSManagedObjectValidationError),
        Case(type: .string, format: "length < -9223372036854775808", good: [], bad: ["", "abc"], code: NSManagedObjectValidationError),
        Case(type: .integer64, format: "SELF > 9223372036854775807", good: [], bad: [1], code: NSValidationNumberTooSmallError),
        Case(type: .integer64, format: "SELF < -9223372036854775808", good: [], bad: [1], code: NSValidationNumberTooLargeError),
        Case(type: .string, format: "length <= 3", good: ["", "ąbc"], bad: ["abcd"], code: NSValidationStringTooLongError),
        Case(
            type: .string, format: "SELF MATCHES '[a-z]+'", good: ["abc"], bad: ["ab1", ""], code: NSValidationStringPatternMatchingError),
        Case(type: .string, format: "SELF BEGINSWITH 'a'", good: ["ab"], bad: ["ba"], code: NSManagedObjectValidationError),
        Case(type: .string, format: "SELF IN {'a', 'b'}", good: ["a"], bad: ["c"], code: NSManagedObjectValidationError),
        Case(
            type: .date, format: "SELF >= CAST(100, 'NSDate')", good: [Date(timeIntervalSinceReferenceDate: 100)],
            bad: [Date(timeIntervalSinceReferenceDate: 99)], code: NSValidationDateTooSoonError),
        Case(
            type: .date, format: "SELF < CAST(100, 'NSDate')", good: [Date(timeIntervalSinceReferenceDate: 99)],
            bad: [Date(timeIntervalSinceReferenceDate: 100)], code: NSValidationDateTooLateError),
    ]

    @Test("A bound, a length and an expression have codes of their own, in saves and in validateValue", arguments: cases)
    func codes(_ rule: Case) throws {
        let context = try context(rule.type, [rule.format])
        try context.performAndWait {
            let thing = context.insert("Thing")
            try context.save()
            for good in rule.good {
                var value: Any? = good
                try thing.validateValue(&value, forKey: "value")
                thing.setValue(good, forKey: "value")
                try context.save()
            }
            for bad in rule.bad {
                var value: Any? = bad
                expect(failure { try thing.validateValue(&value, forKey: "value") }?.code, equals: rule.code)
                thing.setValue(bad, forKey: "value")
                let error = try #require(failure { try context.save() })
                expect(error.code, equals: rule.code)
                expect(error.domain, equals: NSCocoaErrorDomain)
                expect(error.key, equals: "value")
                #expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === thing)
                #expect(error.userInfo[NSValidationPredicateErrorKey] is NSPredicate)
                #expect(error.userInfo[NSValidationValueErrorKey] != nil)
            }
        }
    }

    @Test("Nil obeys every predicate, and nothing else than a value where there must be one")
    func nothing() throws {
        let optional = try context(.string, ["length >= 3"])
        try optional.performAndWait {
            _ = optional.insert("Thing")
            try optional.save()
        }
        let mandatory = try context(.string, ["length >= 3"], isOptional: false)
        mandatory.performAndWait {
            let thing = mandatory.insert("Thing")
            expect(failure { try mandatory.save() }?.code, equals: NSValidationMissingMandatoryPropertyError)
            var value: Any?
            expect(failure { try thing.validateValue(&value, forKey: "value") }?.code, equals: NSValidationMissingMandatoryPropertyError)
        }
    }

    @Test("One error lists every rule that a save violates")
    func several() throws {
        let context = try context(.string, ["length >= 3", "SELF MATCHES '[a-z]+'", "length <= 8"])
        try context.performAndWait {
            for text in ["1", "fine", "TOO LONG BY FAR", "ab"] { context.insert("Thing").setValue(text, forKey: "value") }
            let error = try #require(failure { try context.save() })
            expect(error.code, equals: NSValidationMultipleErrorsError)
            expect(error.parts.map(\.code).sorted(), equals: [1660, 1670, 1670, 1680, 1680])
            expect(Set(error.parts.compactMap { $0.userInfo[NSValidationObjectErrorKey] as? NSManagedObject }).count, equals: 3)
        }
    }

    @Test("A warning is the text of the error, a number its code")
    func warnings() throws {
        let context = try context(.string, ["length >= 3", "SELF != 'abcd'"], warnings: ["At least three letters.", 1234])
        context.performAndWait {
            let thing = context.insert("Thing")
            thing.setValue("a", forKey: "value")
            expect(failure { try context.save() }?.localizedDescription.contains("At least three letters."), equals: true)
            thing.setValue("abcd", forKey: "value")
            expect(failure { try context.save() }?.code, equals: 1234)
        }
    }

    @Test("Unchanged values are not validated again")
    func unchanged() throws {
        try DictionaryStore.run { _, _ in }
        let model = Music.model()
        let album = try #require(model.entitiesByName["Album"])
        album.attributesByName["title"]?.setValidationPredicates([NSPredicate(format: "length >= 3")], withValidationWarnings: nil)
        let (store, coordinator) = try DictionaryStore.make(model: model)
        let context = Music.context(coordinator)
        try context.performAndWait {
            let album = try #require(context.object(with: store.put("Album", 1, ["title": "x", "year": 1])) as? Album)
            album.year = 2
            try context.save()
            album.title = "y"
            expect(failure { try context.save() }?.code, equals: NSValidationStringTooShortError)
        }
    }

    @Test("A predicate that does not parse is a mistake of the model")
    func mistake() throws {
        let error = try #require(failure { _ = try self.context(.string, ["length >="]) })
        #expect(error.localizedDescription.contains("Thing.value"))
    }

    @Test("A class's own validateValue is called by the save, and what it changes is saved")
    func overridden() throws {
        let member = NSEntityDescription(name: "Member", managedObjectClass: ValidatedMember.self)
        let nick = NSAttributeDescription(name: "nick", type: .string)
        nick.setValidationPredicates([NSPredicate(format: "length >= 3")], withValidationWarnings: nil)
        member.properties = [nick, NSAttributeDescription(name: "email", type: .string)]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [member]))
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = Music.context(coordinator)
        try context.performAndWait {
            let object = context.insert("Member", ["nick": "AB", "email": "nowhere"])
            let error = try #require(failure { try context.save() })
            expect(error.parts.map(\.code).sorted(), equals: [7, 1670])
            object.setValue("ABC", forKey: "nick")
            object.setValue("a@b", forKey: "email")
            try context.save()
            expect(object.value(forKey: "nick") as? String, equals: "abc")
            #expect(!context.hasChanges)
            context.refresh(object, mergeChanges: false)
            expect(object.value(forKey: "nick") as? String, equals: "abc")
            object.setValue("root", forKey: "nick")
            expect(failure { try context.save() }?.code, equals: 8)
        }
    }

    @Test("A predicate of a to-many relationship is asked with its objects")
    func relationships() throws {
        let model = Music.model()
        let tags = try #require(model.entitiesByName["Album"]?.relationshipsByName["tags"])
        tags.setValidationPredicates([NSPredicate(format: "SELF.@count <= 1")], withValidationWarnings: nil)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = Music.context(coordinator)
        try context.performAndWait {
            let album = Album(context: context)
            album.tags = [Tag(context: context)]
            try context.save()
            album.tags.insert(Tag(context: context))
            expect(failure { try context.save() }?.key, equals: "tags")
        }
    }
}
