/// A set of small integers; the first 64 need no allocation. Equal are sets of equal members and equal capacity.
@usableFromInline package struct PropertySet: Hashable, Sendable {
    @usableFromInline package var low: UInt64 = 0
    @usableFromInline package var high: [UInt64] = []
    @usableFromInline package init() {}
    @inlinable init(low: UInt64) { self.low = low }

    package var isEmpty: Bool { low == 0 && high.allSatisfy { $0 == 0 } }

    @inlinable @inline(__always) package func contains(_ index: Int) -> Bool {
        index < 64 ? low & (1 << UInt64(truncatingIfNeeded: index)) != 0 : containsHigh(index)
    }

    @usableFromInline func containsHigh(_ index: Int) -> Bool {
        let word = index / 64 - 1
        return word < high.count && high[word] & (1 << UInt64(index % 64)) != 0
    }

    package mutating func insert(_ index: Int) {
        if index < 64 {
            low |= 1 << UInt64(index)
        } else {
            let word = index / 64 - 1
            while high.count <= word { high.append(0) }
            high[word] |= 1 << UInt64(index % 64)
        }
    }

    package mutating func remove(_ index: Int) {
        if index < 64 {
            low &= ~(1 << UInt64(index))
        } else if index / 64 - 1 < high.count {
            high[index / 64 - 1] &= ~(1 << UInt64(index % 64))
        }
    }

    mutating func removeAll() { self = PropertySet() }
}
