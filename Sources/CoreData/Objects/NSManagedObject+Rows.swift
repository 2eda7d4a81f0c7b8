internal import CoreDataRuntime

// The rows that an object holds. They are kept as their slots alone, one word each, and counted by hand.

extension Row {
    /// The slots, with the block held once more, for whoever gives it back by hand.
    @inline(__always) var retainedSlots: UnsafeMutableRawPointer {
        _ = Unmanaged.passRetained(block)
        return slots
    }
}

extension Unmanaged {
    /// Counts so many references at once, for as many who will give back one each.
    @inline(__always) func retain(times count: Int) { _ = swift_retain_n(toOpaque(), UInt32(count)) }
}

extension NSManagedObject {
    /// The values; nil makes the object a fault. A row is written only while `.ownsRow` says that no one else has it.
    final var row: Row? {
        @inline(__always) get { slots.map { Row($0) } }
        @inline(__always) set {
            let old = slots
            slots = newValue?.retainedSlots
            old?.rowBlock.release()
            if flags.contains(.partial) || newValue?.mayHaveUnknown ?? false { noticeUnknown() }
        }
    }

    /// The values as the store had them: nil for an object that was never saved.
    final var snapshot: Row? {
        @inline(__always) get { snapshotSlots.map { Row($0) } }
        set {
            let old = snapshotSlots
            snapshotSlots = newValue?.retainedSlots
            old?.rowBlock.release()
        }
    }

    /// The values as they were when the last event that changed the object first did so; see ``EventLog``.
    final var eventRow: Row? {
        @inline(__always) get { eventSlots.map { Row($0) } }
        set {
            let old = eventSlots
            eventSlots = newValue?.retainedSlots
            old?.rowBlock.release()
        }
    }
}
