/// Binary data in an XML store: Base64, in a first line of 76 digits and a second with the rest, as Apple's framework writes it.
enum XMLStoreBase64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    /// The value of each digit; 64 for spaces, 65 for “=”, 66 for anything else.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 66, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        for space in [0x20, 0x09, 0x0A, 0x0D] { values[space] = 64 }
        values[0x3D] = 65
        return values
    }()

    static func write(_ data: UnsafeRawBufferPointer, to output: ArchiveOutput) throws {
        if data.isEmpty { return }
        let newline: [UInt8] = [0x0A]
        let first = UnsafeRawBufferPointer(rebasing: data.prefix(57))
        try output.append(encoded(first))
        // In parts that are multiples of three, so that no padding comes between them.
        var start = first.count
        if start < data.count { try output.append(newline) }
        while start < data.count {
            let end = min(data.count, start + 48 * 1024)
            try output.append(encoded(UnsafeRawBufferPointer(rebasing: data[start..<end])))
            start = end
        }
        try output.append(newline)
    }

    static func encoded(_ data: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: (data.count + 2) / 3 * 4) { result, count in
            digits.withUnsafeBufferPointer { digits in
                var index = 0
                while index < data.count {
                    let second = index + 1 < data.count ? data[index + 1] : 0
                    let third = index + 2 < data.count ? data[index + 2] : 0
                    let word = UInt32(data[index]) << 16 | UInt32(second) << 8 | UInt32(third)
                    result[count] = digits[Int(word >> 18)]
                    result[count + 1] = digits[Int(word >> 12 & 63)]
                    result[count + 2] = index + 1 < data.count ? digits[Int(word >> 6 & 63)] : 0x3D
                    result[count + 3] = index + 2 < data.count ? digits[Int(word & 63)] : 0x3D
                    count += 4
                    index += 3
                }
            }
        }
    }

    /// Decodes data.
    ///
    /// - Throws: ``XMLStoreText/Mistake`` for text that is not Base64.
    static func decoded(_ text: UnsafeRawBufferPointer) throws -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count / 4 * 3)
        var word: UInt32 = 0
        var count = 0
        var filling = 0
        try values.withUnsafeBufferPointer { values in
            for index in text.indices {
                let value = values[Int(text[index])]
                if value == 64 { continue }
                if value == 65 {
                    filling += 1
                    continue
                }
                guard value < 64, filling == 0 else { throw XMLStoreText.Mistake(offset: index, reason: "It is not Base64.") }
                word = word << 6 | UInt32(value)
                count += 1
                if count == 4 {
                    result.append(UInt8(truncatingIfNeeded: word >> 16))
                    result.append(UInt8(truncatingIfNeeded: word >> 8))
                    result.append(UInt8(truncatingIfNeeded: word))
                    (word, count) = (0, 0)
                }
            }
        }
        guard count != 1, filling == 0 && count == 0 || count + filling == 4 else {
            throw XMLStoreText.Mistake(offset: text.count, reason: "Its Base64 is not complete.")
        }
        if count >= 2 { result.append(UInt8(truncatingIfNeeded: word >> (count == 2 ? 4 : 10))) }
        if count == 3 { result.append(UInt8(truncatingIfNeeded: word >> 2)) }
        return result
    }
}
