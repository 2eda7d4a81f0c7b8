import CoreData
import PlainItems

/// The same item as a managed object.
final class Item: NSManagedObject {
    static let p0 = ManagedProperty<Int>("i0"), p1 = ManagedProperty<Int>("i1"), p2 = ManagedProperty<Int>("i2")
    static let p3 = ManagedProperty<Int>("i3"), p4 = ManagedProperty<Int>("i4")
    static let q0 = ManagedProperty<String>("t0"), q1 = ManagedProperty<String>("t1"), q2 = ManagedProperty<String>("t2")
    static let q3 = ManagedProperty<String>("t3"), q4 = ManagedProperty<String>("t4")
    var i0: Int {
        get { self[Self.p0] }
        set { self[Self.p0] = newValue }
    }
    var i1: Int {
        get { self[Self.p1] }
        set { self[Self.p1] = newValue }
    }
    var i2: Int {
        get { self[Self.p2] }
        set { self[Self.p2] = newValue }
    }
    var i3: Int {
        get { self[Self.p3] }
        set { self[Self.p3] = newValue }
    }
    var i4: Int {
        get { self[Self.p4] }
        set { self[Self.p4] = newValue }
    }
    var t0: String {
        get { self[Self.q0] }
        set { self[Self.q0] = newValue }
    }
    var t1: String {
        get { self[Self.q1] }
        set { self[Self.q1] = newValue }
    }
    var t2: String {
        get { self[Self.q2] }
        set { self[Self.q2] = newValue }
    }
    var t3: String {
        get { self[Self.q3] }
        set { self[Self.q3] = newValue }
    }
    var t4: String {
        get { self[Self.q4] }
        set { self[Self.q4] = newValue }
    }
}

/// The accessors as the plugin `ModelCompiler` generates them.
extension Item {
    var generated0: Int {
        get { return self[ManagedProperty<Int>("i0")] }
        set { self[ManagedProperty<Int>("i0")] = newValue }
    }
    var generated1: Int {
        get { return self[ManagedProperty<Int>("i1")] }
        set { self[ManagedProperty<Int>("i1")] = newValue }
    }
    var generated2: Int {
        get { return self[ManagedProperty<Int>("i2")] }
        set { self[ManagedProperty<Int>("i2")] = newValue }
    }
    var generated3: Int {
        get { return self[ManagedProperty<Int>("i3")] }
        set { self[ManagedProperty<Int>("i3")] = newValue }
    }
    var generated4: Int {
        get { return self[ManagedProperty<Int>("i4")] }
        set { self[ManagedProperty<Int>("i4")] = newValue }
    }
}

/// The values of one item.
struct Values {
    let i0, i1, i2, i3, i4: Int
    let t0, t1, t2, t3, t4: String

    static func make(_ count: Int) -> [Values] {
        let letters = "abcdefghijklmnopqrstuvwxyz".map(String.init)
        func padded(_ number: Int, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        // In random order, the same in every run.
        var state: UInt64 = 88_172_645_463_325_252
        func random() -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state >> 33)
        }
        return (1...count).map { n in
            let m = random()
            return Values(
                i0: n, i1: (n * 7919) % 100, i2: n % 1000, i3: (n &* n) & 0xffff_ffff, i4: n << 20,
                t0: letters[m % 26] + letters[(m / 26) % 4] + padded(m % 1_000_000, 6), t1: "City " + padded((n * 31337) % 100_000, 5),
                t2: "status-\(n % 5)", t3: "Some longer description text nr \(n)", t4: "user" + padded(n, 6) + "@example.com")
        }
    }

    /// Returns the values with another text.
    func with(t1: String) -> Values { Values(i0: i0, i1: i1, i2: i2, i3: i3, i4: i4, t0: t0, t1: t1, t2: t2, t3: t3, t4: t4) }

    func fill(_ item: PlainItem) {
        item.i0 = i0
        item.i1 = i1
        item.i2 = i2
        item.i3 = i3
        item.i4 = i4
        item.t0 = t0
        item.t1 = t1
        item.t2 = t2
        item.t3 = t3
        item.t4 = t4
    }

    func fill(_ item: Item) {
        item.i0 = i0
        item.i1 = i1
        item.i2 = i2
        item.i3 = i3
        item.i4 = i4
        item.t0 = t0
        item.t1 = t1
        item.t2 = t2
        item.t3 = t3
        item.t4 = t4
    }
}

/// Creates coordinators with an in-memory store.
enum Stack {
    static let model: NSManagedObjectModel = {
        let numbers = (0..<5).map { NSAttributeDescription(name: "i\($0)", type: .integer64) }
        let texts = (0..<5).map { NSAttributeDescription(name: "t\($0)", type: .string) }
        return NSManagedObjectModel(entities: [
            NSEntityDescription(name: "Item", managedObjectClass: Item.self, properties: numbers + texts)
        ])
    }()

    static func coordinator() throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        return coordinator
    }

    /// Returns a context for use on the main thread.
    static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.mainQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    static func filledContext(_ values: [Values]) throws -> NSManagedObjectContext {
        let context = context(try coordinator())
        for value in values { value.fill(Item(context: context)) }
        try context.save()
        return context
    }
}
