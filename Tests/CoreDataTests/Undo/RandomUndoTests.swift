import CoreData
import RandomPrograms
import TestSupport
import Testing

/// Random programs of changes, undos, redos and saves, compared after each step with a graph in plain dictionaries and a list of what it was.
@Suite("Random undo") struct RandomUndoTests {
    @Test(
        "The graph is what it was after every undo, and what it became after every redo, saved or not",
        arguments: GraphStore.ofOneCoordinator)
    func agreement(_ store: GraphStore) throws {
        let seed = TestSeed.current(for: "Random undo, \(store)")
        for program in TestRounds(seconds: 3.3, atLeast: 10) {
            guard try agree(store, seed: seed &+ UInt64(program)) else { return }
        }
    }

    /// Runs a program; returns whether the graph was always as it should be.
    private func agree(_ store: GraphStore, seed: UInt64) throws -> Bool {
        var run = try UndoRun(seed: seed, store)
        return try run.context.performAndWait {
            for turn in 0..<25 {
                let did = try run.turn()
                let difference = try run.difference()
                #expect(difference == nil, "COREDATA_TEST_SEED=\(seed), \(store), turn \(turn), \(did): \(difference ?? "")")
                if difference != nil { return false }
            }
            return true
        }
    }
}

private struct UndoRun {
    let context: NSManagedObjectContext
    private let manager = UndoManager()
    private var random: SeededGenerator
    private var graph: ReferenceGraph
    /// What the graph was before each group there is to undo, and what it was after each there is to redo.
    private var past: [ReferenceGraph] = []
    private var future: [ReferenceGraph] = []
    private var nextLabel = 0
    /// Each object by its label: an object that comes back must be the same instance.
    private var instances: [Int: NSManagedObject] = [:]

    init(seed: UInt64, _ store: GraphStore) throws {
        random = SeededGenerator(seed: seed)
        graph = ReferenceGraph(cascades: seed % 2 == 0)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: ReferenceGraph.model(cascades: graph.cascades))
        try store.add(to: coordinator)
        context = Music.context(coordinator)
        manager.groupsByEvent = false
        context.undoManager = manager
    }

    mutating func turn() throws -> String {
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<6:
            let before = graph
            let count = manager.undoCount
            manager.beginUndoGrouping()
            var names: [String] = []
            for _ in 0..<Int.random(in: 1...5, using: &random) { names.append(try step()) }
            manager.endUndoGrouping()
            if manager.undoCount > count {
                past.append(before)
                future = []
            }
            return names.joined(separator: ", ")
        case 6, 7, 8:
            guard let before = past.popLast() else { return "nothing" }
            future.append(graph)
            graph = before
            context.undo()
            return "undo"
        case 9:
            guard let after = future.popLast() else { return "nothing" }
            past.append(graph)
            graph = after
            context.redo()
            return "redo"
        default:
            try context.save()
            if Bool.random(using: &random) { context.refreshAllObjects() }
            return "save"
        }
    }

    func difference() throws -> String? {
        let shown = try ReferenceGraph.read(context, cascades: graph.cascades)
        for label in shown.changes(since: graph).sorted().prefix(1) {
            return "node \(label): shown \(shown.nodes[label].map { "\($0)" } ?? "none"), expected "
                + "\(graph.nodes[label].map { "\($0)" } ?? "none")"
        }
        for object in try context.all("Node") {
            let label = object.value(forKey: "label") as? Int ?? -1
            if instances[label] !== object { return "node \(label) is another instance" }
        }
        return nil
    }

    private mutating func some(_ labels: [Int]) -> [Int] {
        Array(labels.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random)))
    }

    private mutating func step() throws -> String {
        let labels = graph.nodes.keys.sorted()
        guard let label = labels.randomElement(using: &random), Int.random(in: 0..<5, using: &random) > 0 else { return insert() }
        let node = instances[label]!
        let other = Int.random(in: 0..<4, using: &random) == 0 ? nil : labels.randomElement(using: &random)
        let target = other.map { instances[$0]! }
        let group = some(labels)
        let members = group.map { instances[$0]! }
        switch Int.random(in: 0..<12, using: &random) {
        case 0:
            let name = Bool.random(using: &random) ? nil : "n\(Int.random(in: 0...9, using: &random))"
            node.setValue(name, forKey: "name")
            graph.nodes[label]!.name = name
            return "name of \(label)"
        case 1:
            let number = Int.random(in: -5...5, using: &random)
            node.setValue(number, forKey: "number")
            graph.nodes[label]!.number = number
            return "number of \(label)"
        case 2:
            node.setValue(target, forKey: "parent")
            graph.setParent(of: label, to: other)
            return "parent of \(label)"
        case 3:
            node.setValue(Set(members), forKey: "children")
            graph.setChildren(of: label, to: Set(group))
            return "children of \(label)"
        case 4:
            node.setValue(target, forKey: "next")
            graph.setNext(of: label, to: other)
            return "next of \(label)"
        case 5:
            target?.setValue(node, forKey: "previous")
            if let other { graph.setNext(of: label, to: other) }
            return "previous of \(other ?? -1)"
        case 6:
            node.setValue(Set(members), forKey: "likes")
            graph.setLikes(of: label, to: Set(group))
            return "likes of \(label)"
        case 7:
            node.setValue(NSOrderedSet(array: members), forKey: "queue")
            graph.setQueue(of: label, to: group)
            return "queue of \(label)"
        case 8:
            node.setValue(target, forKey: "queueOf")
            graph.setQueueOf(label, to: other)
            return "queueOf of \(label)"
        case 9:
            context.processPendingChanges()
            return "process"
        case 10:
            try context.save()
            return "save"
        default:
            context.delete(node)
            // What it cascades to must not be touched any more.
            context.processPendingChanges()
            graph.delete(label)
            return "delete \(label)"
        }
    }

    private mutating func insert() -> String {
        let label = nextLabel
        nextLabel += 1
        instances[label] = context.insert("Node", ["label": label])
        graph.nodes[label] = ReferenceGraph.Node()
        if Bool.random(using: &random), let parent = graph.nodes.keys.sorted().randomElement(using: &random) {
            instances[label]!.setValue(instances[parent], forKey: "parent")
            graph.setParent(of: label, to: parent)
        }
        return "insert \(label)"
    }
}
