package import Foundation

/// Reads bytes that may be mapped from a file part by part, with no more of them in memory than one part.
package enum MappedPages {
    /// The size above which a file is mapped rather than read. A process may have some ten thousand mappings, so small files have none.
    package static let threshold = 4 << 20

    /// Calls `body` for each part of some bytes, in order.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - size: The size of a part.
    package static func forEachPart(of data: Data, size: Int = 1 << 20, _ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        try data.withUnsafeBytes { all in
            let isFile = isMapped(all)
            var offset = 0
            while offset < all.count {
                let part = UnsafeRawBufferPointer(rebasing: all[offset..<min(all.count, offset + size)])
                try body(part)
                if isFile { giveBack(part) }
                offset += part.count
            }
        }
    }

    /// Copies a part of some bytes.
    package static func part(of data: Data, at offset: Int, size: Int) -> Data {
        data.withUnsafeBytes { all in
            guard offset < all.count else { return Data() }
            let part = UnsafeRawBufferPointer(rebasing: all[offset..<min(all.count, offset + size)])
            let copy = Data(part)
            if isMapped(all) { giveBack(part) }
            return copy
        }
    }

    /// Whether bytes are mapped from a file: only their pages can be given back without a loss.
    private static func isMapped(_ bytes: UnsafeRawBufferPointer) -> Bool {
        #if os(Linux)
        guard bytes.count >= threshold, let base = bytes.baseAddress.map({ UInt(bitPattern: $0) }),
            let maps = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
        else { return false }
        for line in maps.utf8.split(separator: UInt8(ascii: "\n")) {
            // From-to, permissions, offset, device, inode; memory that is of no file has the inode 0.
            let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            guard parts.count > 4, let dash = parts[0].firstIndex(of: UInt8(ascii: "-")),
                let from = UInt(Substring(parts[0][..<dash]), radix: 16),
                let to = UInt(Substring(parts[0][parts[0].index(after: dash)...]), radix: 16), from <= base, base < to
            else { continue }
            return parts[4].first != UInt8(ascii: "0")
        }
        #endif
        return false
    }

    /// Evicts pages that were read from the process; they are read again when they are needed.
    private static func giveBack(_ bytes: UnsafeRawBufferPointer) {
        #if os(Linux)
        guard let base = bytes.baseAddress else { return }
        let page = UInt(sysconf(Int32(_SC_PAGESIZE)))
        let (from, to) = (UInt(bitPattern: base) / page * page, (UInt(bitPattern: base) + UInt(bytes.count)) / page * page)
        // MADV_PAGEOUT. A kernel that does not know it keeps the pages, which is no harm.
        if from < to, let start = UnsafeMutableRawPointer(bitPattern: from) { _ = madvise(start, Int(to - from), 21) }
        #endif
    }
}
