import CoreData
import Foundation
import PlainItems

/// Measures work on an object graph at three sizes: the cost of each object must not grow with their number.
enum ObjectGraph {
    /// A piece of work that is timed at several sizes.
    private struct Work {
        let name: String
        var sizes = [10_000, 30_000, 100_000]
        /// Prepares a size. Returns the code to time, which returns the number of objects it has processed.
        let prepare: (Int) throws -> () throws -> Int
    }

    /// Prints the CPU time per object at each size, and its ratio to the first: the best of several rounds, which run the sizes in turn.
    static func run(rounds: Int, filter: String?) throws {
        print("\nCPU time an object at three sizes, and its ratio to the first")
        for work in works where filter.map(work.name.contains) ?? true {
            var best = Array(repeating: Double.infinity, count: work.sizes.count)
            for _ in 0..<rounds {
                for (index, size) in work.sizes.enumerated() {
                    let body = try work.prepare(size)
                    let start = clock()
                    let objects = try body()
                    let elapsed = Double(clock() - start) / Double(CLOCKS_PER_SEC)
                    best[index] = min(best[index], elapsed * 1e9 / Double(objects))
                    // Prepared objects are released outside of the clock.
                    withExtendedLifetime(body) {}
                }
            }
            print("  \(work.name)")
            for (size, time) in zip(work.sizes, best) {
                print(String(format: "    %9d  %8.0f ns  %6.2f", size, time, time / best[0]))
            }
        }
    }

    private static var works: [Work] {
        [
            // More objects exceed the processor's caches: the effect on plain objects shows its share of the other ratios.
            Work(name: "edit objects of a final class, for comparison") { count in
                let items = Values.make(count).map { value in
                    let item = PlainItem()
                    value.fill(item)
                    return item
                }
                return {
                    for round in 1...10 { for item in items { item.i1 = -round } }
                    return count * 10
                }
            },
            Work(name: "insert children with an inverse, ten a parent") { count in
                let context = try FamilyStack.context()
                return {
                    try FamilyStack.fill(context, count: count)
                    context.processPendingChanges()
                    return count
                }
            },
            Work(name: "insert and save them") { count in
                let context = try FamilyStack.context()
                return {
                    try FamilyStack.fill(context, count: count)
                    try context.save()
                    return count
                }
            },
            Work(name: "edit saved objects in two events") { count in
                let items = try savedItems(count)
                return {
                    for round in 1...2 {
                        for item in items { item.i1 = -round }
                        items[0].managedObjectContext?.processPendingChanges()
                    }
                    return count * 2
                }
            },
            Work(name: "edit under undo") { count in
                let items = try savedItems(count)
                items[0].managedObjectContext?.undoManager = UndoManager()
                return {
                    for item in items { item.i1 = -1 }
                    items[0].managedObjectContext?.processPendingChanges()
                    return count
                }
            },
            Work(name: "undo the edits") { count in
                let items = try savedItems(count)
                guard let context = items[0].managedObjectContext else { throw Wrong(what: "There is no context.") }
                context.undoManager = UndoManager()
                let before = items[count / 2].i1
                for item in items { item.i1 = -1 }
                context.processPendingChanges()
                return {
                    context.undo()
                    if items[count / 2].i1 != before { throw Wrong(what: "The undo has not brought the value back.") }
                    return count
                }
            },
            Work(name: "merge a tenth as many changes into a context that shows all", prepare: prepareMerge),
            Work(
                name: "one change in a fetched results controller of so many rows", sizes: [1_000, 10_000, 100_000],
                prepare: prepareResults),
            Work(name: "fetch results in sections") { count in try prepareSections(count, cacheName: nil) },
            Work(name: "fetch results in sections, with a cache") { count in try prepareSections(count, cacheName: "benchmark") },
            Work(name: "save, without validation rules") { count in try prepareSave(count, hasRules: false) },
            Work(name: "save, with three validation rules") { count in try prepareSave(count, hasRules: true) },
        ]
    }

    private static func savedItems(_ count: Int) throws -> [Item] {
        let context = try Stack.filledContext(Values.make(count))
        // The objects do not retain their context; it is kept until the next replaces it.
        shown = context
        return try items(in: context)
    }

    nonisolated(unsafe) private static var shown: NSManagedObjectContext?

    private static func items(in context: NSManagedObjectContext) throws -> [Item] {
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.returnsObjectsAsFaults = false
        return try context.fetch(request)
    }

    // MARK: Merging

    private static func prepareMerge(_ count: Int) throws -> () throws -> Int {
        let writer = try Stack.filledContext(Values.make(count))
        guard let coordinator = writer.persistentStoreCoordinator else { throw Wrong(what: "There is no coordinator.") }
        let reader = Stack.context(coordinator)
        let items = try items(in: reader)
        let ids = stride(from: 0, to: count, by: 10).map { items[$0].objectID }
        for id in ids { (writer.object(with: id) as? Item)?.i1 = -1 }
        let note = Note()
        let token = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: writer, queue: nil) {
            note.notification = $0
        }
        try writer.save()
        NotificationCenter.default.removeObserver(token)
        return {
            guard let notification = note.notification else { throw Wrong(what: "The save was not announced.") }
            reader.mergeChanges(fromContextDidSave: notification)
            if items[0].i1 != -1 || items[1].i1 == -1 { throw Wrong(what: "The merge has not brought the values.") }
            return withExtendedLifetime(writer) { ids.count }
        }
    }

    /// Collects the contents of a notification.
    // Used on the main thread only: notifications are posted there.
    private final class Note: @unchecked Sendable {
        var notification: Notification?
    }

    // MARK: Fetched results

    private final class Delegate: NSFetchedResultsControllerDelegate {
        var count = 0
        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
            for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
        ) { count += 1 }
    }

    private static func prepareResults(_ count: Int) throws -> () throws -> Int {
        let context = try Stack.filledContext(Values.make(count))
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.sortDescriptors = [NSSortDescriptor(key: "t0", ascending: true)]
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        let delegate = Delegate()
        controller.delegate = delegate
        try controller.performFetch()
        let items = try items(in: context)
        let changes = 1000
        // The first change determines the methods that the delegate implements.
        items[0].t0 = "a"
        context.processPendingChanges()
        let before = delegate.count
        return {
            for number in 0..<changes {
                items[number &* 7919 % count].t0 = "m\(number &* 104_729 % 1_000_000)"
                context.processPendingChanges()
            }
            if delegate.count - before < changes { throw Wrong(what: "The delegate was told of \(delegate.count - before) changes.") }
            return withExtendedLifetime(controller) { changes }
        }
    }

    private static func prepareSections(_ count: Int, cacheName: String?) throws -> () throws -> Int {
        let writer = try Stack.filledContext(Values.make(count))
        guard let coordinator = writer.persistentStoreCoordinator else { throw Wrong(what: "There is no coordinator.") }
        func results(_ context: NSManagedObjectContext) throws -> NSFetchedResultsController<Item> {
            let request = NSFetchRequest<Item>(entityName: "Item")
            request.sortDescriptors = [NSSortDescriptor(key: "i1", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "i1", cacheName: cacheName)
            try controller.performFetch()
            return controller
        }
        // For another store the cache is useless, and deleted with it.
        if let cacheName { NSFetchedResultsController<Item>.deleteCache(withName: cacheName) }
        let sections = try results(Stack.context(coordinator)).sections?.count
        let context = Stack.context(coordinator)
        return {
            if try results(context).sections?.count != sections { throw Wrong(what: "The sections are not those of before.") }
            return withExtendedLifetime(writer) { count }
        }
    }

    // MARK: Validation

    private static func prepareSave(_ count: Int, hasRules: Bool) throws -> () throws -> Int {
        let numbers = (0..<5).map { NSAttributeDescription(name: "i\($0)", type: .integer64) }
        let texts = (0..<5).map { NSAttributeDescription(name: "t\($0)", type: .string) }
        if hasRules {
            numbers[1].isOptional = false
            numbers[1].setValidationPredicates(
                [NSPredicate(format: "SELF >= 0"), NSPredicate(format: "SELF < 100")], withValidationWarnings: nil)
            texts[0].setValidationPredicates([NSPredicate(format: "length <= 20")], withValidationWarnings: nil)
        }
        let model = NSManagedObjectModel(entities: [
            NSEntityDescription(name: "Item", managedObjectClass: Item.self, properties: numbers + texts)
        ])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = Stack.context(coordinator)
        for value in Values.make(count) { value.fill(Item(context: context)) }
        context.processPendingChanges()
        return {
            try context.save()
            return count
        }
    }

    struct Wrong: Error, CustomStringConvertible {
        let what: String
        var description: String { what }
    }
}

/// A parent with children.
final class Parent: NSManagedObject {
    static let nameProperty = ManagedProperty<String>("name")
    var name: String {
        get { self[Self.nameProperty] }
        set { self[Self.nameProperty] = newValue }
    }
}

/// A child with a parent.
final class Child: NSManagedObject {
    static let numberProperty = ManagedProperty<Int>("number")
    static let parentProperty = ManagedProperty<Parent?>("parent")
    var number: Int {
        get { self[Self.numberProperty] }
        set { self[Self.numberProperty] = newValue }
    }
    var parent: Parent? {
        get { self[Self.parentProperty] }
        set { self[Self.parentProperty] = newValue }
    }
}

/// Parents and children, in memory.
enum FamilyStack {
    static let model: NSManagedObjectModel = {
        let parent = NSEntityDescription(
            name: "Parent", managedObjectClass: Parent.self, properties: [NSAttributeDescription(name: "name", type: .string)])
        let child = NSEntityDescription(
            name: "Child", managedObjectClass: Child.self, properties: [NSAttributeDescription(name: "number", type: .integer64)])
        let children = NSRelationshipDescription(name: "children", destination: child, toMany: true)
        let back = NSRelationshipDescription(name: "parent", destination: parent)
        children.inverse(to: back)
        parent.properties.append(children)
        child.properties.append(back)
        return NSManagedObjectModel(entities: [parent, child])
    }()

    static func context() throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        return Stack.context(coordinator)
    }

    /// Inserts `count` children, and one parent for each ten.
    static func fill(_ context: NSManagedObjectContext, count: Int) throws {
        var parent: Parent?
        for number in 0..<count {
            if number % 10 == 0 {
                parent = Parent(context: context)
                parent?.name = "Parent"
            }
            let child = Child(context: context)
            child.number = number
            child.parent = parent
        }
        guard parent?.mutableSetValue(forKey: "children").count == min(count, 10) else {
            throw ObjectGraph.Wrong(what: "The parent does not know its children.")
        }
    }
}
