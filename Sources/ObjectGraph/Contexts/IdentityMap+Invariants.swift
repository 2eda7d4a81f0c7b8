extension IdentityMap {
    /// The violated invariants of the table; empty if there are none.
    ///
    /// The capacity is a power of two and at least twice the count, each object is filed once, and no gap lies between an object and the place where the
    /// search for its key begins.
    var invariantViolations: [String] {
        var violations: [String] = []
        let capacity = mask + 1
        if capacity <= 0 || capacity & mask != 0 { return ["the capacity \(capacity) is not a power of two"] }
        if count * 2 > capacity { violations.append("\(count) objects lie in \(capacity) places") }
        var found: Set<UnsafeMutableRawPointer> = []
        for index in 0..<capacity {
            let entry = entries[index]
            guard let object = entry.object else { continue }
            if !found.insert(object).inserted { violations.append("an object is filed twice") }
            var place = Self.home(entry.key, mask)
            while place != index, entries[place].object != nil { place = (place + 1) & mask }
            if place != index { violations.append("a gap cuts the object of the key \(entry.key) off") }
        }
        if found.count != count { violations.append("\(count) objects are counted, \(found.count) are there") }
        return violations
    }

    /// Stops the program if the table violates its invariants, and if the checks are on.
    @inline(__always) func checkInvariants() {
        #if COREDATA_INTERNAL_CHECKS
        if InternalChecks.isDue(mask) { InternalChecks.enforce(invariantViolations) }
        #endif
    }
}
