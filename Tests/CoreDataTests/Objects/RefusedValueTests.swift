import CoreData
import TestSupport
import Testing

/// A value that a property cannot hold.
struct Misfit: CustomTestStringConvertible {
    let key: String
    let value: any Sendable
    // A date that is not a number cannot be described on every platform.
    var testDescription: String { value is Date ? key : "\(key) = \(value)" }
}

@Suite("A value that a property cannot hold") struct RefusedValueTests {
    static let misfits: [Misfit] = [
        Misfit(key: "tiny", value: 32_768), Misfit(key: "tiny", value: -32_769), Misfit(key: "tiny", value: "1"),
        Misfit(key: "small", value: Int64(Int32.max) + 1), Misfit(key: "big", value: UInt64.max), Misfit(key: "big", value: 1.5),
        Misfit(key: "real", value: Double.nan), Misfit(key: "real", value: "1"), Misfit(key: "single", value: Float.nan),
        Misfit(key: "flag", value: 2), Misfit(key: "text", value: 1), Misfit(key: "moment", value: "today"),
        Misfit(key: "bytes", value: "bytes"), Misfit(key: "key", value: "no UUID"), Misfit(key: "link", value: "https://a.b"),
        Misfit(key: "amount", value: Decimal.nan), Misfit(key: "amount", value: Double.nan),
        Misfit(key: "moment", value: Date(timeIntervalSinceReferenceDate: .nan)),
    ]

    @Test("It is refused: the old value stays, and the save names object, key and value", arguments: misfits)
    func refused(_ misfit: Misfit) throws {
        try Scraps.run { context in
            let scrap = Scrap(context: context)
            try context.save()
            scrap.setValue(misfit.value, forKey: misfit.key)
            #expect(scrap.value(forKey: misfit.key) == nil)
            let error = try #require(failure { try context.save() })
            expect(error.domain, equals: NSCocoaErrorDomain)
            expect(error.code, equals: NSManagedObjectValidationError)
            #expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === scrap)
            expect(error.key, equals: misfit.key)
            #expect(error.userInfo[NSValidationValueErrorKey] != nil)
            #expect(scrap.hasChanges)
        }
    }

    @Test(
        "The error says what the value is and what the attribute holds, however it was given",
        arguments: [
            (Misfit(key: "text", value: 1), "Unacceptable value 1: it is of type Int, not a string."),
            (Misfit(key: "moment", value: "today"), "Unacceptable value today: it is of type String, not a date."),
            (Misfit(key: "tiny", value: 32_768), "Unacceptable value 32768: it does not fit into a 16-bit integer."),
            (Misfit(key: "big", value: 1.5), "Unacceptable value 1.5: it does not fit into a 64-bit integer."),
            (Misfit(key: "text", value: Optional(1)), "Unacceptable value 1: it is of type Int, not a string."),
        ])
    func words(_ misfit: Misfit, _ words: String) throws {
        try Scraps.run { context in
            let scrap = Scrap(context: context)
            scrap.setValue(misfit.value, forKey: misfit.key)
            var value: Any? = misfit.value
            let errors = [failure { try context.save() }, failure { try scrap.validateValue(&value, forKey: misfit.key) }]
            for error in errors { #expect(error?.localizedDescription.contains(words) == true, "\(String(describing: error))") }
        }
    }

    @Test("A right value, set by key, mends it")
    func mendedByKey() throws {
        try Scraps.run { context in
            let scrap = Scrap(context: context)
            scrap.setValue("one", forKey: "tiny")
            scrap.setValue(1, forKey: "tiny")
            try context.save()
            expect(scrap.value(forKey: "tiny") as? Int, equals: 1)
        }
    }

    @Test("A right value, set by the typed accessor, mends it")
    func mendedByAccessor() throws {
        try Scraps.run { context in
            let scrap = Scrap(context: context)
            scrap[Scrap.tinyProperty] = 5
            scrap.setValue("one", forKey: "tiny")
            expect(scrap[Scrap.tinyProperty], equals: 5)
            scrap[Scrap.tinyProperty] = 1
            try context.save()
            expect(scrap.value(forKey: "tiny") as? Int, equals: 1)
        }
    }

    @Test("A rollback drops it")
    func rollback() throws {
        try Scraps.run { context in
            let scrap = Scrap(context: context)
            try context.save()
            scrap.setValue("one", forKey: "tiny")
            context.rollback()
            scrap.setValue("text", forKey: "text")
            try context.save()
            #expect(!context.hasChanges)
        }
    }

    @Test("A typed accessor wider than its attribute is caught by the save")
    func wideAccessor() throws {
        try Scraps.run { context in
            let scrap = Scrap(context: context)
            scrap[Scrap.smallAsIntProperty] = Int(Int32.max) + 1
            let error = try #require(failure { try context.save() })
            expect(error.code, equals: NSManagedObjectValidationError)
            expect(error.key, equals: "small")
            scrap[Scrap.smallAsIntProperty] = Int(Int32.max)
            try context.save()
            expect(scrap[Scrap.smallProperty], equals: .max)
        }
    }

    @Test("No number, set by a typed accessor, is caught by the save")
    func notANumber() throws {
        try Scraps.run { context in
            let scrap = Scrap(context: context)
            scrap[Scrap.realProperty] = .nan
            let error = try #require(failure { try context.save() })
            expect(error.code, equals: NSManagedObjectValidationError)
            expect(error.key, equals: "real")
            scrap[Scrap.realProperty] = 0
            try context.save()
        }
    }

    @Test("One error lists several of them")
    func several() throws {
        try Scraps.run { context in
            let first = Scrap(context: context)
            let second = Scrap(context: context)
            first.setValue("one", forKey: "tiny")
            first.setValue("one", forKey: "big")
            second.setValue(1, forKey: "text")
            let error = try #require(failure { try context.save() })
            expect(error.code, equals: NSValidationMultipleErrorsError)
            expect(Set(error.parts.compactMap(\.key)), equals: ["tiny", "big", "text"])
            expect(error.parts.count, equals: 3)
        }
    }

    @Test("Nothing in a property that is not optional is an error of its own code")
    func missing() throws {
        try withMusic { context in
            let band = Band(context: context)
            let error = try #require(failure { try context.save() })
            expect(error.code, equals: NSValidationMissingMandatoryPropertyError)
            expect(error.key, equals: "name")
            band.name = ""
            try context.save()
        }
    }

    @Test("The counts of a to-many relationship are kept")
    func counts() throws {
        let team = NSEntityDescription(name: "Team")
        let player = NSEntityDescription(name: "Player")
        let players = NSRelationshipDescription(name: "players", destination: player, toMany: true, isOptional: false)
        players.minCount = 2
        players.maxCount = 3
        team.properties = [players]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [team, player]))
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = Music.context(coordinator)
        try context.performAndWait {
            let object = context.insert("Team")
            let all = (0..<4).map { _ in context.insert("Player") }
            for (count, code) in [(1, 1580), (4, 1590), (0, 1580)] {
                object.setValue(Set(all.prefix(count)), forKey: "players")
                expect(failure { try context.save() }?.code, equals: code, "\(count)")
            }
            object.setValue(Set(all.prefix(3)), forKey: "players")
            try context.save()
        }
    }
}
