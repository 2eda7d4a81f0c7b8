import Bandcamp
import CoreData
import SampleService

/// Shows a failing service: the error reaches the caller.
struct FailureChapter {
    let service: SampleService
    let terminal: Terminal

    func run() async throws {
        terminal.chapter("When the service fails")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: BandcampModel.make())
        try coordinator.addPersistentStore(ofType: BandCampIS.storeType, configurationName: nil, at: service.baseURL)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator

        service.failNext(path: "/api/band", status: 503)
        await attempt(NSPredicate(format: "name == 'Rue Royale'"), in: context)
        terminal.text("\n    A question that the service cannot answer is refused before it is asked:")
        await attempt(NSPredicate(format: "subdomain BEGINSWITH 'rue'"), in: context)
        await attempt(NSPredicate(format: "name == 'Rue Royale'"), in: context)
    }

    /// Fetches bands, and prints their number or the error.
    private func attempt(_ predicate: NSPredicate, in context: NSManagedObjectContext) async {
        terminal.code("fetch Band where \(predicate.formatString)")
        await context.perform {
            let request = NSFetchRequest<Band>(entityName: "Band")
            request.predicate = predicate
            do {
                let bands = try context.fetch(request)
                terminal.note("found: \(bands.map(\.name).joined(separator: ", "))")
            } catch {
                terminal.error((error as NSError).localizedDescription)
            }
        }
    }
}
