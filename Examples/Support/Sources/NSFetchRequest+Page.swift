package import CoreData

extension NSFetchRequest<any NSFetchRequestResult> {
    /// Returns the elements within the offset and limit of the request.
    package func page<Element>(_ elements: [Element]) -> [Element] {
        let rest = elements.dropFirst(fetchOffset)
        return Array(fetchLimit > 0 ? rest.prefix(fetchLimit) : rest)
    }

    /// Whether equal dictionaries are combined, before ``page(_:)`` is applied.
    package var joinsEqualResults: Bool { resultType == .dictionaryResultType && returnsDistinctResults }

    /// Returns the distinct dictionaries if the request is for distinct results; otherwise all of them.
    package func joined(_ dictionaries: [NSDictionary]) -> [NSDictionary] {
        guard joinsEqualResults else { return dictionaries }
        var seen: Set<NSDictionary> = []
        return dictionaries.filter { seen.insert($0).inserted }
    }
}
