@_spi(Stores) internal import ObjectGraph

/// The requests for the pages of an answer, one after the other.
///
/// Pages that begin after a number of resources overlap by one. As long as a page begins with a known row, nothing was skipped between that row and the next
/// one: all resources that stay at the backend were found up to the last row of the page. If a page begins with another row, the pages have shifted. Reading
/// then goes back, twice as far each time, until a page begins with a known row, or to the first page.
struct PageSequence {
    private(set) var request: BackendRequest
    let first: BackendRequest
    private let paging: Paging
    /// Whether the next page is requested by the number of resources to skip.
    private var usesOffsets: Bool
    /// Whether the page must contain a known row.
    private var expectsOverlap = false
    /// The number of resources to go back if it contains none.
    private var stepBack: Int
    /// The numbers of consecutive pages without new rows, and of pages that equal the previous one.
    private var idlePages = 0
    private var repeatedPages = 0
    /// The resources of the last page.
    private var lastPage: [NSManagedObjectID] = []
    private var seen: Set<PageToken> = []
    /// The total according to the first page, and the number of times that the pages may be read again because it has changed.
    private var total: Int?
    private var restarts = 2
    /// The largest total of all pages.
    private var largestTotal = 0

    /// The maximum number of consecutive pages without new rows. Insertions by others cannot explain more.
    private static let mostIdlePages = 200
    /// The maximum number of consecutive pages equal to the previous one. Insertions by others, a full page each time, cannot explain more.
    private static let mostRepeatedPages = 1

    init(_ request: BackendRequest, _ paging: Paging) {
        (self.request, first, self.paging) = (request, request, paging)
        usesOffsets = paging.overlaps
        stepBack = max(1, (paging.size ?? 2) / 2)
    }

    /// Whether the positions of a page's rows are known, because all pages are read by offsets, or again from the first.
    var showsWindows: Bool { usesOffsets || hasRestarted }
    /// Whether the page begins with the last row of the previous one.
    var repeatsOne: Bool { expectsOverlap && request.offset > first.offset }
    /// Whether the page is the first one.
    var isFirst: Bool { request.page == nil && request.offset == first.offset }
    private var hasRestarted = false
    /// Whether only the total can show that pages have shifted.
    var showsOnlyTotals: Bool { paging.stability == .offsets && !usesOffsets && first.page == nil }

    /// Returns whether there may be unread resources between the last page and this one.
    func hasLostItsPlace(_ answer: BackendAnswer, _ pages: PagedRows) -> Bool {
        expectsOverlap && request.offset > first.offset && !(answer.rows.first.map { pages.contains($0.knownObjectID) } ?? false)
    }

    /// Continues with an earlier page.
    mutating func goBack() {
        begin(at: max(first.offset, request.offset - stepBack))
        stepBack *= 2
    }

    private mutating func begin(at offset: Int) {
        request.offset = offset
        request.page = nil
        request.limit = first.limit.map { max(0, $0 - (offset - first.offset)) }
    }

    /// Returns whether the total has changed, if nothing else shows that pages have shifted.
    mutating func mustRestart(_ answer: BackendAnswer) -> Bool {
        guard paging.stability == .offsets, !usesOffsets, let new = answer.total else { return false }
        defer { total = new }
        guard let total, total != new, request.page != nil else { return false }
        return mayRestart()
    }

    /// Returns whether the pages may be read again from the first, and counts the restart.
    mutating func mayRestart() -> Bool {
        guard restarts > 0 else { return false }
        restarts -= 1
        return true
    }

    /// Continues with the first page.
    mutating func restart() {
        request = first
        seen = []
        (idlePages, repeatedPages, lastPage, hasRepeatedPage, largestTotal) = (0, 0, [], false, 0)
        hasRestarted = true
    }

    /// Whether a page equals the previous one, with several resources.
    private(set) var hasRepeatedPage = false

    mutating func noteRepetition(_ answer: BackendAnswer) {
        if !hasRepeatedPage, answer.count > 1, answer.count == lastPage.count, answer.rows.first?.knownObjectID == lastPage.first {
            hasRepeatedPage = answer.rows.map(\.knownObjectID) == lastPage
        }
    }

    /// Notes whether a page has new rows.
    private mutating func noteProgress(_ answer: BackendAnswer, hasNew: Bool) throws {
        let page = answer.rows.map(\.knownObjectID)
        // The position of a page without resources is unknown.
        repeatedPages = !hasNew && !page.isEmpty && page == lastPage ? repeatedPages + 1 : 0
        if repeatedPages > Self.mostRepeatedPages { throw RemoteStoreError.repeatedPages(request) }
        lastPage = page
        idlePages = hasNew ? 0 : idlePages + 1
        if idlePages > Self.mostIdlePages {
            throw RemoteStoreError.endlessPages(request, page.isEmpty ? .empty(idlePages) : .nothingNew(idlePages))
        }
    }

    /// Whether reading must continue although the answer claims to be the last: some backends report the number of remaining resources instead of the total.
    private func mustGoOn(after answer: BackendAnswer) -> Bool {
        usesOffsets && answer.foundCount == paging.size && answer.foundCount > 1 && request.offset + answer.foundCount < largestTotal
    }

    /// Continues with the next page.
    ///
    /// - Parameter hasNew: Whether the last page had rows that are new in this pass over the pages.
    /// - Returns: Whether there is a next page.
    /// - Throws: Code 134060 if the pages do not end.
    mutating func advance(after answer: BackendAnswer, hasNew: Bool) throws -> Bool {
        largestTotal = max(largestTotal, answer.total ?? 0)
        guard answer.next != nil || mustGoOn(after: answer) else { return false }
        try noteProgress(answer, hasNew: hasNew)
        // If an answer has another size than a page, offsets cannot be used.
        let count = answer.foundCount
        usesOffsets = usesOffsets && count == paging.size
        if usesOffsets {
            stepBack = max(1, count / 2)
            expectsOverlap = true
            begin(at: request.offset + count - 1)
            return true
        }
        expectsOverlap = false
        guard let next = answer.next else { return false }
        guard seen.insert(next).inserted else { throw RemoteStoreError.endlessPages(request, .named) }
        request.page = next
        return true
    }
}
