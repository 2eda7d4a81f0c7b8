import CoreData
import TestSupport
import Testing

@Suite("Typed object IDs") struct TypedObjectIDTests {
    @Test("An ID crosses to another context and finds the object of its class there")
    func crossing() async throws {
        let coordinator = try Music.coordinator()
        let (first, second) = (Music.context(coordinator), Music.context(coordinator))
        let id = try await first.perform {
            let album = Album(context: first)
            album.title = "Trust"
            try first.save()
            return album.typedID
        }
        #expect(!id.isTemporary)
        let title = try await second.perform {
            #expect(second.registeredObject(for: id) == nil)
            let album: Album = second.object(with: id)
            #expect(second.registeredObject(for: id) === album)
            return try second.existingObject(with: id).title
        }
        expect(title, equals: "Trust")
    }

    @Test("An ID is typed only as the class of its entity or one above it")
    func typing() throws {
        try withMusic { context in
            let album = Album(context: context)
            try context.save()
            expect(TypedObjectID<Album>(album.objectID), equals: TypedObjectID(album))
            #expect(TypedObjectID<Band>(album.objectID) == nil)
            #expect(TypedObjectID<NSManagedObject>(album.objectID) != nil)
            expect(Set([TypedObjectID(album), album.typedID]).count, equals: 1)
        }
    }

    @Test("An ID is coded as its URI and decoded with a coordinator")
    func coding() throws {
        try withMusic { context in
            let album = Album(context: context)
            #expect(throws: EncodingError.self) { try JSONEncoder().encode([TypedObjectID(album)]) }
            try context.save()
            let data = try JSONEncoder().encode([TypedObjectID(album)])
            #expect(String(decoding: data, as: UTF8.self).contains("x-coredata:"))
            #expect(throws: DecodingError.self) { try JSONDecoder().decode([TypedObjectID<Album>].self, from: data) }
            let decoder = JSONDecoder()
            decoder.userInfo[.persistentStoreCoordinator] = context.persistentStoreCoordinator
            try expect(decoder.decode([TypedObjectID<Album>].self, from: data), equals: [TypedObjectID(album)])
            #expect(throws: DecodingError.self) { try decoder.decode([TypedObjectID<Band>].self, from: data) }
        }
    }
}
