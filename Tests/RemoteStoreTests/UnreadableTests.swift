import CoreData
import Foundation
import RemoteStore
import TestSupport
import Testing

/// Single resources that a backend cannot read.
@Suite("Unreadable resources") struct UnreadableTests {
    /// A backend with a year that is no number.
    private struct Partly: Backend {
        let location = URL(string: "partly:")!
        let resources: [Resource]
        let mended = Guarded(false)

        init(_ policy: Resource.UnreadablePolicy) { resources = [Resource("Album", endpoints: [Endpoint("list")], unreadable: policy)] }

        func answer(_ request: BackendRequest) async throws -> BackendAnswer {
            var answer = request.answer()
            for (id, year) in [(1, "1969"), (2, mended.withValue { $0 } ? "1970" : "soon"), (3, "1971")] {
                try answer.addReadable(
                    id, raw: Data(year.utf8),
                    [
                        "title": .value(.string("Album \(id)")),
                        "year": Int64(year).map { .value(.int64($0)) } ?? .value(.string(year)),
                    ])
            }
            return answer
        }
    }

    private func context(_ backend: Partly, _ reports: Guarded<[UnreadableResource]>) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
        try coordinator.addRemoteStore(
            backend, options: RemoteStoreOptions(didFindUnreadable: { note in reports.withValue { $0.append(note) } }))
        return coordinator.context()
    }

    @Test("What is reported is left out of its page, and reaches whoever wants to know")
    func reported() throws {
        let reports = Guarded<[UnreadableResource]>([])
        let context = try context(Partly(.reported), reports)
        try expect(context.texts(fetchRequest("Album", by: ["title"])), equals: ["Album 1", "Album 3"])
        expect(reports.withValue { $0.map(\.id) }, equals: [.integer(2)])
        #expect(reports.withValue { $0.first?.raw } == Data("soon".utf8))
    }

    @Test("What is an error of its object is unknown to it, and what else could be read is there") func ownError() throws {
        let reports = Guarded<[UnreadableResource]>([])
        let backend = Partly(.ownError)
        let context = try context(backend, reports)
        try context.performAndWait {
            let albums = try context.fetch(fetchRequest("Album", by: ["title"]))
            expect(albums.map { $0.value(forKey: "title") as? String }, equals: ["Album 1", "Album 2", "Album 3"])
            expect(reports.withValue { $0.map(\.property) }, equals: ["year"])
            let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
            expect(albums.map { store.unreadableResource(of: $0.objectID)?.raw }, equals: [nil, Data("soon".utf8), nil])
            #expect(albums.map { $0.faultError == nil } == [true, false, true])
            expect(albums.map { $0.value(forKey: "year") as? Int }, equals: [1969, nil, 1971])
            #expect(failure { try context.save() } != nil)
            #expect(failure { _ = try context.texts(fetchRequest("Album", "year > 1")) } != nil)
            backend.mended.withValue { $0 = true }
            // A fetch brings the value, and the error ends.
            expect(try context.count(for: fetchRequest("Album", "year > 1")), equals: 3)
            #expect(store.unreadableResource(of: albums[1].objectID) == nil)
        }
    }

    @Test("What is refused fails the fetch, and the error names it")
    func refused() throws {
        let context = try context(Partly(.refused), Guarded([]))
        let error = try #require(failure { _ = try context.texts(fetchRequest("Album")) })
        for part in ["Album", "2", "year"] { #expect("\(error) \(error.localizedDescription)".contains(part), "\(error)") }
    }

    @Test("What is kept has the values that could be read, and the rest as it came")
    func keptRaw() throws {
        let reports = Guarded<[UnreadableResource]>([])
        let backend = Partly(.keptRaw)
        let context = try context(backend, reports)
        try context.performAndWait {
            let albums = try context.fetch(fetchRequest("Album", by: ["title"]))
            expect(albums.map { $0.value(forKey: "title") as? String }, equals: ["Album 1", "Album 2", "Album 3"])
            expect(albums.map { $0.value(forKey: "year") as? Int }, equals: [1969, nil, 1971])
            let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
            expect(albums.map { store.unreadableResource(of: $0.objectID)?.raw }, equals: [nil, Data("soon".utf8), nil])
            #expect(reports.withValue { !$0.isEmpty })
            // Once it can be read, nothing else is kept.
            backend.mended.withValue { $0 = true }
            context.refresh(albums[1], mergeChanges: false)
            expect(albums[1].value(forKey: "year") as? Int, equals: 1970)
            #expect(store.unreadableResource(of: albums[1].objectID) == nil)
        }
    }
}
