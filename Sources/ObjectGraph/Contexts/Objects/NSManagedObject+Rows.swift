internal import CoreDataRuntime

// The rows of an object: it retains the block of each once, and releases it when it gets another row and when it is deallocated. They are stored as
// their slots, one word each, with manual reference counting.

extension Row {
    /// The slots, whose block is retained for a caller that releases it manually.
    @inline(__always) var retainedSlots: UnsafeMutableRawPointer {
        _ = Unmanaged.passRetained(block)
        return slots
    }
}

extension Unmanaged {
    /// Counts several references at once; each of as many owners will release one.
    @inline(__always) func retain(times count: Int) { _ = swift_retain_n(toOpaque(), UInt32(count)) }
}

extension NSManagedObject {
    /// The values; nil makes the object a fault. The row is written only while `.hasExclusiveRow` marks it as exclusive.
    final var row: Row? {
        @inline(__always) get { slots.map { Row($0) } }
        @inline(__always) set {
            let old = slots
            slots = newValue?.retainedSlots
            SlotPointer(old)?.block.release()
            if flags.contains(.partial) || newValue?.mayHaveUnknown ?? false { updateUnknownFlag() }
        }
    }

    /// The stored values; nil for an object that was never saved.
    final var snapshot: Row? {
        @inline(__always) get { snapshotSlots.map { Row($0) } }
        set {
            let old = snapshotSlots
            snapshotSlots = newValue?.retainedSlots
            SlotPointer(old)?.block.release()
        }
    }

    /// Makes the values the stored ones.
    @inline(__always) final func takeRowAsSnapshot() {
        let old = snapshotSlots
        snapshotSlots = slots
        _ = SlotPointer(slots)?.block.retain()
        SlotPointer(old)?.block.release()
    }

    /// The values before the last event that changed the object; see ``EventLog``.
    final var eventRow: Row? {
        @inline(__always) get { eventSlots.map { Row($0) } }
        set {
            let old = eventSlots
            eventSlots = newValue?.retainedSlots
            SlotPointer(old)?.block.release()
        }
    }
}
