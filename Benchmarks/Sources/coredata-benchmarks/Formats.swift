import Foundation

/// Predicate formats to parse: those found in public code where COREDATA_MATERIAL names the folder, otherwise a built-in list.
enum Formats {
    struct Format {
        let format: String
        let arguments: [any Sendable]
    }

    static func found() -> [Format]? {
        guard let folder = ProcessInfo.processInfo.environment["COREDATA_MATERIAL"],
            let text = try? String(contentsOfFile: folder + "/predicates.tsv", encoding: .utf8)
        else { return nil }
        return text.split(separator: "\n").dropFirst().map { line in
            make(String(line.split(separator: "\t", omittingEmptySubsequences: false)[0]))
        }
    }

    /// Returns a format with an argument of the right type for each placeholder.
    private static func make(_ format: String) -> Format {
        var arguments: [any Sendable] = []
        var isPlaceholder = false
        for character in format {
            if isPlaceholder {
                switch character {
                case "K", "@": arguments.append("key")
                case "d", "i", "u", "x", "D", "U": arguments.append(7)
                case "f", "g", "e": arguments.append(1.5)
                case "l", "h", "q", "z", "0"..."9", ".": continue
                default: break
                }
            }
            isPlaceholder = character == "%"
        }
        return Format(format: format, arguments: arguments)
    }

    static let typical: [Format] = [
        "name == %@", "name = %@ AND age > %d", "age >= 18", "age BETWEEN {18, 65}", "name BEGINSWITH[cd] %@", "name CONTAINS[c] %@",
        "name LIKE 'A*'", "email MATCHES '.+@.+'", "SELF == %@", "SELF IN %@", "identifier IN %@", "NOT identifier IN %@",
        "isActive == YES",
        "isActive == NO AND deletedAt == nil", "deletedAt != nil", "createdAt > %@", "createdAt >= %@ AND createdAt < %@", "%K == %@",
        "%K CONTAINS[cd] %@", "%K BEGINSWITH %@ OR %K ENDSWITH %@", "album.title == %@", "album.band.name == %@", "ANY tags.label == %@",
        "ANY tags IN %@", "ALL tracks.seconds > 60", "NONE tags.label == 'live'", "tracks.@count > 0", "tracks.@count == 0",
        "tracks.@sum.seconds > 3600", "tracks.@avg.rating >= 3.5", "tracks.@max.seconds < 600",
        "SUBQUERY(tracks, $t, $t.seconds > 300).@count > 0", "SUBQUERY(tracks, $t, $t.seconds > 300 AND $t.rating == 5).@count == 0",
        "title == nil OR title == ''", "title.length > 10", "(a == 1 OR b == 2) AND (c == 3 OR d == 4)", "NOT (a == 1 AND b == 2)",
        "a + b > c * 2", "price * quantity >= 100", "rating >= 4 || favorite == TRUE", "rating < 2 && !(favorite == TRUE)",
        "year IN {1999, 2000, 2001}",
        "genre IN {'rock', 'folk', 'jazz'}", "band == %@ AND year == %d", "TRUEPREDICATE", "FALSEPREDICATE", "sum:(scores) > 10",
        "max:(scores) == 5",
        "uppercase:(name) == %@", "CAST(date, 'NSNumber') > 0", "TERNARY(a == 1, b, c) == 2", "names[0] == 'x'",
        "names[FIRST] == names[LAST]",
        "names[SIZE] > 1", "latitude > %f AND latitude < %f AND longitude > %f AND longitude < %f",
        "section == %@ AND order > %d AND hidden == NO",
        "parent == nil AND kind == %d", "ANY children.name CONTAINS[cd] %@ OR name CONTAINS[cd] %@", "score > average:(scores)",
        "flags & 4 == 4",
    ].map(make)
}
