internal import Foundation

/// The changes of fetched results: old places refer to the results before all changes, new ones to those after all changes.
struct FetchedChanges {
    struct Move {
        let object: NSManagedObject
        let from: Position
        let to: Position
    }
    /// An index path, and the equivalent index over all sections.
    struct Position {
        let indexPath: IndexPath
        let index: Int
    }

    /// The deleted sections, by descending index.
    var deletedSections: [(section: FetchedSection, index: Int)] = []
    /// The inserted sections, by ascending index.
    var insertedSections: [(section: FetchedSection, index: Int)] = []
    /// The deleted objects, by descending place.
    var deletes: [(object: NSManagedObject, place: Position)] = []
    /// The inserted objects, by ascending place.
    var inserts: [(object: NSManagedObject, place: Position)] = []
    /// The moved objects, by ascending new place.
    var moves: [Move] = []
    var updates: [Move] = []

    var isEmpty: Bool {
        deletedSections.isEmpty && insertedSections.isEmpty && deletes.isEmpty && inserts.isEmpty && moves.isEmpty && updates.isEmpty
    }
}

/// Determines which removed and reinserted objects have moved relative to the others.
///
/// The objects that stay are a longest common subsequence, so the number of moves is minimal.
struct Rearrangement {
    /// The elements that kept their place, by position in `arrivals`.
    let kept: Set<Int>

    /// - Parameters:
    ///   - departures: The old indices of all removed elements, ascending.
    ///   - arrivals: The new indices of all inserted elements, ascending.
    ///   - origin: Returns the old index of an inserted element; nil for a new one, and for one that may not count as staying.
    init(departures: [Int], arrivals: [Int], origin: (Int) -> Int?) {
        // An element can stay only if the same number of untouched elements precedes it.
        var before: [Int: Int] = [:]
        for (number, index) in departures.enumerated() { before[index] = index - number }
        var candidates: [(arrival: Int, old: Int)] = []
        for (number, index) in arrivals.enumerated() {
            guard let old = origin(number), before[old] == index - number else { continue }
            candidates.append((number, old))
        }
        // The longest ascending subsequence of old indices among them.
        var ends: [Int] = []
        var links: [Int?] = []
        for (number, candidate) in candidates.enumerated() {
            var low = 0
            var high = ends.count
            while low < high {
                let middle = (low + high) / 2
                if candidates[ends[middle]].old < candidate.old { low = middle + 1 } else { high = middle }
            }
            links.append(low > 0 ? ends[low - 1] : nil)
            if low == ends.count { ends.append(number) } else { ends[low] = number }
        }
        var kept: Set<Int> = []
        var link = ends.last
        while let number = link {
            kept.insert(candidates[number].arrival)
            link = links[number]
        }
        self.kept = kept
    }
}

/// Records removals and insertions of fetched results and computes the changes.
struct FetchedChangeRecord {
    struct Departure {
        let object: NSManagedObject
        let section: FetchedSection
        let place: FetchedChanges.Position
    }

    /// The objects removed, or about to be, with their old places.
    var departures: [Departure] = []
    /// The inserted objects.
    var arrivals: [FetchedNode] = []
    /// The objects that changed without changing their place.
    var inPlace: [(node: FetchedNode, from: FetchedChanges.Position)] = []
    var sectionDepartures: [(section: FetchedSection, index: Int)] = []
    var sectionArrivals: [FetchedSection] = []
    /// The objects that count as updated if they were reinserted at their place; nil for all.
    var touched: Set<ObjectIdentifier>?
    /// Whether there are section names; without them, all objects are in one section.
    var isSectioned = true

    func changes() -> FetchedChanges {
        var changes = FetchedChanges()
        let twins = sectionChanges(&changes)

        let departures = self.departures.sorted { $0.place.index < $1.place.index }
        let arrivals = self.arrivals.map { (node: $0, place: $0.place) }.sorted { $0.place.index < $1.place.index }
        var origins: [ObjectIdentifier: Departure] = [:]
        for departure in departures { origins[ObjectIdentifier(departure.object)] = departure }
        let rearrangement = Rearrangement(
            departures: departures.map(\.place.index), arrivals: arrivals.map(\.place.index),
            origin: { number in
                let node = arrivals[number].node
                guard let origin = origins[ObjectIdentifier(node.object)] else { return nil }
                let isSameSection =
                    !isSectioned || origin.section === node.section || twins[ObjectIdentifier(node.section)] === origin.section
                return isSameSection ? origin.place.index : nil
            })
        for (number, arrival) in arrivals.enumerated() {
            let object = arrival.node.object
            guard let origin = origins.removeValue(forKey: ObjectIdentifier(object)) else {
                changes.inserts.append((object, arrival.place))
                continue
            }
            let move = FetchedChanges.Move(object: object, from: origin.place, to: arrival.place)
            if !rearrangement.kept.contains(number) {
                changes.moves.append(move)
            } else if touched?.contains(ObjectIdentifier(object)) ?? true {
                changes.updates.append(move)
            }
        }
        for departure in departures.reversed() where origins[ObjectIdentifier(departure.object)] != nil {
            changes.deletes.append((departure.object, departure.place))
        }
        for (node, from) in inPlace {
            changes.updates.append(FetchedChanges.Move(object: node.object, from: from, to: node.place))
        }
        changes.updates.sort { $0.to.index < $1.to.index }
        return changes
    }

    /// Adds the new and deleted sections. Returns the old sections that were replaced by new ones at the same place.
    private func sectionChanges(_ changes: inout FetchedChanges) -> [ObjectIdentifier: FetchedSection] {
        let departures = sectionDepartures.sorted { $0.index < $1.index }
        let arrivals = sectionArrivals.map { (section: $0, index: $0.rank) }.sorted { $0.index < $1.index }
        let origins = Dictionary(departures.map { ($0.section.name, $0) }, uniquingKeysWith: { first, _ in first })
        let rearrangement = Rearrangement(
            departures: departures.map(\.index), arrivals: arrivals.map(\.index), origin: { origins[arrivals[$0].section.name]?.index })
        var twins: [ObjectIdentifier: FetchedSection] = [:]
        var kept: Set<Int> = []
        for (number, arrival) in arrivals.enumerated() {
            if rearrangement.kept.contains(number), let origin = origins[arrival.section.name] {
                twins[ObjectIdentifier(arrival.section)] = origin.section
                kept.insert(origin.index)
            } else {
                changes.insertedSections.append(arrival)
            }
        }
        changes.deletedSections = departures.reversed().filter { !kept.contains($0.index) }
        return twins
    }
}
