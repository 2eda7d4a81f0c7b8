internal import Foundation

/// What has become of fetched results: old places refer to what was before all of it, new ones to what is after all of it.
struct FetchedChanges {
    struct Move {
        let object: NSManagedObject
        let from: Place
        let to: Place
    }
    /// An index path, and the same as one number over all sections.
    struct Place {
        let indexPath: IndexPath
        let index: Int
    }

    /// By descending index.
    var deletedSections: [(section: FetchedSection, index: Int)] = []
    /// By ascending index.
    var insertedSections: [(section: FetchedSection, index: Int)] = []
    /// By descending place.
    var deletes: [(object: NSManagedObject, place: Place)] = []
    /// By ascending place.
    var inserts: [(object: NSManagedObject, place: Place)] = []
    /// By ascending new place.
    var moves: [Move] = []
    var updates: [Move] = []

    var isEmpty: Bool {
        deletedSections.isEmpty && insertedSections.isEmpty && deletes.isEmpty && inserts.isEmpty && moves.isEmpty && updates.isEmpty
    }
}

/// Finds out what has become of objects that were taken out of a sequence and put in again: which have moved among the others.
///
/// What stays is a longest common subsequence: no more objects are called moved than need be.
struct Rearrangement {
    /// The elements that are where they were, by their position in `arrivals`.
    let kept: Set<Int>

    /// - Parameters:
    ///   - departures: the old indices of all that was taken out, ascending.
    ///   - arrivals: the new indices of all that was put in, ascending.
    ///   - origin: the old index of an arrival, nil for what is new or may not count as having stayed.
    init(departures: [Int], arrivals: [Int], origin: (Int) -> Int?) {
        // An element has stayed only if as many of those that were never touched stand before it as did.
        var before: [Int: Int] = [:]
        for (number, index) in departures.enumerated() { before[index] = index - number }
        var candidates: [(arrival: Int, old: Int)] = []
        for (number, index) in arrivals.enumerated() {
            guard let old = origin(number), before[old] == index - number else { continue }
            candidates.append((number, old))
        }
        // The longest ascending run of old indices among them.
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

/// Gathers what is taken out of fetched results and put in, and tells what that amounts to.
struct FetchedChangeRecord {
    struct Departure {
        let object: NSManagedObject
        let section: FetchedSection
        let place: FetchedChanges.Place
    }

    /// What was taken out, or is about to be, with its old place.
    var departures: [Departure] = []
    /// What was put in.
    var arrivals: [FetchedNode] = []
    /// What has changed but keeps its place among the others.
    var inPlace: [(node: FetchedNode, from: FetchedChanges.Place)] = []
    var sectionDepartures: [(section: FetchedSection, index: Int)] = []
    var sectionArrivals: [FetchedSection] = []
    /// Objects that were put in again and have kept their place count as updated only if they are among these; nil for all.
    var touched: Set<ObjectIdentifier>?
    /// Without section names all objects are in one section, whatever stands for it.
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

    /// The sections that are new or gone. Answers with the old sections of those that have come again where they were.
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
