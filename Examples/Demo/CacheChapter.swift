import CoreData
import Palettes
import SampleService

/// Shows a store that answers from its cache at once and is refreshed in the background.
struct CacheChapter {
    let service: SampleService
    let terminal: Terminal

    func run() async throws -> Count {
        terminal.chapter("A cache that answers at once")
        terminal.text("CachingIncrementalStore answers from a private coordinator and asks the service meanwhile, which now takes 300 ms.")

        CachingIncrementalStore.register()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: PaletteModel.make())
        let added = try coordinator.addPersistentStore(
            ofType: CachingIncrementalStore.storeType, configurationName: nil, at: service.baseURL)
        guard let store = added as? CachingIncrementalStore else { throw CocoaError(.coderInvalidValue) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let refreshes = refreshes(of: store)
        var arriving = refreshes.makeAsyncIterator()
        let before = service.requestCount()
        service.setDelay(.milliseconds(300))

        try await fetch("The first fetch finds an empty cache.", in: context)
        try check(await arriving.next())
        try await fetch("The next one finds what the refresh has brought.", in: context)
        try check(await arriving.next())

        let best = service.palettes[0]
        terminal.code("on the server: rename “\(best.title)”")
        try service.updatePalette(id: best.id, title: "Renamed Elsewhere")
        try await fetch("A fetch still answers at once, with the old name …", in: context)
        try check(await arriving.next())
        try await context.perform {
            try context.throwPendingFaultError()
            guard let object = (context.userInfo[Self.shownKey] as? [Palette])?.first else { return }
            terminal.note("… and the very same object now reads “\(object.name)”. Unsaved edits would have survived.")
        }
        service.setDelay(.zero)

        let statistics = store.statistics
        return Count(
            store: "CachingIncrementalStore", objects: statistics.objects, faults: statistics.cacheHits,
            requests: "\(service.requestCount() - before)", cacheHits: "\(statistics.cacheHits)")
    }

    private static let shownKey = "shown"

    /// Fetches the best palettes and prints them.
    private func fetch(_ comment: String, in context: NSManagedObjectContext) async throws {
        terminal.code("fetch Palette by rank, limit 4   // \(comment)")
        try await context.perform {
            let request = NSFetchRequest<Palette>(entityName: Palette.entityName)
            request.sortDescriptors = Palette.defaultSortDescriptors
            request.fetchLimit = 4
            let clock = ContinuousClock()
            let start = clock.now
            let palettes = try context.fetch(request)
            let milliseconds = (clock.now - start) / .milliseconds(1)
            for palette in palettes {
                let colors = palette.colors.map { "#\($0)" }.joined(separator: " ")
                terminal.row(("\(palette.rank).", 2), (palette.name, 20), (palette.username, 8), (colors, 0))
            }
            terminal.note("\(palettes.count) palettes after \((milliseconds * 10).rounded() / 10) ms")
            // Objects live while they are referenced; a table view would hold them like this.
            context.userInfo[Self.shownKey] = palettes
        }
    }

    /// Returns the refreshes of a store, in the order of their completion.
    private func refreshes(of store: CachingIncrementalStore) -> AsyncStream<CachingIncrementalStore.Refresh> {
        AsyncStream { continuation in
            nonisolated(unsafe) let observer = NotificationCenter.default.addObserver(
                forName: CachingIncrementalStore.didRefreshNotification, object: store, queue: nil
            ) { notification in
                if let refresh = CachingIncrementalStore.Refresh(notification) { continuation.yield(refresh) }
            }
            continuation.onTermination = { _ in NotificationCenter.default.removeObserver(observer) }
        }
    }

    private func check(_ refresh: CachingIncrementalStore.Refresh?) throws {
        if let error = refresh?.error { throw error }
        terminal.note("refreshed: \(refresh?.inserted.count ?? 0) new, \(refresh?.updated.count ?? 0) changed")
    }
}
