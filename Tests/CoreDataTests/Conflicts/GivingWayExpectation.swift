import CoreData

/// What a context must keep when it saves, or merges what another one has saved: every relationship that is stored, and every one that was made here,
/// between the things themselves or those that they have given way to; but none that either side has cut.
///
/// Where two of them lead to or from a place for one, either may stay. A place may also be left empty by a link that had it and was then cut, deleted or
/// discarded; by one that has only lost its other end to a third, where this context wins.
struct GivingWayExpectation {
    typealias Link = GivingWayProgram.Link

    /// A relationship of a thing to one other.
    private struct Place: Hashable {
        let label: Int
        let relationship: String
    }

    let policy: NSMergePolicyType
    /// What was stored when the context has read it, what it shows with its changes, and what is stored now.
    let known: Set<Link>
    let shown: Set<Link>
    let stored: Set<Link>
    /// The things that are stored now, or new in the context.
    let present: Set<Int>
    /// The things that were deleted in the context, and those whose changes the policy may discard.
    let deleted: Set<Int>
    let discarded: Set<Int>
    /// The things that are there afterwards, those that others have given way to, and the links.
    let left: Set<Int>
    var successors: [Int: Int] = [:]
    let kept: Set<Link>

    /// Returns what is missing, or what is there and should not be, or nil.
    func difference() -> String? {
        let expected = stored.intersection(shown).union(stored.subtracting(known)).union(shown.subtracting(known))
        for link in expected where !isExcused(link) {
            guard let (from, to) = ends(of: link) else { return "an end of \(link) is gone, and there is nothing in its place" }
            return "nobody has cut \(link), which should be \(from) \(link.relationship) \(to)"
        }
        let made = Set(stored.union(shown).compactMap(moved))
        if let invented = kept.first(where: { $0.to >= 0 && !made.contains($0) }) { return "nobody has made \(invented)" }
        let wanted = Set(expected.union(revived).compactMap(moved))
        if let cut = kept.first(where: { $0.to >= 0 && !wanted.contains($0) }) { return "somebody has cut \(cut)" }
        return nil
    }

    /// What one side has cut, and the policy may bring back: what was cut here, if the store wins, and what others have deleted, if it does not.
    private var revived: Set<Link> {
        switch policy {
        case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType: stored
        case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
            shown.filter { !present.contains($0.from) || !present.contains($0.to) }
        case .errorMergePolicyType: []
        }
    }

    private func survivor(_ label: Int) -> Int? {
        var (label, count) = (label, 0)
        while !left.contains(label) {
            guard let next = successors[label], count <= successors.count else { return nil }
            (label, count) = (next, count + 1)
        }
        return label
    }

    /// A link between those that its ends have given way to.
    private func moved(_ link: Link) -> Link? {
        ends(of: link).map { Link(from: $0.from, relationship: link.relationship, to: $0.to) }
    }

    private func ends(of link: Link) -> (from: Int, to: Int)? {
        survivor(link.from).flatMap { from in survivor(link.to).map { (from, $0) } }
    }

    /// The ends of a link that have place for one.
    private func places(_ link: Link) -> [Place] {
        let relationship = GivingWayModel.relationship(link.relationship)
        let inverse = relationship.inverse
        return (relationship.isToMany ? [] : [Place(label: link.from, relationship: link.relationship)])
            + (inverse.map { $0.isToMany ? [] : [Place(label: link.to, relationship: $0.name)] } ?? [])
    }

    /// Returns whether a link is there, or need not be.
    private func isExcused(_ link: Link) -> Bool {
        if isLost(link) { return true }
        guard let moved = moved(link) else { return false }
        if kept.contains(moved) { return true }
        let places = Set(places(moved))
        if places.isEmpty { return false }
        if kept.contains(where: { !places.isDisjoint(with: self.places($0)) }) { return true }
        return stored.union(shown).contains { !places.isDisjoint(with: occupied(by: $0)) && (isLost($0) || isDisplaced($0)) }
    }

    /// Whether a link made here has lost its other end to one that stays. Where this context wins, it may have taken the place of a third before.
    private func isDisplaced(_ link: Link) -> Bool {
        let wins = policy == .mergeByPropertyObjectTrumpMergePolicyType || policy == .overwriteMergePolicyType
        guard wins, !known.contains(link), shown.contains(link), let moved = moved(link), !kept.contains(moved) else { return false }
        let places = Set(places(moved))
        return kept.contains { !places.isDisjoint(with: self.places($0)) }
    }

    /// Whether a link was cut by one side, or lost with what was, whatever else there is.
    private func isLost(_ link: Link) -> Bool {
        if isGone(link.from) || isGone(link.to) { return true }
        if known.contains(link), !stored.contains(link) || !shown.contains(link) { return true }
        if !stored.contains(link),
            [link.from, link.to].contains(where: { discarded.contains($0) || survivor($0).map(discarded.contains) ?? false })
        {
            return true
        }
        return places(link).contains { isEmptied($0, by: link) }
    }

    /// Whether a thing was deleted by one side.
    private func isGone(_ label: Int) -> Bool { deleted.contains(label) || !present.contains(label) }

    /// The places that a link may have had before it lost them. Without an inverse, what leads to a thing that others have deleted still does.
    private func occupied(by link: Link) -> [Place] {
        if let moved = moved(link) { return places(moved) }
        guard link.reversed == nil, link.to >= 0, let from = survivor(link.from) else { return [] }
        return [Place(label: from, relationship: link.relationship)]
    }

    /// Whether the side that wins has left a place empty that a link of the other takes.
    private func isEmptied(_ place: Place, by link: Link) -> Bool {
        func isEmpty(_ links: Set<Link>) -> Bool {
            // Deletions are applied first.
            !links.contains { $0.from == place.label && $0.relationship == place.relationship && !isGone($0.to) }
        }
        if !known.contains(where: { $0.from == place.label && $0.relationship == place.relationship }) { return false }
        switch policy {
        case .mergeByPropertyStoreTrumpMergePolicyType: return !stored.contains(link) && isEmpty(stored)
        case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType: return !shown.contains(link) && isEmpty(shown)
        case .errorMergePolicyType, .rollbackMergePolicyType: return false
        }
    }
}
