import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// A backend whose answers are late: something happens after it has looked, and before its answer arrives.
private struct LateBackend: Backend {
    let inner: ScriptedBackend
    let meanwhile: @Sendable (BackendRequest) async throws -> Void
    var location: URL { inner.location }
    var resources: [Resource] { inner.resources }

    func answer(_ request: BackendRequest) async throws -> BackendAnswer {
        let answer = try await inner.answer(request)
        try await meanwhile(request)
        return answer
    }

    func save(_ changes: [BackendChange]) async throws -> [BackendChange.Key: BackendOutcome] { try await inner.save(changes) }
}

/// Two stores over one file, as two processes have them: one has changes of albums to send, and sends one whenever the other has asked for albums and
/// has no answer yet.
private struct SharedFile {
    enum Edit: CaseIterable { case insert, delete, change, move }
    enum Question: CaseIterable { case fetch, relationship }

    let sender: CachedStore
    private let writer: NSManagedObjectContext
    private let reader: NSManagedObjectContext
    /// How many more changes the backend takes.
    private let allowed = Guarded(0)

    private static func model() -> NSManagedObjectModel {
        let (band, album) = (NSEntityDescription(name: "Band"), NSEntityDescription(name: "Album"))
        let albums = NSRelationshipDescription(name: "albums", destination: album, toMany: true)
        let albumBand = NSRelationshipDescription(name: "band", destination: band)
        albums.inverse(to: albumBand)
        band.properties = [NSAttributeDescription(name: "name", type: .string), albums]
        album.properties = [
            NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "year", type: .integer64), albumBand,
        ]
        return NSManagedObjectModel(entities: [band, album])
    }

    init(_ place: URL) throws {
        let model = Self.model()
        let resources = CachedShop.resources(model).map { resource in
            var resource = resource
            resource.saving = .init(isIdempotent: true)
            return resource
        }
        let backend = ScriptedBackend(model, resources)
        backend.put("Band", 1, ["name": "Beatles"])
        backend.put("Band", 2, ["name": "Blur"])
        for id in 1...6 {
            let band = ResourceValue.one(ResourceReference(.integer(id > 3 ? 2 : 1)))
            backend.put("Album", id, ["title": .value(.string("\(id)")), "year": .value(.int64(1990)), "band": band])
        }
        var options = CachedStoreOptions(defaultPolicy: .networkOnly)
        options.sendsAutomatically = false
        let senders = NSPersistentStoreCoordinator(managedObjectModel: model)
        let sender = try senders.addCachedStore(backend, at: place, options: options)
        let allowed = allowed
        backend.scriptSaves { _ in
            allowed.withValue { left in
                left -= 1
                return left >= 0 ? .answer : .fail(ServiceFailure("offline"))
            }
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        let late = LateBackend(inner: backend) { request in
            guard request.entity == "Album" else { return }
            allowed.withValue { $0 = 1 }
            try await sender.sendPending()
        }
        try coordinator.addCachedStore(late, at: place, options: options)
        (self.sender, writer, reader) = (sender, senders.context(), coordinator.context())
    }

    /// Makes changes, which stay pending. Returns the titles that the first band has then.
    func edit(_ edit: Edit) async throws -> [String] {
        let context = writer
        return try await context.perform {
            let band = try #require(try context.fetch(fetchRequest("Band", "name == 'Beatles'")).first)
            let albums = try context.fetch(fetchRequest("Album")).sorted { $0.text("title") < $1.text("title") }
            switch edit {
            case .insert:
                for number in 7...10 {
                    let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
                    album.setValuesForKeys(["title": "\(number)", "year": 1990, "band": band])
                }
            case .delete: for album in albums.prefix(3) { context.delete(album) }
            case .change: for album in albums { album.setValue("\(album.text("title"))+", forKey: "title") }
            case .move: for album in albums.suffix(3) { album.setValue(band, forKey: "band") }
            }
            try context.save()
            return (band.value(forKey: "albums") as? Set<NSManagedObject> ?? []).map { $0.text("title") }.sorted()
        }
    }

    /// Returns the titles that the first band has for the other process.
    func titles(_ question: Question) async throws -> [String] {
        let reader = reader
        return try await reader.perform {
            reader.refreshAllObjects()
            let band = try #require(try reader.fetch(fetchRequest("Band", "name == 'Beatles'")).first)
            let albums: any Collection<NSManagedObject> =
                switch question {
                case .fetch: try reader.fetch(fetchRequest("Album", "band.name == 'Beatles'"))
                case .relationship: band.value(forKey: "albums") as? Set<NSManagedObject> ?? []
                }
            return albums.map { $0.text("title") }.sorted()
        }
    }
}

extension NSManagedObject {
    fileprivate func text(_ key: String) -> String { value(forKey: key) as? String ?? "" }
}

@Suite("Changes that another process settles while something is asked for") struct SettledElsewhereTests {
    @Test(
        "Neither what is asked for nor what is read later lacks what was pending when it was asked for, or has what was deleted",
        arguments: SharedFile.Edit.allCases, SharedFile.Question.allCases)
    fileprivate func everyAnswer(_ edit: SharedFile.Edit, _ question: SharedFile.Question) async throws {
        let scratch = try ScratchFolder("cache")
        defer { scratch.remove() }
        let world = try SharedFile(scratch.file("cache.sqlite"))
        let expected = try await world.edit(edit)
        for round in 0..<3 {
            try await expect(world.titles(question), equals: expected, "read \(round)")
        }
        try expect(world.sender.pendingCount(), equals: 0)
        try await expect(world.titles(question), equals: expected, "once nothing is pending")
    }
}
