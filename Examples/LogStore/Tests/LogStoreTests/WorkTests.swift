import CoreData
import Foundation
import LogStore
import Testing

@Suite("Batches, and work side by side") struct WorkTests {
    @Test("Batch requests are in the file, or change nothing")
    func batches() throws {
        let shelf = try Shelf()
        let coordinator = try shelf.open()
        try Shelf.add(["A", "B"], to: "S", in: coordinator)
        let context = Shelf.context(coordinator)
        try context.performAndWait {
            let insert = NSBatchInsertRequest(entityName: "Book", objects: (0..<1000).map { ["title": "Book \($0)", "pages": $0] })
            _ = try context.execute(insert)
            let update = NSBatchUpdateRequest(entityName: "Book")
            update.predicate = NSPredicate(format: "pages < 10")
            update.propertiesToUpdate = ["pages": 7]
            _ = try context.execute(update)
            let twice = NSBatchInsertRequest(entityName: "Book", objects: [["title": "New"], ["title": "A"]])
            #expect(failure { _ = try context.execute(twice) }?.code == NSManagedObjectConstraintMergeError)
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
            request.predicate = NSPredicate(format: "pages > 7")
            _ = try context.execute(NSBatchDeleteRequest(fetchRequest: request))
        }
        let titles = try Shelf.titles(coordinator)
        #expect(titles == ["A", "B"] + (0..<10).map { "Book \($0)" })
        try Shelf.close(coordinator)
        let again = try shelf.open()
        try #expect(Shelf.titles(again) == titles)
        try #expect(Shelf.content(again) == ["S: A 7, B 7"])
    }

    @Test("Readers beside a writer see each save wholly or not at all")
    func sideBySide() async throws {
        let shelf = try Shelf()
        let coordinator = try shelf.open([LogStore.leastRowsToCompactOption: 200])
        try Shelf.add((0..<20).map { "Book \($0)" }, to: "S", in: coordinator)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let context = Shelf.context(coordinator)
                try await context.perform {
                    let books = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
                    for round in 1...200 {
                        for book in books { book.setValue(round, forKey: "pages") }
                        try context.save()
                    }
                }
            }
            for _ in 0..<3 {
                group.addTask {
                    for _ in 0..<100 {
                        let context = Shelf.context(coordinator)
                        try await context.perform {
                            let request = NSFetchRequest<NSDictionary>(entityName: "Book")
                            request.resultType = .dictionaryResultType
                            request.propertiesToFetch = ["pages"]
                            request.returnsDistinctResults = true
                            let pages = try context.fetch(request)
                            #expect(pages.count == 1 || pages.count == 2 && pages.contains { $0["pages"] as? Int == 6 }, "\(pages)")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let content = try Shelf.content(coordinator)
        try Shelf.close(coordinator)
        try #expect(Shelf.content(shelf.open()) == content)
    }
}
