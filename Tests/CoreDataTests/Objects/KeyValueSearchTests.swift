import CoreData
import Foundation
import TestSupport
import Testing

/// An object with an answer of its own for keys that the model does not have.
private final class Reading: NSManagedObject {
    override func value(forUndefinedKey key: String) -> Any? { "no \(key)" }
    override func setValue(_ value: Any?, forUndefinedKey key: String) { setValue("\(key) = \(value ?? "nil")", forKey: "note") }
    override func setNilValueForKey(_ key: String) { setValue(-1, forKey: key) }
}

/// The rules by which key-value coding finds what a key means, as Apple documents them: accessors that begin with `set`, `get`, `is`, or with a capital letter.
@Suite("The search rules of key-value coding") struct KeyValueSearchTests {
    private func withReading(_ body: (Reading) throws -> Void) throws {
        let entity = NSEntityDescription(name: "Reading", managedObjectClass: Reading.self)
        entity.properties = [
            NSAttributeDescription(name: "date", type: .date), NSAttributeDescription(name: "note", type: .string),
            NSAttributeDescription(name: "isValid", type: .boolean),
            NSAttributeDescription(name: "level", type: .integer16, defaultValue: 1),
            NSAttributeDescription(name: "getAway", type: .string), NSAttributeDescription(name: "_raw", type: .string),
            NSAttributeDescription(name: "éclair", type: .string),
        ]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [entity]))
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = Music.context(coordinator)
        try context.performAndWait { try body(Reading(context: context)) }
    }

    @Test("A key that begins with the capital letter sets the property, whose setter has that letter")
    func capitals() throws {
        try withReading { reading in
            let date = Date(timeIntervalSinceReferenceDate: 1)
            reading.setValue(date, forKey: "Date")
            expect(reading.value(forKey: "date") as? Date, equals: date)
            reading.setValuesForKeys(["Note": "a", "Level": 5, "Éclair": "b"])
            expect(reading.value(forKey: "note") as? String, equals: "a")
            expect(reading.value(forKey: "level") as? Int, equals: 5)
            expect(reading.value(forKey: "éclair") as? String, equals: "b")
            reading.setValue("c", forKeyPath: "Note")
            expect(reading.value(forKey: "note") as? String, equals: "c")
            // Nil for a number goes by the method that a class may override.
            reading.setValue(nil, forKey: "Level")
            expect(reading.value(forKey: "level") as? Int, equals: -1)
            // Only the first letter.
            reading.setValue("x", forKey: "NOTE")
            expect(reading.value(forKey: "note") as? String, equals: "NOTE = x")
            reading.setValue("x", forKey: "")
            expect(reading.value(forKey: "note") as? String, equals: " = x")
        }
    }

    @Test("A value is found by the names that getters have: get, is, or an underscore before the key; a capital letter alone is none")
    func getters() throws {
        try withReading { reading in
            reading.setValuesForKeys(["isValid": true, "getAway": "far", "_raw": "r", "note": "n"])
            expect(reading.value(forKey: "valid") as? Bool, equals: true)
            expect(reading.value(forKey: "Valid") as? Bool, equals: true)
            expect(reading.value(forKey: "away") as? String, equals: "far")
            expect(reading.value(forKey: "raw") as? String, equals: "r")
            expect(reading.value(forKey: "Note") as? String, equals: "no Note")
            // There is no setter for them: `setValid:` is not that of `isValid`.
            reading.setValue(false, forKey: "valid")
            expect(reading.value(forKey: "note") as? String, equals: "valid = false")
        }
    }

    @Test("What every managed object has is found by key and at the end of a path")
    func ownProperties() async throws {
        try withMusic { context in
            let band = try context.saveBand("Low", albums: ["Trust"])
            #expect(band.value(forKey: "objectID") as? NSManagedObjectID === band.objectID)
            #expect(band.value(forKey: "entity") as? NSEntityDescription === band.entity)
            #expect(band.value(forKey: "managedObjectContext") as? NSManagedObjectContext === context)
            #expect(band.value(forKey: "self") as? Band === band)
            for key in ["isInserted", "inserted", "isDeleted", "updated", "fault", "isFault", "hasChanges", "hasPersistentChangedValues"] {
                expect(band.value(forKey: key) as? Bool, equals: false, "\(key)")
            }
            expect(band.value(forKey: "faultingState") as? Int, equals: 0)
            expect(band.value(forKey: "description") as? String, equals: band.description)
            expect(band.value(forKey: "hash") as? Int, equals: band.hash)
            let album = try #require(band.albums.first)
            #expect(album.value(forKeyPath: "band.objectID") as? NSManagedObjectID === band.objectID)
            expect(album.dictionaryWithValues(forKeys: ["objectID"])["objectID"] as? NSManagedObjectID, equals: album.objectID)
        }
        // They have no setters.
        await #expect(processExitsWith: .failure) { try withMusic { Band(context: $0).setValue(nil, forKey: "objectID") } }
    }
}
