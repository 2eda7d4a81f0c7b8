internal import Foundation
internal import Platform

extension RowCache {
    /// The violated invariants of the cache; empty if there are none.
    ///
    /// A row or a node belongs to the object of its entry, and satisfies its own invariants. No count of holders is negative, and no time lies in the
    /// future. An object that a context has deleted has no content.
    var invariantViolations: [String] {
        let (entries, now) = self.entries.withLock { ($0, Self.now) }
        var violations: [String] = []
        for (id, entry) in entries {
            switch entry.content {
            case .row(let row)?:
                violations += row.invariantViolations
                if row.objectID.map({ !$0.namesSameObject(as: id) }) ?? true { violations.append("the row of another object than \(id)") }
            case .node(let node)?:
                if !node.objectID.namesSameObject(as: id) { violations.append("the node of another object than \(id)") }
            case nil: break
            }
            if entry.holders < 0 { violations.append("\(entry.holders) contexts have \(id)") }
            if entry.time > now || entry.saveTime > now { violations.append("\(id) comes from the future") }
            if entry.isDeleted, entry.content != nil { violations.append("\(id) is deleted and has values") }
        }
        return violations
    }

    /// Stops the program if the cache violates its invariants, and if the checks are on. Call it without the lock.
    @inline(__always) func checkInvariants() {
        InternalChecks.enforce(InternalChecks.isDue(entries.withLock { $0.count }) ? invariantViolations : [])
    }
}
