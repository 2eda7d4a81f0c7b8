import CoreData
import Testing

/// Random programs over two contexts of one store and a child of the first, which save, merge and refresh in any order, compared step by step
/// with graphs in plain dictionaries.
///
/// `COREDATA_TEST_SEED` repeats a run, `COREDATA_TEST_PROGRAMS` says how many programs one has.
@Suite("Random programs that merge") struct MergeProgramTests {
    static let programs = ProcessInfo.processInfo.environment["COREDATA_TEST_PROGRAMS"].flatMap(Int.init) ?? 300

    @Test(
        "Whatever is saved, merged and refreshed in whichever order, each context shows the store under its own changes",
        arguments: GraphStore.ofOneCoordinator)
    func agreement(_ store: GraphStore) throws {
        let seed = DifferentialTests.seed
        for program in 0..<Self.programs {
            let run = try MergeRun(seed: seed &+ UInt64(program) &* 7919, store)
            for turn in 0..<14 {
                do {
                    try run.turn()
                } catch {
                    Issue.record("seed \(seed), \(store), program \(program), turn \(turn): \(error)")
                    return
                }
                let difference = run.difference
                #expect(difference == nil, "seed \(seed), \(store), program \(program), turn \(turn): \(difference ?? "")")
                if difference != nil { return }
            }
        }
    }
}

/// What was done in one context since another graph was read: by the rules that a merge follows.
struct GraphChanges {
    private var inserted: [Int: ReferenceGraph.Node] = [:]
    private var deleted: Set<Int> = []
    private let written: Set<Written>
    private var changed: [Int: (before: ReferenceGraph.Node, after: ReferenceGraph.Node)] = [:]

    /// - Parameter written: the attributes that were set in between, also where they are back at what they were.
    init(from base: ReferenceGraph, to working: ReferenceGraph, written: Set<Written>) {
        self.written = written
        for (label, node) in working.nodes where base.nodes[label] == nil { inserted[label] = node }
        for label in base.nodes.keys where working.nodes[label] == nil { deleted.insert(label) }
        for (label, node) in working.nodes {
            if let before = base.nodes[label] { changed[label] = (before, node) }
        }
    }

    /// An attribute of a node that was set.
    struct Written: Hashable {
        enum Property { case name, number }
        let label: Int
        let property: Property
    }

    /// The same changes on top of another graph; what others have deleted is gone.
    func applied(to graph: ReferenceGraph) -> ReferenceGraph {
        var graph = graph
        for label in inserted.keys { graph.nodes[label] = ReferenceGraph.Node() }
        func living(_ label: Int?) -> Int? { label.flatMap { graph.nodes[$0] == nil ? nil : $0 } }
        let empty = ReferenceGraph.Node()
        let edits = inserted.mapValues { (before: empty, after: $0) }.merging(changed) { $1 }
        for (label, edit) in edits.sorted(by: { $0.key < $1.key }) where graph.nodes[label] != nil {
            let (before, after) = edit
            func isSet(_ property: Written.Property) -> Bool { written.contains(Written(label: label, property: property)) }
            if isSet(.name) { graph.nodes[label]!.name = after.name }
            if isSet(.number) { graph.nodes[label]!.number = after.number }
            if before.parent != after.parent { graph.setParent(of: label, to: living(after.parent)) }
            if before.next != after.next { graph.setNext(of: label, to: living(after.next)) }
            if before.previous != after.previous {
                if let previous = living(after.previous) {
                    graph.setNext(of: previous, to: label)
                } else if let previous = graph.nodes[label]!.previous {
                    graph.setNext(of: previous, to: nil)
                }
            }
            // What was added and removed stays added and removed, whatever others have added and removed.
            var likes = graph.nodes[label]!.likes
            likes.subtract(before.likes.subtracting(after.likes))
            likes.formUnion(after.likes.subtracting(before.likes).filter { living($0) != nil })
            graph.setLikes(of: label, to: likes)
        }
        for label in deleted where graph.nodes[label] != nil { graph.delete(label) }
        return graph
    }
}

/// One program.
private final class MergeRun {
    private struct Side {
        let context: NSManagedObjectContext
        /// What the context should show.
        var working = ReferenceGraph()
        /// What was stored when it last merged.
        var base = ReferenceGraph()
        /// What others have saved since.
        var notifications: [[AnyHashable: Any]] = []
        /// What was set since the last save.
        var written: Set<GraphChanges.Written> = []
        var changes: GraphChanges { GraphChanges(from: base, to: working, written: written) }
    }

    private var random: SeededGenerator
    private var stored = ReferenceGraph()
    private var sides: [Side] = []
    private let child = NSManagedObjectContext(.privateQueue)
    private var nextLabel = 0
    private(set) var difference: String?

    init(seed: UInt64, _ store: GraphStore) throws {
        random = SeededGenerator(seed: seed)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: ReferenceGraph.model(cascades: false))
        try store.add(to: coordinator)
        for _ in 0..<2 { sides.append(Side(context: Music.context(coordinator))) }
        // Objects that are held are the ones that can be stale.
        for side in sides { side.context.retainsRegisteredObjects = true }
        child.parent = sides[0].context
    }

    func turn() throws {
        let index = Int.random(in: 0...1, using: &random)
        let usesChild = index == 0 && Int.random(in: 0..<3, using: &random) == 0
        try sides[index].context.performAndWait {
            // What others have saved must not hide behind a fault that fires too early.
            if Bool.random(using: &random) { try merge(index) }
            if sides[index].notifications.isEmpty {
                if usesChild {
                    try workInChild()
                } else {
                    for _ in 0..<Int.random(in: 1...6, using: &random) { try step(index, in: sides[index].context) }
                }
                try compare(index, sides[index].context, "after its steps")
            }
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1: break
            case 2:
                sides[index].context.rollback()
                sides[index].working = sides[index].base
                sides[index].written = []
                try merge(index)
            default: try save(index)
            }
        }
    }

    /// The child does its part on the parent's state, and saves it there or drops it.
    private func workInChild() throws {
        try child.performAndWait {
            if Bool.random(using: &random) { child.reset() } else { child.refreshAllObjects() }
            let before = sides[0]
            for _ in 0..<Int.random(in: 1...4, using: &random) { try step(0, in: child) }
            try compare(0, child, "in the child")
            if Int.random(in: 0..<4, using: &random) == 0 {
                child.rollback()
                sides[0] = before
                try compare(0, child, "in the child after a rollback")
            } else {
                try child.save()
            }
        }
    }

    private func merge(_ index: Int) throws {
        let context = sides[index].context
        let waiting = sides[index].notifications
        sides[index].notifications = []
        for info in waiting {
            if Bool.random(using: &random) {
                NSManagedObjectContext.mergeChanges(fromRemoteContextSave: info, into: [context])
            } else {
                context.mergeChanges(
                    fromContextDidSave: Notification(name: NSManagedObjectContext.didSaveObjectIDsNotification, object: nil, userInfo: info)
                )
            }
        }
        if Int.random(in: 0..<6, using: &random) == 0 { context.refreshAllObjects() }
        sides[index].working = sides[index].changes.applied(to: stored)
        sides[index].base = stored
        // Where three parties compete for one place, the order in which they are looked at decides; both ends must agree all the same.
        let shown = try ReferenceGraph.read(context, cascades: false)
        if shown.isConsistent, shown.hasAttributes(of: sides[index].working) { sides[index].working = shown }
        try compare(index, context, "after merging \(waiting.count) saves")
    }

    private func save(_ index: Int) throws {
        nonisolated(unsafe) var info: [AnyHashable: Any]?
        let context = sides[index].context
        let token = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didSaveObjectIDsNotification, object: context, queue: nil
        ) { info = $0.userInfo }
        defer { NotificationCenter.default.removeObserver(token) }
        do {
            try context.save()
        } catch let error as NSError where error.code == NSManagedObjectMergeError {
            if sides[index].notifications.isEmpty { note("side \(index): a conflict where no one else has saved") }
            // After merging, there is none.
            try merge(index)
            try context.save()
        }
        let changes = sides[index].changes
        stored = changes.applied(to: stored)
        sides[index].written = []
        if let info { sides[1 - index].notifications.append(info) }
        // The saver still shows what it had read.
        if sides[index].notifications.isEmpty { sides[index].working = stored }
        sides[index].base = sides[index].working
        if !sides[index].notifications.isEmpty { try merge(index) } else { try compare(index, context, "after a save") }
        try compareStore(context.persistentStoreCoordinator!)
    }

    // MARK: Comparing

    private func note(_ text: String) { if difference == nil { difference = text } }

    private func compare(_ index: Int, _ context: NSManagedObjectContext, _ moment: String) throws {
        let shown = try ReferenceGraph.read(context, cascades: false)
        try report(shown, sides[index].working, "side \(index) \(moment)")
    }

    private func compareStore(_ coordinator: NSPersistentStoreCoordinator) throws {
        let context = Music.context(coordinator)
        try context.performAndWait { try report(try ReferenceGraph.read(context, cascades: false), stored, "the store") }
    }

    private func report(_ shown: ReferenceGraph, _ expected: ReferenceGraph, _ place: String) throws {
        guard let label = shown.changes(since: expected).sorted().first else { return }
        func text(_ node: ReferenceGraph.Node?) -> String { node.map { "\($0)" } ?? "none" }
        note("\(place), node \(label): shown \(text(shown.nodes[label])), expected \(text(expected.nodes[label]))")
    }

    // MARK: Steps

    private func object(_ label: Int, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
        request.predicate = NSPredicate(format: "label == %d", label)
        let found = try context.fetch(request)
        if found.count != 1 { note("\(found.count) objects of label \(label)") }
        return try found.first ?? { throw CocoaError(.featureUnsupported) }()
    }

    private func step(_ index: Int, in context: NSManagedObjectContext) throws {
        let labels = sides[index].working.nodes.keys.sorted()
        guard let label = labels.randomElement(using: &random), Int.random(in: 0..<5, using: &random) > 0 else {
            _ = context.insert("Node", ["label": nextLabel])
            sides[index].working.nodes[nextLabel] = ReferenceGraph.Node()
            nextLabel += 1
            return
        }
        let node = try object(label, context)
        let other = Int.random(in: 0..<4, using: &random) == 0 ? nil : labels.randomElement(using: &random)
        let target = try other.map { try object($0, context) }
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
            let name = "n\(Int.random(in: 0...9, using: &random))"
            node.setValue(name, forKey: "name")
            sides[index].working.nodes[label]!.name = name
            sides[index].written.insert(GraphChanges.Written(label: label, property: .name))
        case 1:
            let number = Int.random(in: -5...5, using: &random)
            node.setValue(number, forKey: "number")
            sides[index].working.nodes[label]!.number = number
            sides[index].written.insert(GraphChanges.Written(label: label, property: .number))
        case 2, 3:
            node.setValue(target, forKey: "parent")
            sides[index].working.setParent(of: label, to: other)
        case 4:
            node.setValue(target, forKey: "next")
            sides[index].working.setNext(of: label, to: other)
        case 5, 6:
            let group = Array(labels.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random)))
            node.setValue(Set(try group.map { try object($0, context) }), forKey: "likes")
            sides[index].working.setLikes(of: label, to: Set(group))
        default:
            context.delete(node)
            sides[index].working.delete(label)
        }
    }
}

extension ReferenceGraph {
    /// Whether both ends of every relationship agree.
    fileprivate var isConsistent: Bool {
        nodes.allSatisfy { label, node in
            (node.parent.map { nodes[$0]?.children.contains(label) ?? false } ?? true)
                && node.children.allSatisfy { nodes[$0]?.parent == label }
                && (node.next.map { nodes[$0]?.previous == label } ?? true)
                && (node.previous.map { nodes[$0]?.next == label } ?? true)
                && node.likes.allSatisfy { nodes[$0]?.likedBy.contains(label) ?? false }
                && node.likedBy.allSatisfy { nodes[$0]?.likes.contains(label) ?? false }
        }
    }

    /// Whether the same nodes are here, with the same attributes.
    fileprivate func hasAttributes(of other: ReferenceGraph) -> Bool {
        nodes.keys == other.nodes.keys
            && nodes.allSatisfy { $1.name == other.nodes[$0]?.name && $1.number == other.nodes[$0]?.number }
    }
}
