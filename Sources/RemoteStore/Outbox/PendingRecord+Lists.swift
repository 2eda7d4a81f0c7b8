/// Merges what others have done to a list with what was done here.
extension PendingRecord {
    /// Takes a list that a read has brought.
    ///
    /// - Parameters:
    ///   - theirs: All members, in order for an ordered list.
    ///   - mine: The members that are shown.
    /// - Returns: The members to show.
    mutating func receive(
        _ name: String, members theirs: [ResourceReference], mine: [ResourceReference], isOrdered: Bool
    ) -> [ResourceReference] {
        guard var edit = lists[name] else { return theirs }
        let there = Set(theirs)
        let merged: [ResourceReference]
        if isOrdered {
            merged = Self.merge(base: edit.members ?? [], mine: mine, theirs: theirs)
            edit.members = theirs
        } else {
            let removed = Set(edit.removed)
            merged = theirs.filter { !removed.contains($0) } + edit.added.filter { !there.contains($0) }
        }
        // What is under way stays noted until it is answered: without it, its answer would look as if it had been undone since.
        let sent = sent?.lists[name]
        edit.added = edit.added.filter { !there.contains($0) || sent?.added.contains($0) ?? false }
        edit.removed = edit.removed.filter { there.contains($0) || sent?.removed.contains($0) ?? false }
        let isSettled = edit.added.isEmpty && edit.removed.isEmpty && (!isOrdered || merged == theirs)
        lists[name] = isSettled ? nil : edit
        return merged
    }

    /// Merges two orders of a list that were made from one: members that one side has added or removed are added or removed, each after the
    /// member that it followed. Where both have moved members, the order of `theirs` stays.
    static func merge<Member: Hashable>(base: [Member], mine: [Member], theirs: [Member]) -> [Member] {
        let (before, own, others) = (Set(base), Set(mine), Set(theirs))
        let isMovedByThem = base.filter(others.contains) != theirs.filter(before.contains)
        // The order of one side is the frame, and what the other has added goes into it.
        let (frame, frameSet, guest) = isMovedByThem ? (theirs, others, mine) : (mine, own, theirs)
        let guestSet = isMovedByThem ? own : others
        var merged = frame.filter { guestSet.contains($0) || !before.contains($0) }
        var last: Member?
        for member in guest {
            if frameSet.contains(member) {
                if guestSet.contains(member), merged.contains(member) { last = member }
                continue
            }
            // The frame's side has removed it.
            if before.contains(member) { continue }
            let place = last.flatMap { merged.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
            merged.insert(member, at: place)
            last = member
        }
        return merged
    }
}
