internal import CoreData

/// A store at its own place, with helpers for checks.
final class ConformanceRun {
    let roles: ConformanceRoles
    private let store: StoreUnderTest
    private let place: StorePlace
    private(set) var coordinator: NSPersistentStoreCoordinator

    convenience init(_ store: StoreUnderTest) throws { try self.init(store, at: StorePlace()) }

    init(_ store: StoreUnderTest, at place: StorePlace) throws {
        self.store = store
        roles = store.roles
        self.place = place
        coordinator = try store.open(place)
    }

    /// Opens the store again, as in a new run of a program.
    func reopen() throws {
        for opened in coordinator.persistentStores { try coordinator.remove(opened) }
        coordinator = try store.open(place)
    }

    var manyObjects: Int { store.manyObjects }

    var isDurable: Bool { store.capabilities.contains(.durable) }

    /// Returns a program that saves to the store until it is killed; nil for a store without one. The store is closed meanwhile.
    func startChild() throws -> Process? {
        guard let child = store.child else { return nil }
        for opened in coordinator.persistentStores { try coordinator.remove(opened) }
        return try child(place.directory)
    }

    /// Opens the store with a second coordinator, as another process does, and runs `body`. Returns false for a store that can be open in only one coordinator.
    func withOtherCoordinator(_ body: (NSPersistentStoreCoordinator) throws -> Void) throws -> Bool {
        guard let other = try? store.open(place) else { return false }
        defer { for opened in other.persistentStores { try? other.remove(opened) } }
        try body(other)
        return true
    }

    func context() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.parent = parent
        return context
    }

    /// Runs `body` in a new context, and again after reopening if the store is durable.
    func elsewhere(_ body: (NSManagedObjectContext) throws -> Void) throws {
        try inContext(body)
        guard store.capabilities.contains(.durable) else { return }
        try reopen()
        try inContext(body)
    }

    /// Returns the number of calls to the store during `body`; nil if it is unknown.
    func calls(during body: () throws -> Void) throws -> Int? {
        let before = store.callCount?(coordinator)
        try body()
        guard let before, let after = store.callCount?(coordinator) else { return nil }
        return after - before
    }

    /// Runs `body` in a new context.
    @discardableResult
    func inContext<Result>(_ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
        let context = context()
        return try context.performAndWait { try body(context) }
    }

    // MARK: Objects by role

    @discardableResult
    func addMember(
        _ name: String, _ number: Int = 0, to group: NSManagedObject? = nil, in context: NSManagedObjectContext
    ) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: roles.member, into: context)
        object.setValue(name, forKey: roles.memberName)
        object.setValue(number, forKey: roles.memberNumber)
        if let group { object.setValue(group, forKey: roles.memberGroup) }
        return object
    }

    @discardableResult
    func addGroup(_ name: String, members: [String] = [], in context: NSManagedObjectContext) -> NSManagedObject {
        let group = NSEntityDescription.insertNewObject(forEntityName: roles.group, into: context)
        group.setValue(name, forKey: roles.groupName)
        for member in members { addMember(member, to: group, in: context) }
        return group
    }

    @discardableResult
    func add(_ entity: String, _ values: [String: Any] = [:], in context: NSManagedObjectContext) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValuesForKeys(values)
        return object
    }

    /// Returns the members, fetched in the order of their names.
    func members(_ context: NSManagedObjectContext, _ predicate: NSPredicate? = nil) throws -> [NSManagedObject] {
        try all(roles.member, context, predicate, by: roles.memberName)
    }

    func groups(_ context: NSManagedObjectContext) throws -> [NSManagedObject] { try all(roles.group, context, nil, by: roles.groupName) }

    func all(
        _ entity: String, _ context: NSManagedObjectContext, _ predicate: NSPredicate? = nil, by key: String? = nil
    ) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = predicate
        request.sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: true)] }
        return try context.fetch(request)
    }

    func member(_ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        let found = try members(context, NSPredicate(format: "%K == %@", roles.memberName, name))
        guard found.count == 1 else { throw ConformanceFailure(description: "found \(found.count) members called \(name), not one") }
        return found[0]
    }

    func name(_ member: NSManagedObject) -> String? { member.value(forKey: roles.memberName) as? String }
    func number(_ member: NSManagedObject) -> Int? { member.value(forKey: roles.memberNumber) as? Int }
    func names(_ members: [NSManagedObject]) -> [String] { members.compactMap(name) }
    func memberNames(of group: NSManagedObject) -> [String] { related(group, roles.members).compactMap(name).sorted() }
    func groupName(of member: NSManagedObject) -> String? {
        (member.value(forKey: roles.memberGroup) as? NSManagedObject)?.value(forKey: roles.groupName) as? String
    }

    /// Returns the objects of a to-many relationship, ordered or not.
    func related(_ object: NSManagedObject, _ key: String) -> [NSManagedObject] {
        switch object.value(forKey: key) {
        case let set as Set<NSManagedObject>: Array(set)
        case let ordered as NSOrderedSet: ordered.array as? [NSManagedObject] ?? []
        default: []
        }
    }
}
