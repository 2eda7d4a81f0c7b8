extension RankedTree {
    /// The violated invariants of the tree; empty if there are none.
    ///
    /// Each node counts itself and its descendants, knows its parent, is of the tree's class, and neither of its halves has more than three times the
    /// weight of the other.
    var invariantViolations: [String] {
        var violations: [String] = []
        guard let root else { return [] }
        if root.parent != nil { violations.append("the root of a tree has a parent") }
        // The nodes that remain to be visited. Their depth is logarithmic if the balance holds, and bounded if it does not.
        var pending: [RankedNode] = [root]
        var seen = 0
        while let node = pending.popLast() {
            seen += 1
            if seen > root.size {
                violations.append("a tree of \(root.size) nodes has more")
                break
            }
            let (left, right) = (node.left?.size ?? 0, node.right?.size ?? 0)
            if !(node is Node) { violations.append("a node is a \(type(of: node)), not a \(Node.self)") }
            if node.size != left + right + 1 { violations.append("a node above \(left) and \(right) others counts \(node.size)") }
            if (left + 1) * 3 < right + 1 || (right + 1) * 3 < left + 1 {
                violations.append("the halves below a node have \(left) and \(right) nodes")
            }
            for child in [node.left, node.right] {
                guard let child else { continue }
                if child.parent !== node { violations.append("a child has another parent") }
                pending.append(child)
            }
        }
        if seen < root.size { violations.append("a tree of \(root.size) nodes has \(seen)") }
        return violations
    }

    /// Stops the program if the tree violates its invariants, and if the checks are on.
    @inline(__always) func checkInvariants() { InternalChecks.enforce(InternalChecks.isDue(count) ? invariantViolations : []) }
}
