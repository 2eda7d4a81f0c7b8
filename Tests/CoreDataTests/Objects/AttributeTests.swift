import CoreData
import TestSupport
import Testing

@Suite("An attribute") struct AttributeTests {
    /// Sets a value, saves, and reads it back in the same context after a refresh, and in another context.
    private func roundTrip<Value: Equatable>(_ key: String, _ value: Value) throws {
        let coordinator = try Scraps.coordinator()
        let first = Music.context(coordinator)
        try first.performAndWait {
            let scrap = Scrap(context: first)
            scrap.setValue(value, forKey: key)
            expect(scrap.value(forKey: key) as? Value, equals: value)
            try first.save()
            expect(scrap.value(forKey: key) as? Value, equals: value)
            first.refresh(scrap, mergeChanges: false)
            #expect(scrap.isFault)
            expect(scrap.value(forKey: key) as? Value, equals: value)
        }
        let second = Music.context(coordinator)
        try second.performAndWait {
            let scraps = try second.all(Scrap.self)
            expect(scraps.map { $0.value(forKey: key) as? Value }, equals: [value])
        }
    }

    @Test("A 16-bit number comes back as it went in", arguments: [Int16.min, -1, 0, 1, .max])
    func integer16(_ value: Int16) throws { try roundTrip("tiny", value) }

    @Test("A 32-bit number comes back as it went in", arguments: [Int32.min, 0, .max])
    func integer32(_ value: Int32) throws { try roundTrip("small", value) }

    @Test("A 64-bit number comes back as it went in", arguments: [Int64.min, Int64(1) << 53 + 1, .max])
    func integer64(_ value: Int64) throws { try roundTrip("big", value) }

    @Test(
        "A double comes back as it went in",
        arguments: [
            Double.leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 0.1, .infinity,
        ])
    func double(_ value: Double) throws { try roundTrip("real", value) }

    @Test("A negative zero keeps its sign")
    func negativeZero() throws {
        try Scraps.run { context in
            let scrap = Scrap(context: context)
            scrap.setValue(-0.0, forKey: "real")
            try context.save()
            expect((scrap.value(forKey: "real") as? Double)?.sign, equals: .minus)
        }
    }

    @Test("A float comes back as it went in", arguments: [Float.leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1])
    func float(_ value: Float) throws { try roundTrip("single", value) }

    @Test(
        "A decimal of 38 digits keeps each of them",
        arguments: ["12345678901234567890123456789012345678", "-0.00000000000000000000000000000000000001", "0.1"])
    func decimal(_ text: String) throws {
        let value = try #require(Decimal(string: text))
        expect("\(value)", equals: text)
        try roundTrip("amount", value)
    }

    @Test(
        "A date before 1970, before 2001 or far ahead comes back", arguments: [-10_000_000_000.25, -1_000_000_000, 0, 63_113_904_000.125])
    func date(_ seconds: Double) throws { try roundTrip("moment", Date(timeIntervalSinceReferenceDate: seconds)) }

    @Test(
        "Text comes back whatever is in it", arguments: ["", "a", "👩‍👩‍👧‍👦 e\u{301}", "before\u{0}after", String(repeating: "ä", count: 100_000)])
    func text(_ value: String) throws {
        try roundTrip("text", value)
        try Scraps.run { context in
            let scrap = Scrap(context: context)
            scrap[Scrap.textProperty] = value
            try context.save()
            expect(scrap[Scrap.textProperty].map { Array($0.utf8) }, equals: Array(value.utf8))
        }
    }

    @Test("Bytes come back, none and half a megabyte", arguments: [0, 1, 15, 500_000])
    func bytes(_ count: Int) throws { try roundTrip("bytes", Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })) }

    @Test("Truth comes back", arguments: [true, false])
    func boolean(_ value: Bool) throws { try roundTrip("flag", value) }

    @Test("A UUID and a URL come back")
    func identifiers() throws {
        try roundTrip("key", UUID())
        try roundTrip("link", try #require(URL(string: "https://example.com/a%20b?c=%C3%A4#d")))
    }

    @Test("Anything comes back from a transformable attribute")
    func transformable() throws {
        try roundTrip("anything", ["one", "two"])
        try roundTrip("anything", ["a": 1])
    }

    @Test("Nil and a default value are two things, and both persist")
    func nilAndDefault() throws {
        let coordinator = try Scraps.coordinator()
        let first = Music.context(coordinator)
        let ids = try first.performAndWait {
            let untouched = Scrap(context: first)
            expect(untouched.value(forKey: "preset") as? String, equals: "preset")
            #expect(untouched.value(forKey: "text") == nil)
            let emptied = Scrap(context: first)
            emptied.setValue(nil, forKey: "preset")
            emptied.setValue("", forKey: "text")
            try first.save()
            return [untouched.objectID, emptied.objectID]
        }
        let second = Music.context(coordinator)
        try second.performAndWait {
            let scraps = try ids.map { try second.existingObject(with: $0) }
            expect(scraps[0].value(forKey: "preset") as? String, equals: "preset")
            #expect(scraps[1].value(forKey: "preset") == nil)
            #expect(scraps[0].value(forKey: "text") == nil)
            expect(scraps[1].value(forKey: "text") as? String, equals: "")
        }
    }

    @Test("Every type can be set to nil again")
    func backToNil() throws {
        try Scraps.run { context in
            let scrap = Scrap(context: context)
            let values: [String: Any] = [
                "tiny": 1, "small": 2, "big": 3, "amount": Decimal(4), "real": 5.0, "single": Float(6), "text": "7", "flag": true,
                "moment": Date(), "bytes": Data([8]), "key": UUID(), "link": URL(fileURLWithPath: "/9"), "anything": [10],
            ]
            scrap.setValuesForKeys(values)
            try context.save()
            for key in values.keys { #expect(scrap.value(forKey: key) != nil, "\(key)") }
            for key in values.keys { scrap.setValue(nil, forKey: key) }
            try context.save()
            context.refresh(scrap, mergeChanges: false)
            for key in values.keys { #expect(scrap.value(forKey: key) == nil, "\(key)") }
        }
    }

    @Test("Numbers of other types are taken where they fit exactly")
    func conversions() throws {
        try Scraps.run { context in
            let scrap = Scrap(context: context)
            scrap.setValue(UInt8(200), forKey: "tiny")
            scrap.setValue(NSNumber(value: 7.0), forKey: "small")
            scrap.setValue(3, forKey: "real")
            scrap.setValue(1, forKey: "flag")
            scrap.setValue(12, forKey: "amount")
            try context.save()
            expect(scrap.value(forKey: "tiny") as? Int, equals: 200)
            expect(scrap.value(forKey: "small") as? Int, equals: 7)
            expect(scrap.value(forKey: "real") as? Double, equals: 3)
            expect(scrap.value(forKey: "flag") as? Bool, equals: true)
            expect(scrap.value(forKey: "amount") as? Decimal, equals: 12)
        }
    }

    @Test("A transient attribute keeps its value in its context and reaches no other")
    func transient() throws {
        let coordinator = try Scraps.coordinator()
        let first = Music.context(coordinator)
        let kept = try first.performAndWait {
            let scrap = Scrap(context: first)
            scrap.setValue("draft", forKey: "draft")
            try first.save()
            expect(scrap.value(forKey: "draft") as? String, equals: "draft")
            scrap.setValue("second draft", forKey: "draft")
            #expect(!scrap.hasPersistentChangedValues)
            try first.save()
            expect(scrap.value(forKey: "draft") as? String, equals: "second draft")
            #expect(!first.hasChanges)
            return scrap
        }
        let second = Music.context(coordinator)
        try second.performAndWait {
            let scraps = try second.all(Scrap.self)
            expect(scraps.map { $0.value(forKey: "draft") == nil }, equals: [true])
        }
        withExtendedLifetime(kept) {}
    }
}
