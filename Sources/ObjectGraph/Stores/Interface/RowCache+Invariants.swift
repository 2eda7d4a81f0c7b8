internal import Foundation
internal import Platform

extension RowCache {
    /// What does not hold of the cache; empty for a cache as it should be.
    ///
    /// A row or a node is that of the object whose entry it is, as it should be itself. Nothing is negative: neither who holds an object, nor what has
    /// happened in the future. What a context has deleted has no content.
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

    /// Stops the program where the cache is not as it should be, if the checks are on. Without the lock.
    @inline(__always) func checkInvariants() {
        InternalChecks.enforce(InternalChecks.isDue(entries.withLock { $0.count }) ? invariantViolations : [])
    }
}
