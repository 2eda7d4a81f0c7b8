import CoreData
import TestSupport
import Testing

@Suite("Errors as Swift catches them") struct CocoaErrorTests {
    @Test("The codes of opening and migrating stores are those of the constants")
    func openingAndMigrating() {
        let codes: [(CocoaError.Code, Int)] = [
            (CocoaError.persistentStoreIncompatibleVersionHash, 134100), (CocoaError.persistentStoreTimeout, 134090),
            (CocoaError.migration, 134110), (CocoaError.migrationCancelled, 134120), (CocoaError.migrationMissingSourceModel, 134130),
            (CocoaError.migrationMissingMappingModel, 134140), (CocoaError.migrationManagerSourceStore, 134150),
            (CocoaError.migrationManagerDestinationStore, 134160), (CocoaError.entityMigrationPolicy, 134170), (CocoaError.sqlite, 134180),
            (CocoaError.inferredMappingModel, 134190), (CocoaError.externalRecordImport, 134200),
        ]
        for (code, number) in codes { expect(code.rawValue, equals: number) }
        let error = NSError(domain: NSCocoaErrorDomain, code: NSPersistentStoreIncompatibleVersionHashError)
        expect((error as? CocoaError)?.code, equals: .persistentStoreIncompatibleVersionHash)
    }

    @Test("A failed save is caught by its code, and its user info is at hand")
    func codes() throws {
        try withMusic { context in
            let band = Band(context: context)
            do {
                try context.save()
                Issue.record("A band without a name was saved.")
            } catch let error as CocoaError where error.code == .validationMissingMandatoryProperty {
                expect(error.userInfo[NSValidationKeyErrorKey] as? String, equals: "name")
                #expect(error.userInfo[NSValidationObjectErrorKey] as? Band === band)
            }
            do {
                try context.save()
                Issue.record("A band without a name was saved.")
            } catch CocoaError.validationMissingMandatoryProperty {
                #expect(context.hasChanges)
            }
        }
    }
}
