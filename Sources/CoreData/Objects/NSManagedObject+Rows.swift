// The rows that an object holds: of each its block, once, which it gives back when it gets another row and when it goes. They are kept as their slots alone, one word each, and counted by hand.

extension Row {
    /// The slots, with the block held once more, for whoever gives it back by hand.
    @inline(__always) var retainedSlots: UnsafeMutableRawPointer {
        _ = Unmanaged.passRetained(block)
        return slots
    }
}

extension NSManagedObject {
    /// The values; nil makes the object a fault. A row is written only while `.ownsRow` says that no one else has it.
    final var row: Row? {
        @inline(__always) get { slots.map { Row($0) } }
        set {
            let old = slots
            slots = newValue?.retainedSlots
            SlotPointer(old)?.block.release()
            if flags.contains(.partial) || newValue?.mayHaveUnknown ?? false { noticeUnknown() }
        }
    }

    /// The values as the store had them: nil for an object that was never saved.
    final var snapshot: Row? {
        @inline(__always) get { snapshotSlots.map { Row($0) } }
        set {
            let old = snapshotSlots
            snapshotSlots = newValue?.retainedSlots
            SlotPointer(old)?.block.release()
        }
    }

    /// The values as they were when the last event that changed the object first did so; see ``EventLog``.
    final var eventRow: Row? {
        @inline(__always) get { eventSlots.map { Row($0) } }
        set {
            let old = eventSlots
            eventSlots = newValue?.retainedSlots
            SlotPointer(old)?.block.release()
        }
    }
}
