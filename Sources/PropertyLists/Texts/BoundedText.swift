extension String {
    /// The maximum number of bytes of a text in an error.
    package static let mostErrorBytes = 8_000

    /// The text, shortened for an error: whatever it quotes of a file, an answer or a predicate, it has no more than a few kilobytes.
    ///
    /// A longer text first loses the middle of each word that has more than some hundred bytes, such as an identifier, and then its own middle. The
    /// omitted parts are counted.
    package var shortened: String {
        let bytes = utf8
        if bytes.count <= Self.mostErrorBytes { return self }
        var result: [UInt8] = []
        result.reserveCapacity(Self.mostErrorBytes)
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
        let all = Array(bytes)
        var start = 0
        while start < all.count {
            let end = all[start...].firstIndex(where: isSpace) ?? all.count
            Self.append(all[start..<end], to: &result, head: 160, tail: 80)
            if end < all.count { result.append(all[end]) }
            start = end + 1
        }
        if result.count <= Self.mostErrorBytes { return String(decoding: result, as: UTF8.self) }
        var short: [UInt8] = []
        Self.append(result[...], to: &short, head: Self.mostErrorBytes * 2 / 3, tail: Self.mostErrorBytes / 4)
        return String(decoding: short, as: UTF8.self)
    }

    /// Appends bytes of a text, without those between a beginning and an end.
    private static func append(_ bytes: ArraySlice<UInt8>, to result: inout [UInt8], head: Int, tail: Int) {
        guard bytes.count > head + tail + 60 else {
            result += bytes
            return
        }
        // No character is divided.
        func isWithin(_ place: Int) -> Bool { bytes[place] & 0xC0 == 0x80 }
        var (lower, upper) = (bytes.startIndex + head, bytes.endIndex - tail)
        while lower > bytes.startIndex, isWithin(lower) { lower -= 1 }
        while upper < bytes.endIndex - 1, isWithin(upper) { upper += 1 }
        result += bytes[..<lower]
        result += "…(\(upper - lower) bytes)…".utf8
        result += bytes[upper...]
    }
}
