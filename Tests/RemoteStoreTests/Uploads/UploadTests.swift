import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Large values") struct UploadTests {
    static let offline = NSError(domain: NSURLErrorDomain, code: NSURLErrorNotConnectedToInternet)
    let content = UploadWorld.bytes(300 << 10)

    @Test("A large value is sent in parts before its object, which gets what stands for it")
    func inParts() async throws {
        let world = try UploadWorld()
        let id = try world.insert(content)
        let parts = Guarded<[Int64]>([])
        world.server.state.withValue { $0.willTake = { offset in parts.withValue { $0.append(offset) } } }
        try expect(world.store.pendingChanges().first?.uploads.map(\.size), equals: [300 << 10])
        try await world.store.sendPending()
        expect(parts.withValue { $0 }, equals: [0, 65536, 131072, 196608, 262144])
        expect(world.server.content(), equals: content)
        try expect(world.store.pendingCount(), equals: 0)
        try expect(world.store.syncState(of: id), equals: .fresh)
        try expect(world.shown(id), equals: content)
    }

    @Test("An upload that is cut off goes on where the server has come to, after a restart too", arguments: [false, true])
    func goesOn(isRestarted: Bool) async throws {
        let world = try UploadWorld()
        try world.insert(content)
        // The third part arrives, and its answer is lost.
        world.server.state.withValue { $0.didTake = { count in if count > 180_000 { throw Self.offline } } }
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 1)
        try expect(world.store.status().uploadedBytes, equals: 131072)
        try expect(world.store.status().bytesToUpload, equals: 300 << 10)
        if isRestarted { try world.restart() }
        world.server.state.withValue { $0.didTake = nil }
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 0)
        expect(world.server.content(), equals: content)
        expect(world.server.state.withValue { $0.received }, equals: 300 << 10)
        expect(world.server.state.withValue { $0.uploads.count }, equals: 1)
    }

    @Test("It is not sent again when only other values change, nor when a refused object is sent again")
    func onlyOnce() async throws {
        let world = try UploadWorld(UploadServer(.init(sendsWholeObjects: true, isIdempotent: true, uploads: ["content"])))
        let id = try world.insert(content)
        world.server.shelf.scriptOutcomes { _ in .refused(ServiceFailure("too early")) }
        try await world.store.sendPending()
        try expect(world.store.syncState(of: id), equals: .failed)
        world.server.shelf.scriptOutcomes { _ in nil }
        try world.update(id, "title", "b")
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 0)
        try world.update(id, "title", "c")
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 0)
        expect(world.server.state.withValue { $0.received }, equals: 300 << 10)
        expect(world.server.content(), equals: content)
        expect(world.server.shelf.values("Photo", world.server.shelf.ids("Photo")[0])?["title"], equals: "c")
    }

    @Test("An upload that the server has forgotten begins anew, also where it is forgotten before the object is saved")
    func forgotten() async throws {
        let world = try UploadWorld()
        try world.insert(content)
        world.server.state.withValue { $0.didTake = { count in if count > 180_000 { throw Self.offline } } }
        try await world.store.sendPending()
        world.server.state.withValue { ($0.uploads, $0.didTake) = ([:], nil) }
        world.server.shelf.scriptOutcomes { _ in .refused(ForgottenUpload()) }
        try await world.store.sendPending()
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 1)
        world.server.state.withValue { $0.uploads = [:] }
        world.server.shelf.scriptOutcomes { _ in nil }
        for _ in 0..<3 { try await world.store.sendPending() }
        try expect(world.store.pendingCount(), equals: 0)
        expect(world.server.content(), equals: content)
    }

    @Test("A value that is replaced while it is on its way is given up, and the new one is sent")
    func replaced() async throws {
        let world = try UploadWorld()
        let id = try world.insert(content)
        try await world.store.sendPending()
        let other = UploadWorld.bytes(200 << 10, 9)
        let last = UploadWorld.bytes(150 << 10, 77)
        try world.update(id, "content", other)
        world.server.state.withValue { state in
            state.willTake = { [unowned world] offset in if offset == 65536 { try world.update(id, "content", last) } }
        }
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 0)
        expect(world.server.content(), equals: last)
        try expect(world.shown(id), equals: last)
    }

    @Test("A value that is given up is shown no more, also where a context has the object") func givenUpWhileHeld() async throws {
        let world = try UploadWorld()
        let id = try world.insert(content)
        try await world.store.sendPending()
        let context = try #require(world.context)
        let held = try await context.perform { QueueValue(try context.existingObject(with: id)) }
        try world.update(id, "content", UploadWorld.bytes(200 << 10, 9))
        try world.store.drop(id)
        try expect(world.shown(id), equals: content)
        withExtendedLifetime(held) {}
    }

    @Test("A value that is given up is read anew, and one that is removed is not uploaded")
    func givenUp() async throws {
        let world = try UploadWorld()
        let id = try world.insert(content)
        try await world.store.sendPending()
        try world.update(id, "content", UploadWorld.bytes(200 << 10, 9))
        try expect(world.store.drop(id), equals: [id])
        try expect(world.store.pendingCount(), equals: 0)
        let shown = try world.shown(id)
        expect(shown, equals: content, "\(shown?.count ?? -1) bytes, the first \(shown?.prefix(4).map { $0 } ?? [])")
        try world.update(id, "content", nil)
        try await world.store.sendPending()
        #expect(world.server.content() == nil)
        expect(world.server.shelf.ids("Photo").count, equals: 1)
        expect(world.server.state.withValue { $0.received }, equals: 300 << 10)
    }

    @Test("An object that is deleted while its value is on its way is not sent any more, and the rest of the value is not either")
    func deleted() async throws {
        let world = try UploadWorld()
        let id = try world.insert(content)
        world.server.state.withValue { state in
            state.willTake = { [unowned world] offset in
                guard offset == 65536 else { return }
                try world.context.performAndWait {
                    world.context.delete(world.context.object(with: id))
                    try world.context.save()
                }
            }
        }
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 0)
        #expect(world.server.shelf.ids("Photo").isEmpty)
        expect(world.server.state.withValue { $0.received }, equals: 131072)
    }

    @Test("A backend that counts wrongly is the reason why a value is not sent, and the object does not go without it")
    func miscounted() async throws {
        let world = try UploadWorld()
        let id = try world.insert(content)
        world.server.state.withValue { $0.miscounts = true }
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 1)
        try expect(world.store.error(of: id)?.localizedDescription.contains("content"), equals: true)
        #expect(world.server.shelf.ids("Photo").isEmpty)
        world.server.state.withValue { $0.miscounts = false }
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 0)
        expect(world.server.content(), equals: content)
    }

    @Test("What a read brings leaves a pending value alone, and the object is saved with it")
    func readMeanwhile() async throws {
        let world = try UploadWorld()
        let id = try world.insert(content)
        try await world.store.sendPending()
        let other = UploadWorld.bytes(200 << 10, 9)
        try world.update(id, "content", other)
        let resource = try #require(try world.store.resourceID(for: id))
        world.server.shelf.put("Photo", resource, ["title": "theirs", "content": .init(UploadWorld.bytes(120 << 10, 3))])
        let request = fetchRequest("Photo")
        request.cachePolicy = .networkOnly
        try expect(world.context.performAndWait { try world.context.fetch(request).count }, equals: 1)
        try expect(world.shown(id), equals: other)
        try await world.store.sendPending()
        expect(world.server.content(), equals: other)
        expect(world.server.shelf.values("Photo", resource)?["title"], equals: "theirs")
        try expect(world.store.pendingCount(), equals: 0)
    }

    @Test(
        "An upload goes on in a new version of the program, which calls the attribute otherwise, also where the cache is made anew",
        arguments: [false, true])
    func renamed(isRemade: Bool) async throws {
        let world = try UploadWorld()
        try world.insert(content)
        world.server.state.withValue { $0.didTake = { count in if count > 180_000 { throw Self.offline } } }
        try await world.store.sendPending()
        let later = UploadServer(
            .init(isIdempotent: true, uploads: ["image"]), UploadWorld.model(content: "image", isRemade: isRemade), name: "image")
        let uploads = world.server.state.withValue { $0.uploads }
        later.state.withValue { $0.uploads = uploads }
        try world.restart(later)
        try expect(world.store.status().uploadedBytes, equals: 131072)
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 0)
        expect(later.content(), equals: content)
        expect(later.state.withValue { $0.received }, equals: (300 << 10) - 3 * 65536)
    }

    @Test("An application sees how far an upload has come")
    func progress() async throws {
        let world = try UploadWorld()
        let id = try world.insert(content)
        let progress = try #require(try world.store.uploadProgress(of: id))
        let seen = Guarded<[Int64]>([])
        world.server.state.withValue { state in
            state.willTake = { [unowned world] _ in
                seen.withValue { $0.append(progress.completedUnitCount) }
                let isSending = try world.store.status().isSending
                #expect(isSending)
            }
        }
        try await world.store.sendPending()
        #expect(try !world.store.status().isSending)
        expect(seen.withValue { $0 }, equals: [0, 65536, 131072, 196608, 262144])
        #expect(progress.isFinished)
        #expect(try world.store.uploadProgress(of: id) == nil)
    }

    @Test("A store without a cache sends large values before their objects, too")
    func withoutCache() async throws {
        let server = UploadServer()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: UploadWorld.model())
        try coordinator.addRemoteStore(server)
        let context = coordinator.context()
        try context.performAndWait {
            let photo = NSEntityDescription.insertNewObject(forEntityName: "Photo", into: context)
            photo.setValue(content, forKey: "content")
            try context.save()
            photo.setValue("b", forKey: "title")
            try context.save()
        }
        expect(server.content(), equals: content)
        expect(server.state.withValue { $0.received }, equals: 300 << 10)
    }

    @Test("Uploads of attributes without external storage, and of backends that take none, are an error of the description")
    func mistakes() throws {
        let plain = UploadWorld.model(isExternal: false)
        #expect(throws: NSError.self) {
            try NSPersistentStoreCoordinator(managedObjectModel: plain).addCachedStore(
                UploadServer(.init(uploads: ["content"]), plain), at: nil)
        }
        let shelf = UploadServer().shelf
        #expect(throws: NSError.self) {
            try NSPersistentStoreCoordinator(managedObjectModel: UploadWorld.model()).addCachedStore(shelf, at: nil)
        }
    }
}
