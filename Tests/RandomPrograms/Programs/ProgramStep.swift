import TestSupport

/// One step of a random program: what to do, and numbers by which to choose with what.
///
/// Whatever steps are left out before it, a step can be carried out: it chooses among what there is.
struct ProgramStep {
    enum Kind: CaseIterable {
        case insert, setAttribute, setToOne, setToMany, addMember, removeMember, reorder, delete, process
        case undo, redo, rollback, save, merge, refresh, refreshMerging, refreshAll, reset, look

        /// How often it comes among a hundred others.
        var weight: Int {
            switch self {
            case .insert: 12
            case .setAttribute, .setToOne: 12
            case .setToMany: 8
            case .addMember: 10
            case .removeMember: 5
            case .reorder, .delete: 4
            case .process, .refreshMerging, .refreshAll: 2
            case .undo: 5
            case .redo, .refresh: 3
            case .rollback, .reset: 1
            case .save: 12
            case .merge: 5
            case .look: 10
            }
        }
    }

    let kind: Kind
    /// 0 and 1 are the contexts of the store, 2 is the child of the first.
    let side: Int
    let choices: [Int]

    static func random(using random: inout SeededGenerator) -> ProgramStep {
        var ticket = Int.random(in: 0..<Self.tickets, using: &random)
        let kind = Kind.allCases.first { kind in
            ticket -= kind.weight
            return ticket < 0
        }!
        let side = [0, 0, 0, 1, 1, 1, 2, 2][Int.random(in: 0..<8, using: &random)]
        return ProgramStep(kind: kind, side: side, choices: (0..<6).map { _ in Int.random(in: 0..<1 << 20, using: &random) })
    }

    private static let tickets = Kind.allCases.map(\.weight).reduce(0, +)
}

/// Takes choices one after the other.
struct Choices {
    private var rest: ArraySlice<Int>
    init(_ choices: [Int]) { rest = choices[...] }

    mutating func next() -> Int { rest.popFirst() ?? 0 }
    mutating func pick<Element>(_ elements: [Element]) -> Element? { elements.isEmpty ? nil : elements[next() % elements.count] }
    /// Up to three different elements, in an order that is part of the choice.
    mutating func some(_ elements: [Int]) -> [Int] {
        var picked: [Int] = []
        for _ in 0..<next() % 4 {
            if let element = pick(elements), !picked.contains(element) { picked.append(element) }
        }
        return picked
    }
}

/// The settings of a program: what each context is like.
struct ProgramSettings {
    /// 0 error, 1 store trump, 2 object trump, 3 overwrite, 4 rollback.
    var policies: [Int]
    var undoes: [Bool]
    var retains: [Bool]
    /// Whether the second context merges by itself.
    var mergesByItself: Bool
    /// Whether the child does.
    var childMergesByItself: Bool
    /// Whether merges come with IDs.
    var mergesRemotely: [Bool]

    init(using random: inout SeededGenerator) {
        func flags() -> [Bool] { (0..<3).map { _ in Bool.random(using: &random) } }
        policies = (0..<2).map { _ in Int.random(in: 0...4, using: &random) }
        undoes = flags()
        retains = flags()
        mergesByItself = Int.random(in: 0..<4, using: &random) == 0
        childMergesByItself = Int.random(in: 0..<3, using: &random) == 0
        mergesRemotely = flags()
    }
}
