#if PostgreSQL
import CoreData
import Foundation
import TestSupport
import Testing

@testable import PostgreSQLStore

@Suite("Upserts to PostgreSQL") struct UpsertTests {
    private static func model() -> NSManagedObjectModel {
        let count = NSAttributeDescription(name: "count", type: .integer32)
        count.defaultValue = 7
        let parcel = NSEntityDescription(
            name: "Parcel",
            properties: [NSAttributeDescription(name: "code", type: .string), NSAttributeDescription(name: "note", type: .string), count])
        let (owner, parts) = (
            NSRelationshipDescription(name: "owner", destination: parcel),
            NSRelationshipDescription(name: "parts", destination: parcel, toMany: true)
        )
        owner.inverse(to: parts)
        parcel.properties += [owner, parts]
        parcel.uniquenessConstraints = [["code"]]
        return NSManagedObjectModel(entities: [parcel])
    }

    private static func stored(_ coordinator: NSPersistentStoreCoordinator) async throws -> [String] {
        let context = context(coordinator)
        return try await context.perform {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Parcel")).map {
                "\($0.value(forKey: "code") ?? "") \($0.value(forKey: "note") ?? "") \($0.value(forKey: "count") ?? "")"
            }
        }
    }

    @Test("set what the program has set and nothing else, at any depth of child contexts", arguments: 0...3)
    func depths(_ depth: Int) async throws {
        let coordinator = try await coordinator(freshOptions(), Self.model())
        var contexts = [context(coordinator)]
        try await contexts[0].perform { [root = contexts[0]] in
            root.insert("Parcel", ["code": "a", "note": "kept", "count": 3])
            try root.save()
            root.reset()
        }
        for _ in 0..<depth {
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = contexts.last
            contexts.append(child)
        }
        for (index, context) in contexts.enumerated().reversed() {
            try await context.perform {
                context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                if index == depth { context.insert("Parcel", ["code": "a"]) }
                try context.save()
            }
        }
        try await expect(Self.stored(coordinator), equals: ["a kept 3"])
    }

    @Test("A reference to an object in no context is an error that names both") func danglingReference() async throws {
        let coordinator = try await coordinator(freshOptions(), Self.model())
        let context = context(coordinator)
        try await context.perform {
            let owner = context.insert("Parcel", ["code": "a"])
            let part = NSManagedObject(entity: owner.entity, insertInto: nil)
            part.setValue("b", forKey: "code")
            owner.setValue(Set([part]), forKey: "parts")
            do {
                try context.save()
                Issue.record("The save succeeds.")
            } catch let error as NSError {
                expect(error.code, equals: NSManagedObjectValidationError)
                expect(error.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject] ?? [], equals: [owner, part])
            }
            context.insert(part)
            try context.save()
        }
        try await expect(Self.stored(coordinator).sorted(), equals: ["a  7", "b  7"])
    }
}
#endif
