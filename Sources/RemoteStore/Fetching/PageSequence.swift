@_spi(Stores) internal import ObjectGraph

/// The requests for the pages of an answer, one after the other.
///
/// Pages that begin after a number of resources overlap by one. As long as a page begins with a row that is known, nothing was skipped between
/// that row and the next one: all that stays at the backend up to the last row of the page has been found. A page that begins with another has
/// moved: reading goes back, twice as far each time, to a page that does, or to the first.
struct PageSequence {
    private(set) var request: BackendRequest
    let first: BackendRequest
    private let paging: Paging
    /// Whether the next page is asked for by the number of resources to skip.
    private var usesOffsets: Bool
    /// Whether the page must have a row that is known.
    private var expectsOverlap = false
    /// How far to go back where it has none.
    private var stepBack: Int
    /// The number of pages without anything new, and of those that have what the one before has.
    private var idlePages = 0
    private var repeatedPages = 0
    /// The resources of the last page.
    private var lastPage: [NSManagedObjectID] = []
    private var seen: Set<PageToken> = []
    /// The number of all resources, as the first page has told, and how often the pages may be read again because it has changed.
    private var total: Int?
    private var restarts = 2
    /// The largest number of all resources that a page has told.
    private var largestTotal = 0

    /// More pages that bring nothing than insertions by others can explain.
    private static let mostIdlePages = 200
    /// More pages in a row with what the one before has than insertions by others can explain, as many as a page has each time.
    private static let mostRepeatedPages = 1

    init(_ request: BackendRequest, _ paging: Paging) {
        (self.request, first, self.paging) = (request, request, paging)
        usesOffsets = paging.overlaps
        stepBack = max(1, (paging.size ?? 2) / 2)
    }

    /// Whether pages show where their rows belong, because all of them are read by offsets, or again from the first.
    var showsWindows: Bool { usesOffsets || hasRestarted }
    /// Whether the page begins with a row of the one before.
    var repeatsOne: Bool { expectsOverlap && request.offset > first.offset }
    /// Whether the page is the first one.
    var isFirst: Bool { request.page == nil && request.offset == first.offset }
    private var hasRestarted = false
    /// Whether only the number of all resources tells that pages have moved.
    var showsOnlyTotals: Bool { paging.stability == .offsets && !usesOffsets && first.page == nil }

    /// Returns whether resources may lie between the last page and this one, which were not read.
    func hasLostItsPlace(_ answer: BackendAnswer, _ pages: PagedRows) -> Bool {
        expectsOverlap && request.offset > first.offset && !(answer.rows.first.map { pages.contains($0.knownObjectID) } ?? false)
    }

    /// Goes on with an earlier page.
    mutating func goBack() {
        begin(at: max(first.offset, request.offset - stepBack))
        stepBack *= 2
    }

    private mutating func begin(at offset: Int) {
        request.offset = offset
        request.page = nil
        request.limit = first.limit.map { max(0, $0 - (offset - first.offset)) }
    }

    /// Returns whether the number of all resources has changed, where nothing else tells that pages have moved.
    mutating func mustRestart(_ answer: BackendAnswer) -> Bool {
        guard paging.stability == .offsets, !usesOffsets, let new = answer.total else { return false }
        defer { total = new }
        guard let total, total != new, request.page != nil else { return false }
        return mayRestart()
    }

    /// Returns whether the pages may be read again from the first, and counts that.
    mutating func mayRestart() -> Bool {
        guard restarts > 0 else { return false }
        restarts -= 1
        return true
    }

    /// Goes on with the first page.
    mutating func restart() {
        request = first
        seen = []
        (idlePages, repeatedPages, lastPage, hasRepeatedPage, largestTotal) = (0, 0, [], false, 0)
        hasRestarted = true
    }

    /// Whether a page has had what the one before has, all of several resources.
    private(set) var hasRepeatedPage = false

    mutating func noteRepetition(_ answer: BackendAnswer) {
        if !hasRepeatedPage, answer.count > 1, answer.count == lastPage.count, answer.rows.first?.knownObjectID == lastPage.first {
            hasRepeatedPage = answer.rows.map(\.knownObjectID) == lastPage
        }
    }

    /// Notes whether a page has brought anything.
    private mutating func noteProgress(_ answer: BackendAnswer, hasNew: Bool) throws {
        let page = answer.rows.map(\.knownObjectID)
        // A page without resources says nothing of where it lies.
        repeatedPages = !hasNew && !page.isEmpty && page == lastPage ? repeatedPages + 1 : 0
        if repeatedPages > Self.mostRepeatedPages { throw RemoteStoreError.repeatedPages(request) }
        lastPage = page
        idlePages = hasNew ? 0 : idlePages + 1
        if idlePages > Self.mostIdlePages {
            throw RemoteStoreError.endlessPages(request, page.isEmpty ? .empty(idlePages) : .nothingNew(idlePages))
        }
    }

    /// Whether the last page by what it tells is not: some backends tell how many resources are left, and not how many there are.
    private func mustGoOn(after answer: BackendAnswer) -> Bool {
        usesOffsets && answer.foundCount == paging.size && answer.foundCount > 1 && request.offset + answer.foundCount < largestTotal
    }

    /// Goes on with the next page.
    ///
    /// - Parameter hasNew: Whether this reading of the pages has got something by the last one.
    /// - Returns: Whether there is one.
    /// - Throws: Code 134060 where pages do not end.
    mutating func advance(after answer: BackendAnswer, hasNew: Bool) throws -> Bool {
        largestTotal = max(largestTotal, answer.total ?? 0)
        guard answer.next != nil || mustGoOn(after: answer) else { return false }
        try noteProgress(answer, hasNew: hasNew)
        // An answer that ends elsewhere does not count as offsets do.
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
