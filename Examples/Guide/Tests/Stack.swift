import CoreData
import Guide

/// A Core Data stack over a separate database.
struct Stack {
    let url: URL
    let database: XYZDatabase
    let coordinator: NSPersistentStoreCoordinator
    let store: XYZMyIncrementalStore

    /// Creates a stack.
    ///
    /// - Parameters:
    ///   - model: The model, which grows with the checkpoints.
    ///   - url: The URL of the database; the default is a new one.
    init(_ model: NSManagedObjectModel = GuideModel.oneEntity(), at url: URL = URL(string: "xyz://\(UUID().uuidString)")!) throws {
        XYZApplication.applicationDidFinishLaunching()
        self.url = url
        database = XYZDatabase.database(at: url)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        store =
            try coordinator.addPersistentStore(ofType: XYZMyIncrementalStore.storeType, configurationName: nil, at: url)
            as! XYZMyIncrementalStore
    }

    /// Returns a stack with another coordinator on the same database, like another process.
    func another(_ model: NSManagedObjectModel) throws -> Stack { try Stack(model, at: url) }

    func context() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Runs `body` in a new context.
    func run<Result>(_ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
        let context = context()
        return try context.performAndWait { try body(context) }
    }

    /// Inserts test data, and returns the keys in order.
    @discardableResult
    func populate() -> [String] {
        let people: [(String, Int64)] = [("Ada", 5200), ("Bo", 3100), ("Cleo", 4700), ("Dov", 3900)]
        return people.enumerated().map { index, person in
            let hired: XYZDatabase.Value = .date(Date(timeIntervalSince1970: Double(index) * 86_400 * 365))
            return database.populate("Employee", ["name": .text(person.0), "salary": .integer(person.1), "hired": hired])
        }
    }
}

extension NSManagedObjectContext {
    func employees(_ predicate: NSPredicate? = nil, by key: String? = nil) throws -> [Employee] {
        let request = NSFetchRequest<Employee>(entityName: "Employee")
        request.predicate = predicate
        request.sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: true)] }
        return try fetch(request)
    }

    func employee(_ name: String) throws -> Employee { try employees(NSPredicate(format: "name == %@", name))[0] }

    func department(_ name: String) throws -> Department {
        let request = NSFetchRequest<Department>(entityName: "Department")
        request.predicate = NSPredicate(format: "name == %@", name)
        return try fetch(request)[0]
    }
}

extension XYZMyIncrementalStore.Call {
    /// The objects registered by the call; none for other calls.
    var registeredIDs: [NSManagedObjectID] { if case .registered(let ids) = self { ids } else { [] } }
    /// The objects unregistered by the call; none for other calls.
    var unregisteredIDs: [NSManagedObjectID] { if case .unregistered(let ids) = self { ids } else { [] } }
}

/// Returns the error of `body`; nil when it throws none.
func failure(_ body: () throws -> Void) -> (any Error)? {
    do {
        try body()
        return nil
    } catch {
        return error
    }
}
