#if PostgreSQL
internal import MappedTables
internal import SQLQueries

/// The names of tables and columns that are in use.
///
/// A name is that of the model in lower case, its words separated by underscores, so that most need no quotes in SQL. Names that become equal get a
/// number, in the order of the model's names.
struct LayoutNames {
    private var taken: Set<String>
    /// PostgreSQL cuts longer names, in bytes.
    private static let longest = 63

    init(_ names: [String] = []) { taken = Set(names) }

    /// Claims a name, or the name with the first number that makes it unique.
    mutating func claim(_ name: String) -> SQLIdentifier {
        let word = Self.cut(name, to: Self.longest)
        var candidate = word
        var count = 1
        while !taken.insert(candidate).inserted {
            count += 1
            candidate = Self.cut(word, to: Self.longest - String(count).utf8.count - 1) + "_\(count)"
        }
        return Self.identifier(candidate)
    }

    /// Returns a name in SQL, always quoted: it may be a keyword.
    static func identifier(_ name: String) -> SQLIdentifier { TableNames.identifier(name) }

    private static func cut(_ name: String, to count: Int) -> String {
        var name = name
        while name.utf8.count > count { name.removeLast() }
        return name
    }
}
#endif
