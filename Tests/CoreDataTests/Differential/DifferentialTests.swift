import CoreData
import RandomPrograms
import TestSupport
import Testing

/// Random programs in two contexts of one store, compared step by step with a graph in plain dictionaries.
@Suite("Random programs") struct DifferentialTests {
    @Test("The framework and the naive graph agree after every turn", arguments: GraphStore.allCases)
    func agreement(_ store: GraphStore) throws {
        let first = TestSeed.current(for: "Random programs, \(store)")
        for program in TestRounds(seconds: 10, atLeast: 10) {
            let seed = first &+ UInt64(program)
            let run = try ProgramRun(seed: seed, store)
            for turn in 0..<12 {
                try run.turn()
                let difference = run.difference
                #expect(difference == nil, "COREDATA_TEST_SEED=\(seed), \(store), turn \(turn): \(difference ?? "")")
                if difference != nil { return }
            }
        }
    }
}

/// One program: what is stored, and what each context works on.
private final class ProgramRun {
    private struct Side {
        let context: NSManagedObjectContext
        /// What the context should show.
        var working: ReferenceGraph
        /// What was stored when it last caught up.
        var base: ReferenceGraph
        /// How many saves there had been then.
        var savesSeen = 0
        var isDirty = false
    }

    private let pad: Scratchpad
    private var random: SeededGenerator
    private var stored: ReferenceGraph
    private var sides: [Side]
    private var nextLabel = 0
    private var saves = 0
    private(set) var difference: String?

    init(seed: UInt64, _ store: GraphStore) throws {
        pad = try Scratchpad()
        random = SeededGenerator(seed: seed)
        stored = ReferenceGraph(cascades: seed % 2 == 0)
        let (graph, cascades) = (stored, stored.cascades)
        sides = try store.contexts(2, in: pad.url) { ReferenceGraph.model(cascades: cascades) }
            .map { Side(context: $0, working: graph, base: graph) }
    }

    /// One context catches up, works, compares, and saves, rolls back or leaves its changes pending.
    func turn() throws {
        let index = Int.random(in: 0...1, using: &random)
        try sides[index].context.performAndWait {
            if sides[index].savesSeen == saves || !sides[index].isDirty {
                if !sides[index].isDirty { catchUp(index) }
                for _ in 0..<Int.random(in: 1...8, using: &random) { try step(index) }
                try compare(index, "after its steps")
            }
            switch Int.random(in: 0..<6, using: &random) {
            case 0: break
            case 1:
                sides[index].context.rollback()
                sides[index].isDirty = false
                catchUp(index)
                try compare(index, "after a rollback")
            default: try save(index)
            }
        }
    }

    private func catchUp(_ index: Int) {
        if Bool.random(using: &random) { sides[index].context.reset() } else { sides[index].context.refreshAllObjects() }
        sides[index].working = stored
        sides[index].base = stored
        sides[index].savesSeen = saves
    }

    private func save(_ index: Int) throws {
        let side = sides[index]
        do {
            try side.context.save()
        } catch let error as NSError where error.code == NSManagedObjectMergeError {
            if side.savesSeen == saves { note("side \(index): a conflict where no one else has saved") }
            side.context.rollback()
            sides[index].isDirty = false
            catchUp(index)
            return try compare(index, "after a conflict")
        }
        // Nothing that the other has changed in the meantime may be lost.
        let mine = side.working.changes(since: side.base)
        let lost = mine.intersection(stored.changes(since: side.base))
        if !lost.isEmpty { note("side \(index): the save overwrote \(lost)") }
        for label in mine { stored.nodes[label] = side.working.nodes[label] }
        if sides[index].isDirty { saves += 1 }
        sides[index].isDirty = false
        catchUp(index)
        try compare(index, "after a save")
    }

    private func note(_ text: String) { if difference == nil { difference = text } }

    private func compare(_ index: Int, _ moment: String) throws {
        let side = sides[index]
        let shown = try ReferenceGraph.read(side.context, cascades: stored.cascades)
        for label in shown.changes(since: side.working).sorted().prefix(1) {
            note(
                "side \(index) \(moment), node \(label): shown \(shown.nodes[label].map { "\($0)" } ?? "none"), "
                    + "expected \(side.working.nodes[label].map { "\($0)" } ?? "none")")
        }
        try compareFetch(index)
    }

    /// A fetch with predicate, order, limit and offset.
    private func compareFetch(_ index: Int) throws {
        let bound = Int.random(in: -5...5, using: &random)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
        request.predicate = NSPredicate(format: "number >= %d", bound)
        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: false), NSSortDescriptor(key: "label", ascending: true)]
        request.fetchLimit = Int.random(in: 0...4, using: &random)
        request.fetchOffset = Int.random(in: 0...2, using: &random)
        let found = try sides[index].context.fetch(request).compactMap { $0.value(forKey: "label") as? Int }
        var expected = sides[index].working.nodes.filter { $0.value.number >= bound }
            .sorted { ($1.value.number, $0.key) < ($0.value.number, $1.key) }.map(\.key)
        expected = Array(expected.dropFirst(request.fetchOffset))
        if request.fetchLimit > 0 { expected = Array(expected.prefix(request.fetchLimit)) }
        if found != expected { note("side \(index), \(request.predicate!): found \(found), expected \(expected)") }
        let count = try sides[index].context.count(for: request)
        if count != expected.count { note("side \(index): counted \(count), expected \(expected.count)") }
    }

    // MARK: Steps

    private func object(_ label: Int, _ index: Int) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
        request.predicate = NSPredicate(format: "label == %d", label)
        let found = try sides[index].context.fetch(request)
        if found.count != 1 { note("side \(index): \(found.count) objects of label \(label)") }
        return try found.first ?? { throw CocoaError(.featureUnsupported) }()
    }

    private func some(_ labels: [Int]) -> [Int] {
        Array(labels.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random)))
    }

    private func step(_ index: Int) throws {
        let labels = sides[index].working.nodes.keys.sorted()
        guard let label = labels.randomElement(using: &random), Int.random(in: 0..<6, using: &random) > 0 else { return insert(index) }
        let node = try object(label, index)
        let other = Int.random(in: 0..<4, using: &random) == 0 ? nil : labels.randomElement(using: &random)
        let target = try other.map { try object($0, index) }
        let group = some(labels)
        let members = try group.map { try object($0, index) }
        sides[index].isDirty = true
        switch Int.random(in: 0..<11, using: &random) {
        case 0:
            let name = Bool.random(using: &random) ? nil : "n\(Int.random(in: 0...9, using: &random))"
            node.setValue(name, forKey: "name")
            sides[index].working.nodes[label]!.name = name
        case 1:
            let number = Int.random(in: -5...5, using: &random)
            node.setValue(number, forKey: "number")
            sides[index].working.nodes[label]!.number = number
        case 2:
            node.setValue(target, forKey: "parent")
            sides[index].working.setParent(of: label, to: other)
        case 3:
            node.setValue(Set(members), forKey: "children")
            sides[index].working.setChildren(of: label, to: Set(group))
        case 4:
            node.setValue(target, forKey: "next")
            sides[index].working.setNext(of: label, to: other)
        case 5:
            target?.setValue(node, forKey: "previous")
            if let other { sides[index].working.setNext(of: label, to: other) }
        case 6:
            node.setValue(Set(members), forKey: "likes")
            sides[index].working.setLikes(of: label, to: Set(group))
        case 7:
            node.setValue(NSOrderedSet(array: members), forKey: "queue")
            sides[index].working.setQueue(of: label, to: group)
        case 8:
            node.setValue(target, forKey: "queueOf")
            sides[index].working.setQueueOf(label, to: other)
        case 9:
            sides[index].context.refresh(node, mergeChanges: true)
        default:
            sides[index].context.delete(node)
            sides[index].working.delete(label)
        }
    }

    private func insert(_ index: Int) {
        let label = nextLabel
        nextLabel += 1
        let object = sides[index].context.insert("Node", ["label": label])
        sides[index].working.nodes[label] = ReferenceGraph.Node()
        if Bool.random(using: &random), let parent = sides[index].working.nodes.keys.sorted().randomElement(using: &random),
            let found = try? self.object(parent, index)
        {
            object.setValue(found, forKey: "parent")
            sides[index].working.setParent(of: label, to: parent)
        }
        sides[index].isDirty = true
    }
}
