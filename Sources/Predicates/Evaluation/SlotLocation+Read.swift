import Foundation

extension SlotLocation {
    /// Reads a slot as a value.
    func read(_ subject: PredicateSubject, _ kind: SlotKind) -> PropertyValue {
        if isNull(in: subject) { return .null }
        switch kind {
        case .bool: return .bool(subject.slots.load(fromByteOffset: offset, as: Int64.self) != 0)
        case .int64: return .int64(subject.slots.load(fromByteOffset: offset, as: Int64.self))
        case .double: return .double(subject.slots.load(fromByteOffset: offset, as: Double.self))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: subject.slots.load(fromByteOffset: offset, as: Double.self)))
        case .string: return .string(text(subject))
        case .data: return .data(data(subject))
        case .uuid: return .uuid(subject.slots.load(fromByteOffset: offset, as: UUID.self))
        }
    }
}

// MARK: Packed values

extension SlotLocation {
    /// Returns the bytes of a packed value; nil if the value lies in the slot itself. Code that packs values puts the bytes behind the slots, into
    /// memory of the same owner, which the caller keeps alive.
    @inline(__always) func packedBytes(_ subject: PredicateSubject) -> UnsafeBufferPointer<UInt8>? {
        guard isPackable, subject.slots.load(fromByteOffset: nullOffset &+ 8, as: UInt64.self) & nullMask != 0 else { return nil }
        let word = subject.slots.load(fromByteOffset: offset, as: UInt64.self)
        return UnsafeBufferPointer(
            start: (subject.slots + Int(truncatingIfNeeded: word & 0xFFFF_FFFF)).assumingMemoryBound(to: UInt8.self),
            count: Int(truncatingIfNeeded: word &>> 32))
    }

    /// Returns the string in a slot that is not nil.
    @inline(__always) func text(_ subject: PredicateSubject) -> String {
        if let bytes = packedBytes(subject) { return String(decoding: bytes, as: UTF8.self) }
        return subject.slots.load(fromByteOffset: offset, as: String.self)
    }

    /// Returns the data in a slot that is not nil.
    func data(_ subject: PredicateSubject) -> Data {
        if let bytes = packedBytes(subject) { return Data(buffer: bytes) }
        return subject.slots.load(fromByteOffset: offset, as: Data.self)
    }
}
