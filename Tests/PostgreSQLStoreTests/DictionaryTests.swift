#if PostgreSQL
import CoreData
import Foundation
import PostgreSQLStore
import TestSupport
import Testing

@Suite("Dictionaries of PostgreSQL") struct DictionaryTests {
    /// Items of owners, who are persons or companies.
    private static func model() -> NSManagedObjectModel {
        let owner = NSEntityDescription(name: "Owner")
        let (person, company) = (NSEntityDescription(name: "Person"), NSEntityDescription(name: "Company"))
        let item = NSEntityDescription(name: "Item")
        let items = NSRelationshipDescription(name: "items", destination: item, toMany: true)
        let itsOwner = NSRelationshipDescription(name: "owner", destination: owner)
        itsOwner.inverse(to: items)
        owner.properties = [NSAttributeDescription(name: "name", type: .string), items]
        owner.subentities = [person, company]
        item.properties = [
            NSAttributeDescription(name: "rank", type: .integer64), NSAttributeDescription(name: "made", type: .date), itsOwner,
        ]
        return NSManagedObjectModel(entities: [owner, person, company, item])
    }

    /// A person with two items, a company with one, and a person without.
    private static func filled() async throws -> NSManagedObjectContext {
        let context = context(try await coordinator(freshOptions(), model()))
        try await context.perform {
            for (entity, name, ranks) in [("Person", "Ann", [1, 2]), ("Company", "Ink", [3]), ("Person", "Bob", [])] {
                let owner = context.insert(entity, ["name": name])
                for rank in ranks {
                    context.insert("Item", ["rank": rank, "made": Date(timeIntervalSinceReferenceDate: 0), "owner": owner])
                }
            }
            try context.save()
        }
        return context
    }

    private static func column(_ name: String, _ format: String) -> NSExpressionDescription {
        let column = NSExpressionDescription()
        column.name = name
        column.expression = NSExpression(format: format)
        return column
    }

    @Test("Objects that a to-one relationship groups by are of their own entity") func groupsOfObjects() async throws {
        let context = try await Self.filled()
        let found = try await context.perform {
            let request = NSFetchRequest<NSDictionary>(entityName: "Item")
            request.resultType = .dictionaryResultType
            request.propertiesToGroupBy = ["owner"]
            request.propertiesToFetch = ["owner", Self.column("sum", "sum:(rank)")]
            return try context.fetch(request).map { group in
                let owner = try context.existingObject(with: #require(group["owner"] as? NSManagedObjectID))
                return "\(owner.entity) \(owner.value(forKey: "name") ?? "") \(group["sum"] ?? "")"
            }
        }
        expect(Set(found), equals: ["Person Ann 3", "Company Ink 3"])
    }

    @Test("Distinct dictionaries are sorted by the number of objects of a relationship") func distinctCounts() async throws {
        let context = try await Self.filled()
        let found = try await context.perform {
            let request = NSFetchRequest<NSDictionary>(entityName: "Owner")
            request.resultType = .dictionaryResultType
            request.returnsDistinctResults = true
            request.propertiesToFetch = ["items.@count"]
            request.sortDescriptors = [NSSortDescriptor(key: "items.@count", ascending: false)]
            return try context.fetch(request).map { $0["items.@count"] as? Int ?? -1 }
        }
        expect(found, equals: [2, 1, 0])
    }

    @Test("A date that is moved beyond those of PostgreSQL is an error, and never another date") func distantDates() async throws {
        let context = try await Self.filled()
        try await context.perform {
            let request = NSFetchRequest<NSDictionary>(entityName: "Item")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [Self.column("later", "made + 86400")]
            let later = try context.fetch(request).compactMap { $0["later"] as? Date }
            expect(later, equals: Array(repeating: Date(timeIntervalSinceReferenceDate: 86400), count: 3))
            request.propertiesToFetch = [Self.column("later", "made + 1e15")]
            let error = #expect(throws: NSError.self) { try context.fetch(request) }
            expect(error?.code, equals: NSPersistentStoreUnsupportedRequestTypeError)
            #expect(error?.localizedDescription.contains("“later”") ?? false)
        }
    }
}
#endif
