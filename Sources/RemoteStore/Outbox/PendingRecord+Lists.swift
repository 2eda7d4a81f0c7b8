/// Merges changes of a list by others with the local edits.
extension PendingRecord {
    /// Receives a list that was read.
    ///
    /// - Parameters:
    ///   - theirs: All members, in order for an ordered list.
    ///   - mine: The displayed members.
    /// - Returns: The members to display.
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
        // An edit in flight stays recorded until it is answered: otherwise it would look as if it had been reverted since.
        let sent = sent?.lists[name]
        edit.added = edit.added.filter { !there.contains($0) || sent?.added.contains($0) ?? false }
        edit.removed = edit.removed.filter { there.contains($0) || sent?.removed.contains($0) ?? false }
        let isSettled = edit.added.isEmpty && edit.removed.isEmpty && (!isOrdered || merged == theirs)
        lists[name] = isSettled ? nil : edit
        return merged
    }

    /// Merges two orders of a list with a common base: members that one side has added or removed are added or removed, each after the member that it followed.
    /// If both sides have moved members, the order of `theirs` wins.
    static func merge<Member: Hashable>(base: [Member], mine: [Member], theirs: [Member]) -> [Member] {
        let (before, own, others) = (Set(base), Set(mine), Set(theirs))
        let isMovedByThem = base.filter(others.contains) != theirs.filter(before.contains)
        // The order of one side is the frame, into which the additions of the other side are inserted.
        let (frame, frameSet, guest) = isMovedByThem ? (theirs, others, mine) : (mine, own, theirs)
        let guestSet = isMovedByThem ? own : others
        var merged = frame.filter { guestSet.contains($0) || !before.contains($0) }
        var last: Member?
        for member in guest {
            if frameSet.contains(member) {
                if guestSet.contains(member), merged.contains(member) { last = member }
                continue
            }
            // The side of the frame has removed it.
            if before.contains(member) { continue }
            let place = last.flatMap { merged.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
            merged.insert(member, at: place)
            last = member
        }
        return merged
    }
}
