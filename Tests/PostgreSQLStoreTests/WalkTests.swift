#if PostgreSQL
import CoreData
import Foundation
import TestSupport
import Testing

@testable import PostgreSQLStore

@Suite("Walking a graph in PostgreSQL") struct WalkTests {
    @Test("A walk from 10,000 folders to their documents, one property after the other, takes at most 25 reads") func walk() async throws {
        let (folder, document) = (NSEntityDescription(name: "Folder"), NSEntityDescription(name: "Document"))
        let documents = NSRelationshipDescription(name: "documents", destination: document, toMany: true)
        let parent = NSRelationshipDescription(name: "folder", destination: folder)
        parent.inverse(to: documents)
        folder.properties = [NSAttributeDescription(name: "name", type: .string), documents]
        document.properties = [NSAttributeDescription(name: "size", type: .integer64), parent]
        let options = freshOptions()
        let coordinator = try await coordinator(options, NSManagedObjectModel(entities: [folder, document]))
        let kind = "(SELECT number FROM coredata_entities WHERE name ="
        try await rawPool(options).with { connection in
            try await connection.execute(
                """
                INSERT INTO folder (id, entity, version, name) SELECT n, \(kind) 'Folder'), 1, 'f' || n FROM generate_series(1, 10000) n;
                INSERT INTO document (id, entity, version, size, folder_id)
                    SELECT n, \(kind) 'Document'), 1, n, (n * 7919) % 10000 + 1 FROM generate_series(1, 10000) n;
                """)
        }
        let store = try #require(coordinator.persistentStores.first as? DatabaseStore)
        let context = context(coordinator)
        let before = store.content.statementCount
        let sum = try await context.perform {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Folder")).reduce(0) { sum, folder in
                (folder.value(forKey: "documents") as? Set<NSManagedObject> ?? []).reduce(sum) {
                    $0 + ($1.value(forKey: "size") as? Int ?? 0)
                }
            }
        }
        expect(sum, equals: 10_000 * 10_001 / 2)
        #expect(store.content.statementCount - before <= 25)
    }
}
#endif
