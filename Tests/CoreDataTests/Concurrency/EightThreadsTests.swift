import CoreData
import RandomPrograms
import TestSupport
import Testing

@Suite("Eight threads at once") struct EightThreadsTests {
    /// What the thread sanitizer is to see: everything that contexts share.
    @Test(
        "Children of two parents edit, undo, save and merge on eight threads, under every merge policy",
        arguments: [
            NSMergePolicy.error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
        ])
    func childrenOfTwoParents(_ policy: NSMergePolicy) async throws {
        let seed = TestSeed.current(for: "Eight threads, merge policy \(policy.mergeType)")
        let pad = try Scratchpad()
        let coordinator = try pad.coordinator(Music.model())
        let parents = (0..<2).map { _ in
            let parent = NSManagedObjectContext(.privateQueue)
            parent.persistentStoreCoordinator = coordinator
            parent.mergePolicy = policy
            parent.automaticallyMergesChangesFromParent = true
            return parent
        }
        try await parents[0].perform {
            for number in 0..<40 { Album(context: parents[0]).title = "Album \(number)" }
            try parents[0].save()
        }
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var random = SeededGenerator(seed: seed &+ UInt64(worker))
                    let child = NSManagedObjectContext(.privateQueue)
                    child.parent = parents[worker % 2]
                    child.mergePolicy = policy
                    child.automaticallyMergesChangesFromParent = worker % 4 < 2
                    await child.perform { child.undoManager = UndoManager() }
                    for _ in 0..<25 {
                        let choice = Int.random(in: 0..<8, using: &random)
                        let number = Int.random(in: 0..<40, using: &random)
                        await child.perform { Self.turn(child, choice, number) }
                        if choice == 7 {
                            let parent = parents[worker % 2]
                            await parent.perform { if (try? parent.save()) == nil { parent.rollback() } }
                        }
                    }
                }
            }
        }
        // However conflicts were resolved, every object can be read, and both ends agree.
        try await parents[1].perform {
            parents[1].rollback()
            parents[1].refreshAllObjects()
            let albums = try parents[1].fetch(NSFetchRequest<Album>(entityName: "Album"))
            #expect(
                albums.allSatisfy { album in album.tags.allSatisfy { ($0.value(forKey: "albums") as? Set<Album>)?.contains(album) ?? false }
                })
        }
    }

    private static func turn(_ context: NSManagedObjectContext, _ choice: Int, _ number: Int) {
        // A store that refuses something, or a conflict that nobody settles, is part of the game.
        let albums = (try? context.fetch(NSFetchRequest<Album>(entityName: "Album"))) ?? []
        guard !albums.isEmpty else { return }
        let album = albums[number % albums.count]
        switch choice {
        case 0: album.title += "."
        case 1: album.year = Int16(number)
        case 2: album.tags.insert(Tag(context: context))
        case 3: context.delete(album)
        case 4: context.undo()
        case 5: context.redo()
        case 6: context.refresh(album, mergeChanges: number % 2 == 0)
        default: if (try? context.save()) == nil { context.rollback() }
        }
    }
}
