import CoreData
import Foundation
import LogStore
import Testing

@Suite("The file holds what was saved") struct FileTests {
    @Test("Wherever the file was cut off, every save is there wholly or not at all")
    func tornTails() throws {
        let shelf = try Shelf()
        var states: [(size: Int, content: [String])] = []
        let coordinator = try shelf.open()
        for number in 0..<4 {
            try Shelf.add((0..<number).map { "Book \(number).\($0)" }, to: "Shelf \(number)", in: coordinator)
            states.append((try Data(contentsOf: shelf.file).count, try Shelf.content(coordinator)))
        }
        try Shelf.close(coordinator)
        let whole = try Data(contentsOf: shelf.file)
        let cut = shelf.folder.appendingPathComponent("Cut.log")
        let first = states[0].size
        for size in first..<whole.count {
            try whole.prefix(size).write(to: cut)
            let opened = try shelf.open(cut)
            let expected = try #require(states.last { $0.size <= size })
            try #expect(Shelf.content(opened) == expected.content, "cut to \(size) of \(whole.count) bytes")
            // The next save is read again.
            if size % 37 == 0 {
                try Shelf.add(["New"], to: "Z", in: opened)
                try Shelf.close(opened)
                let again = try shelf.open(cut)
                try #expect(Shelf.content(again) == expected.content + ["Z: New 3"], "cut to \(size)")
                try Shelf.close(again)
            } else {
                try Shelf.close(opened)
            }
        }
    }

    @Test("Zeros behind the last save are dropped, and damage before it is told")
    func damage() throws {
        let shelf = try Shelf()
        var coordinator = try shelf.open()
        try Shelf.add(["One"], to: "A", in: coordinator)
        try Shelf.add(["Two"], to: "B", in: coordinator)
        let content = try Shelf.content(coordinator)
        try Shelf.close(coordinator)
        let whole = try Data(contentsOf: shelf.file)
        try (whole + Data(count: 500)).write(to: shelf.file)
        coordinator = try shelf.open()
        try #expect(Shelf.content(coordinator) == content)
        try Shelf.close(coordinator)
        try #expect(Data(contentsOf: shelf.file) == whole)

        let seed = ProcessInfo.processInfo.environment["COREDATA_TEST_SEED"].flatMap(UInt64.init) ?? .random(in: .min ... .max)
        var state = seed
        for _ in 0..<200 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            var altered = whole
            let place = Int(state >> 33) % whole.count
            altered[place] ^= UInt8(truncatingIfNeeded: state >> 20) | 1
            try altered.write(to: shelf.file)
            do {
                let opened = try shelf.open()
                // Only the end of the file may be taken for an incomplete save.
                let found = try Shelf.content(opened)
                #expect(content.starts(with: found), "COREDATA_TEST_SEED=\(seed), byte \(place): \(found)")
                try Shelf.close(opened)
            } catch let error as NSError {
                #expect(error.code == CocoaError.Code.fileReadCorruptFile.rawValue, "COREDATA_TEST_SEED=\(seed), byte \(place): \(error)")
            }
        }
        try Data("no store".utf8).write(to: shelf.file)
        #expect(failure { _ = try shelf.open() }?.code == CocoaError.Code.fileReadCorruptFile.rawValue)
    }

    @Test("A file that holds many replaced rows is rewritten, and numbers are not assigned twice")
    func compaction() throws {
        let shelf = try Shelf()
        let coordinator = try shelf.open([LogStore.leastRowsToCompactOption: 50])
        try Shelf.add(["Kept"], to: "A", in: coordinator)
        let context = Shelf.context(coordinator)
        var last: NSManagedObjectID?
        let largest = try context.performAndWait {
            var largest = 0
            for round in 0..<300 {
                let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                book.setValue("Round \(round)", forKey: "title")
                try context.save()
                last = book.objectID
                context.delete(book)
                try context.save()
                largest = max(largest, try Data(contentsOf: shelf.file).count)
            }
            return largest
        }
        #expect(largest < 16_000)
        let content = try Shelf.content(coordinator)
        let uuid = coordinator.persistentStores[0].identifier
        try Shelf.close(coordinator)
        let again = try shelf.open()
        try #expect(Shelf.content(again) == content)
        #expect(again.persistentStores[0].identifier == uuid)
        let gone = try #require(last?.uriRepresentation())
        let other = Shelf.context(again)
        try other.performAndWait {
            let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: other)
            try other.save()
            #expect(book.objectID.uriRepresentation() != gone)
        }
        try #expect(FileManager.default.contentsOfDirectory(atPath: shelf.folder.path) == ["Books.log"])
    }

    @Test("Metadata that a program sets are there the next time, and can be read without opening the store")
    func metadata() throws {
        let shelf = try Shelf()
        let coordinator = try shelf.open([LogStore.synchronizesOption: true])
        coordinator.persistentStores[0].metadata["colour"] = "green"
        try Shelf.add([], to: "A", in: coordinator)
        try Shelf.close(coordinator)
        let found = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: LogStore.storeType, at: shelf.file)
        #expect(found["colour"] as? String == "green")
        let again = try shelf.open()
        #expect(again.persistentStores[0].metadata["colour"] as? String == "green")
        again.persistentStores[0].metadata["bad"] = Shelf.self
        #expect(failure { try Shelf.add([], to: "B", in: again) }?.code == NSPersistentStoreSaveError)
        try #expect(Shelf.content(again) == ["A: "])
    }

    @Test("One coordinator has the file; a model of other properties is refused")
    func guards() throws {
        let shelf = try Shelf()
        let coordinator = try shelf.open()
        #expect(failure { _ = try shelf.open() }?.code == NSPersistentStoreOpenError)
        try Shelf.add(["One"], to: "A", in: coordinator)
        try Shelf.close(coordinator)
        let model = Shelf.model()
        model.entitiesByName["Book"]?.properties.append(NSAttributeDescription(name: "isbn", type: .string))
        let other = NSPersistentStoreCoordinator(managedObjectModel: model)
        let error = failure {
            try other.addPersistentStore(ofType: LogStore.storeType, configurationName: nil, at: shelf.file)
        }
        #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
        let reader = try shelf.open([NSReadOnlyPersistentStoreOption: true])
        try #expect(Shelf.content(reader) == ["A: One 3"])
        #expect(failure { try Shelf.add([], to: "B", in: reader) }?.code == NSPersistentStoreSaveError)
    }
}
