/// The content of a table on a page.
package struct TableQuestion: Sendable {
    package var entity: String
    /// A predicate in the format language; nil or blank for all objects.
    package var predicate: String?
    /// Keys to sort by, such as `year,-title`.
    package var sort: String?
    /// The columns, such as `title,artist.name`; nil for attributes and to-one relationships.
    package var columns: String?
    package var offset: Int
    package var limit: Int

    /// The maximum number of rows in an answer.
    package static let mostRows = 500
    /// The maximum offset, which exceeds the size of any table.
    static let mostOffset = 1 << 60

    package init(
        _ entity: String, where predicate: String? = nil, sort: String? = nil, columns: String? = nil, offset: Int = 0, limit: Int = 100
    ) {
        (self.entity, self.predicate, self.sort, self.columns) = (entity, predicate, sort, columns)
        (self.offset, self.limit) = (min(max(0, offset), Self.mostOffset), min(max(1, limit), Self.mostRows))
        if predicate?.allSatisfy(\.isWhitespace) == true { self.predicate = nil }
    }
}
