/// Operations of a save that are done in sequence; some have to follow others.
struct SaveGraph<Reason> {
    struct Edge {
        let first: Int
        let second: Int
        let reason: Reason
        var isThere = true
    }
    private(set) var edges: [Edge] = []
    private var edgesFrom: [[Int]]
    private var edgesTo: [[Int]]
    /// The number of operations that each one waits for; -1 once it is done.
    private var waits: [Int]
    private(set) var leftCount: Int
    /// No operation before it waits: edges are added before the first is removed.
    private var firstWaiting = 0

    init(count: Int) {
        edgesFrom = Array(repeating: [], count: count)
        edgesTo = edgesFrom
        waits = Array(repeating: 0, count: count)
        leftCount = count
    }

    func isFree(_ thing: Int) -> Bool { waits[thing] == 0 }

    mutating func add(_ first: Int, before second: Int, _ reason: Reason) {
        if first == second { return }
        edgesFrom[first].append(edges.count)
        edgesTo[second].append(edges.count)
        edges.append(Edge(first: first, second: second, reason: reason))
        waits[second] += 1
    }

    /// Records that an operation is done, and returns the operations that no longer wait.
    mutating func finish(_ thing: Int) -> [Int] {
        waits[thing] = -1
        leftCount -= 1
        return edgesFrom[thing].compactMap { remove($0) }
    }

    /// Removes an edge, and returns its end if that no longer waits.
    mutating func remove(_ edge: Int) -> Int? {
        guard edges[edge].isThere else { return nil }
        edges[edge].isThere = false
        let second = edges[edge].second
        waits[second] -= 1
        return waits[second] == 0 ? second : nil
    }

    /// Returns the edges from an operation to the remaining ones.
    func edgesThere(from thing: Int) -> [Int] { edgesFrom[thing].filter { edges[$0].isThere } }
    func edgesThere(to thing: Int) -> [Int] { edgesTo[thing].filter { edges[$0].isThere } }

    /// Returns edges that form a cycle, if each remaining operation waits for another one; empty if none remains.
    mutating func circle() -> [Int] {
        while firstWaiting < waits.count, waits[firstWaiting] <= 0 { firstWaiting += 1 }
        guard firstWaiting < waits.count else { return [] }
        var thing = firstWaiting
        var places: [Int: Int] = [:]
        var way: [Int] = []
        while places[thing] == nil {
            places[thing] = way.count
            guard let edge = edgesTo[thing].first(where: { edges[$0].isThere }) else { return [] }
            way.append(edge)
            thing = edges[edge].first
        }
        return Array(way[(places[thing] ?? 0)...])
    }
}
