import CoreData
import Testing

@Suite("Errors as Swift catches them") struct CocoaErrorTests {
    @Test("A failed save is caught by its code, and its user info is at hand")
    func codes() throws {
        try withMusic { context in
            let band = Band(context: context)
            do {
                try context.save()
                Issue.record("A band without a name was saved.")
            } catch let error as CocoaError where error.code == .validationMissingMandatoryProperty {
                #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "name")
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
