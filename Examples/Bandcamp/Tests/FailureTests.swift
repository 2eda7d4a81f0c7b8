import Bandcamp
import CoreData
import Foundation
import SampleService
import Testing

@Suite("When Bandcamp fails") struct FailureTests {
    private let sideditch = NSPredicate(format: "name == 'Sideditch'")

    @Test("An HTTP error is thrown by the fetch, with the address and the status") func httpStatus() async throws {
        let stack = try await Stack()
        stack.service.failNext(status: 503)
        let error = try #require(await stack.errorOfFetch(sideditch))
        #expect(error.domain == BandCampErrorDomain)
        #expect(error.code == BandCampErrorCode.status.rawValue)
        let address = "\(stack.service.baseURL)/api/band/3/search?name=Sideditch"
        #expect(
            error.localizedDescription == "GET \(address) failed. The service answered with HTTP status 503: planned failure.")
        #expect((error.userInfo[NSURLErrorKey] as? URL)?.absoluteString == address)
        #expect(await stack.errorOfFetch(sideditch) == nil)
    }

    @Test("An answer that is cut off is thrown as malformed, with the parser's error below it") func malformedAnswer() async throws {
        let stack = try await Stack()
        stack.service.answerMalformed()
        let error = try #require(await stack.errorOfFetch(sideditch))
        #expect(error.code == BandCampErrorCode.malformedAnswer.rawValue)
        #expect(error.localizedDescription.hasSuffix("/api/band/3/search?name=Sideditch failed. The answer is not a JSON object."))
        #expect(error.userInfo[NSUnderlyingErrorKey] is NSError)
    }

    @Test("A service that is gone is thrown as unreachable, and works again once it is back") func outage() async throws {
        let stack = try await Stack()
        await stack.service.stop()
        let error = try #require(await stack.errorOfFetch(sideditch))
        #expect(error.code == BandCampErrorCode.unreachable.rawValue)
        #expect(error.localizedDescription.contains("No answer came: "))
        try await stack.service.restart()
        #expect(await stack.errorOfFetch(sideditch) == nil)
    }

    @Test("An answer that does not come in time is an error") func timeout() async throws {
        let service = try await SampleService.start()
        service.setDelay(.seconds(3000))
        let api = BandCampAPI(baseURL: service.baseURL, timeout: 1)
        // The call waits, so it must not be made on a thread that the service needs.
        let error = await withCheckedContinuation { asked in
            Thread.detachNewThread {
                asked.resume(returning: #expect(throws: NSError.self) { _ = try api.apiDiscographyForBand(withId: 2_721_182_224) })
            }
        }
        // On a busy machine the time may be over before the service has seen the request, so its log tells nothing.
        #expect(error?.code == BandCampErrorCode.unreachable.rawValue)
        #expect(error?.localizedDescription.contains("/api/band/3/discography") == true)
        await service.stop()
    }

    @Test("A relationship that cannot be read is empty, and its object and the next save say why") func failingRelationship() async throws {
        let stack = try await Stack()
        let context = stack.context
        try await context.perform {
            let band = try #require(try context.fetch(Band.self, sideditch).first)
            stack.service.failNext(path: "/api/band/3/discography", status: 500)
            #expect(band.discography.isEmpty)
            #expect(band.faultError != nil)
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.domain == BandCampErrorDomain)
            #expect(error?.localizedDescription.contains("/api/band/3/discography?band_id=2721182224") == true)

            context.refresh(band, mergeChanges: false)
            #expect(band.discography.count == 2)
            try context.throwPendingFaultError()
        }
    }

    @Test("An object that Bandcamp does not know is missing, not an error of the service") func missingObject() async throws {
        let stack = try await Stack()
        let text = try await stack.context.perform {
            try #require(try stack.context.fetch(Band.self, sideditch).first).objectID.uriRepresentation().absoluteString
        }
        let unknown = try #require(URL(string: text.replacingOccurrences(of: "2721182224", with: "12")))
        let error = await #expect(throws: NSError.self) {
            try await stack.context.perform {
                let id = try #require(stack.coordinator.managedObjectID(forURIRepresentation: unknown))
                _ = try stack.context.existingObject(with: id)
            }
        }
        #expect(error?.domain == NSCocoaErrorDomain)
        #expect(error?.code == NSManagedObjectReferentialIntegrityError)
    }

    @Test("The store is read-only: saving a change or a new object throws and sends nothing") func saving() async throws {
        let stack = try await Stack()
        let context = stack.context
        try await context.perform {
            let band = try #require(try context.fetch(Band.self, sideditch).first)
            band.name = "Ditchside"
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.code == NSPersistentStoreSaveError)
            #expect(context.hasChanges)
            context.rollback()
            #expect(band.name == "Sideditch")

            let album = Album(context: context)
            album.title = "Never"
            #expect(throws: NSError.self) { try context.save() }
        }
        #expect(stack.asked.count == 1)
    }

    @Test("A store without an address cannot be opened") func noAddress() {
        BandCampIS.register()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: BandcampModel.make())
        let error = #expect(throws: NSError.self) {
            try coordinator.addPersistentStore(ofType: BandCampIS.storeType, configurationName: nil, at: nil)
        }
        #expect(error?.localizedDescription.contains("Add it with the URL of the service") == true)
    }
}

extension Stack {
    /// Returns the error of fetching bands.
    fileprivate func errorOfFetch(_ predicate: NSPredicate) async -> NSError? {
        await context.perform {
            do {
                _ = try context.fetch(Band.self, predicate)
                return nil
            } catch {
                return error as NSError
            }
        }
    }
}
