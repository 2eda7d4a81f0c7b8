internal import CSQLite
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Keeps copies of the strings and data of the rows for a statement, so that SQLite need not copy them.
// Used under the write lock.
final class SQLScratch {
    // Owned, and freed with the object. Bytes stay in place until the next reset: if a buffer is full, another one follows.
    @exclusivity(unchecked) private var bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 1 << 14)
    @exclusivity(unchecked) private var capacity = 1 << 14
    @exclusivity(unchecked) private var count = 0
    /// The buffers that are full.
    @exclusivity(unchecked) private var full: [UnsafeMutablePointer<UInt8>] = []

    deinit {
        bytes.deallocate()
        for buffer in full { buffer.deallocate() }
    }

    /// Frees the bytes that a statement was given. The statement has been reset, or gets other bytes before it is stepped again.
    @inline(__always) func reset() {
        count = 0
        if !full.isEmpty { freeFull() }
    }

    @inline(never) private func freeFull() {
        for buffer in full { buffer.deallocate() }
        full.removeAll(keepingCapacity: true)
    }

    /// Returns the place for a number of bytes.
    @inline(__always) private func place(_ length: Int) -> UnsafeMutablePointer<UInt8> {
        if count &+ length > capacity { addBuffer(for: length) }
        let place = bytes + count
        count &+= length
        return place
    }

    @inline(never) private func addBuffer(for length: Int) {
        full.append(bytes)
        capacity = max(capacity * 2, length)
        bytes = .allocate(capacity: capacity)
        count = 0
    }

    @inline(__always) private func bind(text: UnsafeBufferPointer<UInt8>, to handle: OpaquePointer, at index: Int) {
        let copy = place(text.count)
        if let base = text.baseAddress { copy.update(from: base, count: text.count) }
        copy.withMemoryRebound(to: CChar.self, capacity: text.count) {
            _ = sqlite3_bind_text64(handle, Int32(truncatingIfNeeded: index), $0, UInt64(text.count), nil, UInt8(SQLITE_UTF8))
        }
    }

    /// Binds a string. It is read in place without counting a reference, and not changed.
    @inline(__always) func bind(_ place: UnsafeMutablePointer<String>, to handle: OpaquePointer, at index: Int) {
        place.pointee.withUTF8 { bind(text: $0, to: handle, at: index) }
    }

    /// Binds the string of a slot, packed or not.
    @inline(__always) func bind(_ slots: UnsafeMutableRawPointer, _ location: SlotLocation, to handle: OpaquePointer, at index: Int) {
        if !location.isPacked(slots) { return bind(SlotPointer(slots).place(location.offset, of: String.self), to: handle, at: index) }
        bind(text: PackedBytes.bytes(slots, location.offset), to: handle, at: index)
    }

    func bind(_ data: Data, to handle: OpaquePointer, at index: Int, prefix: UInt8? = nil) {
        let length = data.count + (prefix == nil ? 0 : 1)
        let copy = place(length)
        if let prefix { copy[0] = prefix }
        data.copyBytes(to: copy + (length - data.count), count: data.count)
        sqlite3_bind_blob64(handle, Int32(index), copy, UInt64(length), nil)
    }

    func bind(text: String, to handle: OpaquePointer, at index: Int) {
        var text = text
        withUnsafeMutablePointer(to: &text) { bind($0, to: handle, at: index) }
    }
}
