internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Collects strings and data of the rows for a statement in one buffer, so that SQLite need not copy them.
// Used under the write lock.
final class SQLScratch {
    private struct Piece {
        let index: Int
        let offset: Int
        let count: Int
        let isText: Bool
    }
    @exclusivity(unchecked) private var bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 4096)
    @exclusivity(unchecked) private var capacity = 4096
    @exclusivity(unchecked) private var count = 0
    @exclusivity(unchecked) private var pieces: [Piece] = []

    deinit { bytes.deallocate() }

    func reset() {
        count = 0
        pieces.removeAll(keepingCapacity: true)
    }

    @inline(__always) private func reserve(_ additional: Int) {
        if count + additional <= capacity { return }
        grow(additional)
    }

    @inline(never) private func grow(_ additional: Int) {
        capacity = max(capacity * 2, count + additional)
        let new = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        new.update(from: bytes, count: count)
        bytes.deallocate()
        bytes = new
    }

    /// Adds the string for a parameter. It is read in place without counting a reference, and not changed.
    @inline(__always) func add(_ place: UnsafeMutablePointer<String>, at index: Int) {
        place.pointee.withUTF8 { text in
            reserve(text.count)
            if let base = text.baseAddress { (bytes + count).update(from: base, count: text.count) }
            pieces.append(Piece(index: index, offset: count, count: text.count, isText: true))
            count += text.count
        }
    }

    /// Adds the string of a slot, packed or not.
    @inline(__always) func add(_ slots: UnsafeMutableRawPointer, _ location: SlotLocation, at index: Int) {
        if !location.isPacked(slots) { return add(SlotPointer(slots).place(location.offset, of: String.self), at: index) }
        let text = PackedBytes.bytes(slots, location.offset)
        reserve(text.count)
        if let base = text.baseAddress { (bytes + count).update(from: base, count: text.count) }
        pieces.append(Piece(index: index, offset: count, count: text.count, isText: true))
        count += text.count
    }

    func add(_ data: Data, at index: Int, prefix: UInt8? = nil) {
        let length = data.count + (prefix == nil ? 0 : 1)
        reserve(length)
        var offset = count
        if let prefix {
            bytes[offset] = prefix
            offset += 1
        }
        data.copyBytes(to: bytes + offset, count: data.count)
        pieces.append(Piece(index: index, offset: count, count: length, isText: false))
        count += length
    }

    func add(text: String, at index: Int) {
        var text = text
        withUnsafeMutablePointer(to: &text) { add($0, at: index) }
    }

    /// Binds the collected values. They stay valid until the next reset.
    @inline(__always) func bind(to statement: SQLStatement) {
        for piece in pieces {
            if piece.isText {
                statement.bindStatic(text: bytes + piece.offset, count: piece.count, at: piece.index)
            } else {
                statement.bindStatic(blob: bytes + piece.offset, count: piece.count, at: piece.index)
            }
        }
    }
}
