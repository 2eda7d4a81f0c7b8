extension ToManyStorage {
    /// The violated invariants of the storage; empty if there are none.
    ///
    /// Each object occurs once, and the index leads to each object. A storage that is not loaded knows nothing of the store and, without an order,
    /// has no object both added and removed; a loaded one has no list of removed objects.
    var invariantViolations: [String] {
        var violations: [String] = []
        let count = Dictionary(grouping: objects, by: ObjectIdentifier.init).mapValues(\.count)
        for times in count.values where times > 1 { violations.append("an object is there \(times) times") }
        if let positions {
            if positions.count != count.count { violations.append("\(positions.count) positions are known of \(count.count) objects") }
            for (object, position) in positions where position >= objects.count || ObjectIdentifier(objects[position]) != object {
                violations.append("the index leads to another object at \(position)")
            }
        }
        for (identifier, object) in removed where identifier != ObjectIdentifier(object) {
            violations.append("a removed object has another's key")
        }
        if isLoaded {
            if !removed.isEmpty { violations.append("what was removed is listed although all objects are known") }
            if case .changes? = pendingSave { violations.append("a save has taken changes although all objects are known") }
        } else {
            if !storedObjects.isEmpty { violations.append("the store has objects that were not loaded") }
            if case .stored? = pendingSave { violations.append("a save has taken a list that was not loaded") }
            if !isOrdered, removed.keys.contains(where: { count[$0] != nil }) { violations.append("an object is both added and removed") }
        }
        return violations
    }

    /// Stops the program if the storage violates its invariants, and if the checks are on.
    @inline(__always) func checkInvariants() {
        InternalChecks.enforce(InternalChecks.isDue(objects.count + removed.count) ? invariantViolations : [])
    }
}
