package import CoreData

extension NSFetchRequest<any NSFetchRequestResult> {
    /// Leaves out what lies before the offset and beyond the limit of the request.
    package func page<Element>(_ elements: [Element]) -> [Element] {
        let rest = elements.dropFirst(fetchOffset)
        return Array(fetchLimit > 0 ? rest.prefix(fetchLimit) : rest)
    }

    /// Whether equal dictionaries become one: they are joined first and counted by ``page(_:)`` afterwards.
    package var joinsEqualResults: Bool { resultType == .dictionaryResultType && returnsDistinctResults }

    /// The first of equal dictionaries each, if the request wants them joined; all of them, if not.
    package func joined(_ dictionaries: [NSDictionary]) -> [NSDictionary] {
        guard joinsEqualResults else { return dictionaries }
        var seen: Set<NSDictionary> = []
        return dictionaries.filter { seen.insert($0).inserted }
    }
}
