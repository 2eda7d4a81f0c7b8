internal import Foundation

/// Makes text from stores safe for terminals: no text can move the cursor, set colours or titles, or change its direction.
package enum DisplayText {
    /// Returns whether a terminal interprets a character instead of showing it.
    package static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0: true
        // Line separators, and directional marks.
        case 0x2028, 0x2029, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069, 0x061C, 0xFEFF: true
        // Tags, and code points that are not characters.
        case 0xE0000...0xE007F, 0xFFF9...0xFFFB: true
        default: false
        }
    }

    /// Returns text on one line, with unsafe characters as escapes.
    package static func line(_ text: String) -> String {
        if !text.unicodeScalars.contains(where: isUnsafe) { return text }
        var line = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": line += "\\n"
            case "\r": line += "\\r"
            case "\t": line += "\\t"
            case _ where isUnsafe(scalar): line += "\\u{\(String(scalar.value, radix: 16))}"
            default: line.unicodeScalars.append(scalar)
            }
        }
        return line
    }

    /// Returns text of several lines, with unsafe characters as escapes.
    package static func lines(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line(String($0)) }.joined(separator: "\n")
    }

    /// Returns the number of terminal columns that text takes.
    package static func width(_ text: String) -> Int { text.reduce(0) { $0 + width($1) } }

    private static func width(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        if scalar.isASCII { return 1 }
        if scalar.properties.generalCategory == .nonspacingMark { return 0 }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            return 2
        default: return scalar.properties.isEmojiPresentation ? 2 : 1
        }
    }

    /// Returns the beginning of text that fits into a number of columns. Cut text ends with an ellipsis.
    package static func cut(_ text: String, to limit: Int) -> String {
        if width(text) <= limit { return text }
        var (result, taken) = ("", 0)
        for character in text {
            let next = width(character)
            if taken + next > limit - 1 { break }
            result.append(character)
            taken += next
        }
        return result + "…"
    }

    /// Returns a number of bytes in readable form.
    package static func bytes(_ count: Int64) -> String {
        var (value, unit) = (Double(count), 0)
        let units = ["bytes", "kB", "MB", "GB", "TB"]
        while value >= 1000, unit < units.count - 1 { (value, unit) = (value / 1000, unit + 1) }
        if unit == 0 { return count == 1 ? "1 byte" : "\(count) bytes" }
        // Bounded: less than a million, or a number of terabytes.
        let tenths = Int((value * 10).rounded())
        return tenths >= 100 || tenths % 10 == 0 ? "\((tenths + 5) / 10) \(units[unit])" : "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    /// Returns a number with its noun: “1 row”, “2 rows”.
    package static func counted(_ count: Int, _ noun: String, _ plural: String? = nil) -> String {
        "\(grouped(count)) \(count == 1 ? noun : plural ?? noun + "s")"
    }

    /// Returns a number with thousands separators.
    package static func grouped(_ count: Int) -> String {
        var (digits, result) = (String(count.magnitude), "")
        while digits.count > 3 {
            result = "," + digits.suffix(3) + result
            digits.removeLast(3)
        }
        return (count < 0 ? "-" : "") + digits + result
    }
}
