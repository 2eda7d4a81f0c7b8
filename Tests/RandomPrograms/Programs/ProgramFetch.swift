import CoreData

/// A fetch of a random program, and what it ought to find.
struct ProgramFetch: Sendable {
    enum Form: CaseIterable { case objects, ids, count }

    let kind: ProgramModel.Kind
    let bound: Int
    let limit: Int
    let offset: Int
    let isSorted: Bool
    let form: Form
    let countsPending: Bool
    let isFulfilled: Bool
    let paths: [String]

    private static let allPaths = ["children", "parent", "likes.queue", "queue", "guardedBy.friends", "next.previous"]

    init(_ choices: inout Choices) {
        let settings = choices.next()
        // Mostly what finds something.
        kind = [.node, .node, .leaf][settings % 3]
        bound = [0, 0, 0, 0, 1, 2, 4][settings / 3 % 7]
        form = Form.allCases[settings / 21 % 3]
        let page = settings / 63 % 3 == 0
        limit = page ? settings / 189 % 4 : 0
        offset = page ? settings / 756 % 3 : 0
        isSorted = page || settings / 2268 % 2 == 0
        countsPending = settings / 4536 % 6 != 0
        isFulfilled = settings / 27216 % 2 == 0
        paths = form == .objects ? Self.somePaths(choices.next()) : []
    }

    /// Up to three key paths.
    static func somePaths(_ choice: Int) -> [String] {
        (0..<choice % 4).map { allPaths[(choice / 4 + $0 * 5 + choice / 24 * $0) % allPaths.count] }
    }

    var text: String {
        "\(form) of \(kind) with number >= \(bound), \(isSorted ? "in order" : "in any order"), limit \(limit), offset \(offset)"
            + "\(countsPending ? "" : ", without what is pending")\(isFulfilled ? ", fulfilled" : "")\(paths.isEmpty ? "" : ", with \(paths)")"
    }

    private func request<Result>(_ type: Result.Type) -> NSFetchRequest<Result> {
        let request = NSFetchRequest<Result>(entityName: kind.rawValue)
        request.predicate = NSPredicate(format: "number >= %d", bound)
        if isSorted {
            request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: false), NSSortDescriptor(key: "label", ascending: true)]
        }
        request.fetchLimit = limit
        request.fetchOffset = offset
        request.includesPendingChanges = countsPending
        request.returnsObjectsAsFaults = !isFulfilled
        request.relationshipKeyPathsForPrefetching = paths
        return request
    }

    /// What was found: IDs, or how many there are.
    enum Found: Sendable {
        case ids([NSManagedObjectID])
        case count(Int)
    }

    func carryOut(in context: NSManagedObjectContext) async throws -> Found {
        switch form {
        case .objects:
            let objects = Unchecked(try await context.fetchAsynchronously(request(NSManagedObject.self)))
            return .ids(await context.perform { objects.value.map(\.objectID) })
        case .ids:
            let request = request(NSManagedObjectID.self)
            request.resultType = .managedObjectIDResultType
            return .ids(try await context.fetchAsynchronously(request))
        case .count:
            let request = request(NSNumber.self)
            request.resultType = .countResultType
            return .count(try await context.fetchAsynchronously(request)[0].intValue)
        }
    }

    // MARK: What it ought to find

    /// What bears on the answer.
    struct View {
        /// What was stored when the store answered last.
        var stored: NaiveGraph
        /// What the context had then, and what it was changed from.
        var working: NaiveGraph
        /// The nodes that the context has changed, or saved since the fetch began.
        var own: Set<Int>
        /// The nodes that the context knew when the fetch began.
        var known: Set<Int>
    }

    private func matches(_ node: NaiveGraph.Node?) -> Bool {
        guard let node, !node.isDoomed else { return false }
        return node.kind.isKind(of: kind) && node.values["number"] ?? 0 >= bound
    }

    private func page(_ labels: [Int], _ graph: NaiveGraph) -> [Int] {
        let sorted = labels.sorted { (graph.nodes[$1]!.values["number"]!, $0) < (graph.nodes[$0]!.values["number"]!, $1) }
        let rest = Array(sorted.dropFirst(offset))
        return limit > 0 ? Array(rest.prefix(limit)) : rest
    }

    /// How what was found differs from what a fetch has to find; nil where it does not.
    ///
    /// - Parameter labels: of what was found, -1 for what has no row any more; nil for a count.
    func difference(_ labels: [Int]?, count: Int, _ view: View) -> String? {
        let isPage = limit > 0 || offset > 0
        var found = Set(labels ?? [])
        found.remove(-1)
        if let labels, labels.filter({ $0 >= 0 }).count != found.count { return "found twice: \(labels)" }
        if !countsPending {
            let all = view.stored.living.filter { matches(view.stored.nodes[$0]) }
            let expected = page(all, view.stored)
            if count != expected.count { return "found \(count), expected \(expected)" }
            return found.isSubset(of: expected) ? nil : "found \(found.sorted()), expected \(expected)"
        }
        var (members, unsure): ([Int], Set<Int>) = ([], [])
        for label in Set(view.stored.nodes.keys).union(view.working.nodes.keys) {
            let (here, there) = (view.working.nodes[label], view.stored.nodes[label])
            if here.map(\.isDoomed) ?? (view.known.contains(label) || view.own.contains(label)) { continue }
            if view.own.contains(label) || matches(here) == matches(there) {
                if matches(here) { members.append(label) }
            } else {
                unsure.insert(label)
            }
        }
        if !isPage {
            if let labels {
                let missing = Set(members).subtracting(found)
                if !missing.isEmpty { return "found \(labels), expected \(missing.sorted()) too" }
                let surplus = found.subtracting(members).subtracting(unsure)
                if !surplus.isEmpty { return "found \(labels), expected \(surplus.sorted()) not to be there" }
            }
            if count < members.count || count > members.count + unsure.count {
                return "found \(count), expected \(members.sorted()), perhaps \(unsure.sorted())"
            }
        }
        // An order is laid down where what others have changed does not bear on it.
        let isClear = members.allSatisfy { label in
            view.own.contains(label) || view.stored.nodes[label]?.values["number"] == view.working.nodes[label]?.values["number"]
        }
        guard isSorted, unsure.isEmpty, isClear else { return nil }
        let expected = page(members, view.working)
        if count != expected.count { return "found \(count), expected \(expected)" }
        return labels == nil || labels == expected ? nil : "found \(labels!), expected \(expected)"
    }
}

/// A value that a test hands from one thread to another.
struct Unchecked<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
