/// The aggregates of collections.
package enum SQLAggregate: String, Sendable {
    case sum, count, min, max, average, median, mode, stddev

    /// The collection operators whose result is a collection.
    static let collections: Set<String> = [
        "@unionOfObjects", "@distinctUnionOfObjects", "@unionOfArrays", "@distinctUnionOfArrays", "@unionOfSets", "@distinctUnionOfSets",
    ]

    /// Creates the aggregate of a collection operator.
    init?(operator name: String) {
        switch name {
        case "@sum": self = .sum
        case "@avg": self = .average
        case "@min": self = .min
        case "@max": self = .max
        default: return nil
        }
    }

    /// Creates the aggregate of Apple's function name.
    init?(function name: String) {
        self.init(rawValue: name.lowercased().hasSuffix(":") ? String(name.lowercased().dropLast()) : name.lowercased())
    }
}
