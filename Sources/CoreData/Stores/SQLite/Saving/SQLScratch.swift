internal import Foundation

/// Texts and bytes of the rows that a statement is about to write, one behind the other, so that SQLite need not copy them.
// Used under the lock of its store.
final class SQLScratch {
    private struct Piece {
        let index: Int
        let offset: Int
        let count: Int
        let isText: Bool
    }
    private var bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 4096)
    private var capacity = 4096
    private var count = 0
    private var pieces: [Piece] = []

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

    /// Notes the text that is to be bound at an index.
    @inline(__always) func add(_ place: UnsafeMutablePointer<String>, at index: Int) {
        let length = place.pointee.utf8.count
        reserve(length)
        let target = bytes + count
        if place.pointee.utf8.withContiguousStorageIfAvailable({ target.update(from: $0.baseAddress!, count: length) }) == nil, length > 0 {
            var offset = 0
            for byte in place.pointee.utf8 {
                target[offset] = byte
                offset += 1
            }
        }
        pieces.append(Piece(index: index, offset: count, count: length, isText: true))
        count += length
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

    /// Binds what was noted. It stays where it is until the next reset.
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
