internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

extension RemoteReader {
    /// The end of reading a request's pages.
    enum End {
        /// The caller wants no more pages.
        case stopped
        /// The last page was read.
        ///
        /// - Parameter isProven: Whether no requested resource can be missing.
        case last(isProven: Bool)
    }

    /// The progress of reading a request's pages.
    struct PageReading {
        fileprivate var sequence: PageSequence
        fileprivate let endpoint: Endpoint
        /// The prefetcher of pages, if all pages will be read.
        fileprivate let ahead: ReadAhead?
        /// The rows so far.
        fileprivate(set) var pages = PagedRows()
        /// New rows of a page after which reading started over: they are returned with the next page.
        private var heldBack: [Row] = []
        /// Whether the caller requests missing resources again.
        private let mayEndEarly: Bool
        /// The total according to the first page.
        private var total: Int?
        /// Whether a later page has reported another total.
        private(set) var hasOtherTotals = false
        /// The numbers of received and of omitted resources in this pass.
        private var received = 0
        private var leftOut = 0
        /// The resources that were received several times.
        private var repeated = RepeatedRows()
        /// Whether this pass only determines which resources are received twice: the rows of the previous pass stay.
        fileprivate private(set) var isChecking = false

        init(_ request: BackendRequest, _ endpoint: Endpoint, mayEndEarly: Bool = false, ahead: ReadAhead? = nil) {
            self.ahead = ahead
            sequence = PageSequence(request, endpoint.paging)
            self.endpoint = endpoint
            self.mayEndEarly = mayEndEarly
        }

        /// The request for the next page.
        var next: BackendRequest { sequence.request }

        fileprivate mutating func note(_ answer: BackendAnswer) {
            if sequence.isFirst { (total, received, leftOut, hasOtherTotals) = (answer.total, 0, 0, false) }
            if let total, let other = answer.total, other != total { hasOtherTotals = true }
            received += answer.foundCount - (sequence.repeatsOne && answer.foundCount > 0 ? 1 : 0)
            leftOut += answer.foundCount - answer.count
            // A list with a single page is taken as it is.
            if total != nil, !sequence.isFirst || answer.next != nil { repeated.note(answer.rows, repeatsOne: sequence.repeatsOne) }
        }

        /// Starts over with the first page.
        fileprivate mutating func restart(holdingBack new: RowList = RowList()) {
            isChecking = false
            heldBack += Array(new)
            repeated.restart()
            pages.restart()
            sequence.restart()
        }

        /// Starts over with the first page, after some resources were received twice and others are missing.
        fileprivate mutating func check(holdingBack new: RowList) {
            isChecking = true
            heldBack += Array(new)
            repeated.restart()
            sequence.restart()
        }

        /// Merges the rows of a page.
        ///
        /// - Returns: The new rows, and whether the page has any.
        fileprivate mutating func take(_ page: RowList) -> (new: RowList, hasNew: Bool) {
            if isChecking { return (RowList(), true) }
            let before = pages.countOfReading
            let new = sequence.showsWindows ? pages.take(page, isFirst: sequence.isFirst) : pages.append(page)
            return (new, !new.isEmpty || pages.countOfReading > before)
        }

        /// Whether the number of received resources equals the total, although some were received twice.
        fileprivate func hasComeTwice(of expected: Int) -> Bool { received >= expected }

        /// Returns the new rows of a page, with those that were held back and still exist.
        fileprivate mutating func handOut(_ new: RowList) -> RowList {
            if heldBack.isEmpty { return new }
            defer { heldBack = [] }
            let own = Set(new.map(\.knownObjectID))
            return RowList(heldBack.filter { pages.contains($0.knownObjectID) && !own.contains($0.knownObjectID) } + Array(new))
        }

        /// Whether this pass is complete by the number of its resources, but lacks some that an earlier pass had and that the previous one did not lack. They
        /// may have been deleted, or have moved from an unread page to one that was already read, while others were inserted.
        fileprivate var lacksWhatWasThere: Bool { isWhole && pages.lacksNewly }

        /// Starts over with the first page, to check whether the missing resources are received then.
        fileprivate mutating func confirm(holdingBack new: RowList) {
            pages.noteLacking()
            restart(holdingBack: new)
        }

        /// Notes that the last page was read: resources that two passes lacked are gone.
        fileprivate mutating func finish() {
            if isWhole, pages.isReadAgain { pages.dropLacking() } else { pages.finish() }
        }

        private var isWhole: Bool { wanted.map { pages.countOfReading + leftOut >= $0 } ?? false }

        /// The number of requested resources, if each page has reported the same total.
        private var wanted: Int? {
            guard let total, !hasOtherTotals else { return nil }
            return min(sequence.first.limit ?? .max, max(0, total - sequence.first.offset))
        }

        /// Returns the total if the number of received resources differs from it, in either direction.
        ///
        /// Others may have inserted or deleted resources meanwhile: then the total has changed as well.
        fileprivate func expectedCount(_ answer: BackendAnswer) -> Int? {
            // A page that tells no number leaves the one that was told.
            guard !mayEndEarly, let total, total == answer.total ?? total else { return nil }
            // A resource that was received twice has moved, and the omitted ones may have been the same.
            if !hasOtherTotals, pages.rows.count - pages.countOfLacking > max(0, total - sequence.first.offset) { return total }
            let expected = min(sequence.first.limit ?? .max, total - sequence.first.offset)
            if pages.rows.count + leftOut >= expected { return nil }
            if received < expected { return expected }
            // Some resources were received twice. A resource of several owners is received once for each, and some lists legitimately contain duplicates. If
            // the order of equal resources differs for each request, others are missing instead: then another pass finds different duplicates.
            return asksOneByOne && hasPages && !repeated.areTheSame ? expected : nil
        }

        /// Whether a page equals the previous one, and not all resources of the total were received.
        fileprivate var isStuck: Bool {
            guard sequence.hasRepeatedPage, asksOneByOne, let wanted else { return false }
            return pages.rows.count + leftOut < wanted
        }

        /// Whether there is more than one page.
        private var hasPages: Bool { !sequence.isFirst }

        /// Whether no filter of the request has several values.
        private var asksOneByOne: Bool {
            sequence.first.predicate == nil && sequence.first.filters.allSatisfy { $0.ids.count + $0.values.count <= 1 }
        }
    }

    /// A page that was read.
    struct PageStep {
        let answer: BackendAnswer
        /// The new rows of the page.
        let new: RowList
        /// Whether rows before them have moved or disappeared.
        let hasRearranged: Bool
        /// The end of the reading, if it has ended.
        let end: End?
    }

    /// Reads the next page. Resources that stay at the backend are found, regardless of insertions and deletions, as far as the paging of the endpoint allows.
    ///
    /// - Returns: The page; nil if reading continues elsewhere because the pages have shifted.
    /// - Throws: Code 134070 for answers that end before the reported total is reached; the backend's error, with the reading unchanged.
    func step(_ reading: inout PageReading, _ budget: FetchBudget) async throws -> PageStep? {
        try Task.checkCancellation()
        try budget.noteRequest()
        let request = reading.sequence.request
        let answer = if let ahead = reading.ahead { try await ahead.answer(request) } else { try await runner.answer(request) }
        try budget.noteRows(answer.count)
        if reading.sequence.hasLostItsPlace(answer, reading.pages) {
            reading.sequence.goBack()
            return nil
        }
        if reading.sequence.mustRestart(answer) {
            // The rows of this pass identify those that the next pass skips.
            let new = reading.pages.append(answer.rows)
            reading.restart(holdingBack: new)
            return nil
        }
        reading.note(answer)
        reading.sequence.noteRepetition(answer)
        let showsWindows = reading.sequence.showsWindows && !reading.isChecking
        let (new, hasNew) = reading.take(answer.rows)
        var end: End?
        if try !reading.sequence.advance(after: answer, hasNew: hasNew) {
            if showsWindows {
                if reading.lacksWhatWasThere, reading.sequence.mayRestart() {
                    reading.confirm(holdingBack: new)
                    return nil
                }
                reading.finish()
            }
            if reading.isStuck { throw RemoteStoreError.repeatedPages(request) }
            if let expected = reading.expectedCount(answer) {
                // The number of insertions may equal the number of deletions.
                guard !reading.isChecking, reading.sequence.mayRestart() else {
                    throw RemoteStoreError.endedEarly(reading.sequence.first, reading.pages.rows.count, expected)
                }
                if !showsWindows, reading.hasComeTwice(of: expected) {
                    reading.check(holdingBack: new)
                } else {
                    reading.restart(holdingBack: new)
                }
                return nil
            }
            moving.note(reading.sequence.first, hasMoved: reading.hasOtherTotals && reading.sequence.showsOnlyTotals)
            end = .last(isProven: answer.isComplete)
        }
        return PageStep(answer: answer, new: reading.handOut(new), hasRearranged: reading.pages.wasRearranged, end: end)
    }

    /// Reads the pages of a request, in order.
    ///
    /// - Parameters:
    ///   - mayEndEarly: Whether the caller requests missing resources again.
    ///   - readsAll: Whether the caller wants all pages.
    ///   - body: A closure that receives each answer, its new rows and, if earlier rows have moved, all rows up to the end of this page. It returns whether to
    ///     continue.
    /// - Returns: The end of the reading, and the rows.
    func readPages(
        _ request: BackendRequest, _ endpoint: Endpoint, _ budget: FetchBudget, mayEndEarly: Bool = false, readsAll: Bool = false,
        _ body: (BackendAnswer, RowList, RowList?) async throws -> Bool
    ) async throws -> (end: End, pages: PagedRows) {
        // The request for an overlapping page depends on the previous page.
        let ahead = readsAll && !endpoint.paging.overlaps ? ReadAhead(runner) : nil
        defer { ahead?.end() }
        var reading = PageReading(request, endpoint, mayEndEarly: mayEndEarly, ahead: ahead)
        while true {
            guard let step = try await step(&reading, budget) else { continue }
            guard try await body(step.answer, step.new, step.hasRearranged ? reading.pages.confirmedRows : nil) else {
                return (.stopped, reading.pages)
            }
            if let end = step.end { return (end, reading.pages) }
        }
    }

    /// The rows that a plan has found, each object once.
    struct Found: Sendable {
        var rows = RowList()
        /// Whether each request was read to an end that proves that nothing is missing.
        var isProven = true
        /// The time of the rows' request, if it was an earlier one.
        var time: AskTime?
        /// The same for rows of one of several requests.
        var earlierParts: [(time: AskTime, ids: Set<NSManagedObjectID>)] = []

        init(rows: RowList = RowList(), time: AskTime? = nil) { (self.rows, self.time) = (rows, time) }

        /// Joins the results of several requests.
        init(joining parts: [Found]) {
            if parts.count == 1 {
                self = parts[0]
                return
            }
            var seen: Set<NSManagedObjectID> = []
            for part in parts {
                isProven = isProven && part.isProven
                if let time = part.time { earlierParts.append((time, Set(part.rows.map(\.knownObjectID)))) }
                for row in part.rows where seen.insert(row.knownObjectID).inserted { rows.append(row) }
            }
        }

        /// Whether some of the rows come from earlier requests.
        var isEarlier: Bool { time != nil || !earlierParts.isEmpty }

        /// Notes which of the returned rows come from earlier requests.
        func note(_ returned: some Sequence<Row>, in earlier: EarlierRows) {
            if let time { earlier.note(returned, askedAt: time.uptime) }
            for (time, ids) in earlierParts { earlier.note(returned.filter { ids.contains($0.knownObjectID) }, askedAt: time.uptime) }
        }
    }

    /// Reads all results of the requests of a plan, concurrently.
    ///
    /// - Parameter mayEndEarly: Whether the caller requests missing resources again.
    func readAll(
        _ plan: FetchPlan, _ budget: FetchBudget, mayEndEarly: Bool = false, for caller: StoreCaller
    ) async throws -> Found {
        var parts: [Found]
        if plan.requests.count == 1 {
            parts = [try await readAll(plan.requests[0], plan.endpoints[0], budget, mayEndEarly, for: caller)]
        } else {
            parts = try await withThrowingTaskGroup(of: (Int, Found).self) { group in
                var parts = Array(repeating: Found(), count: plan.requests.count)
                var next = 0
                func add() {
                    guard next < plan.requests.count else { return }
                    let index = next
                    next += 1
                    let (request, endpoint) = (plan.requests[index], plan.endpoints[index])
                    group.addTask {
                        let part = try await self.readAll(request, endpoint, budget, mayEndEarly, for: caller)
                        return (index, part)
                    }
                }
                for _ in 0..<options.concurrentRequests { add() }
                while let (index, part) = try await group.next() {
                    parts[index] = part
                    add()
                }
                return parts
            }
        }
        return Found(joining: parts)
    }

    /// Reads all results of a request.
    func readAll(
        _ request: BackendRequest, _ endpoint: Endpoint, _ budget: FetchBudget, _ mayEndEarly: Bool, for caller: StoreCaller
    ) async throws -> Found {
        let epoch = runner.epoch
        if let answer = kept.answer(request, age: endpoint.freshness, maximumAge: caller.stalenessInterval, epoch: epoch) {
            return Found(rows: answer.rows, time: answer.time)
        }
        let time = AskTime(options.now())
        let (end, pages) = try await readPages(request, endpoint, budget, mayEndEarly: mayEndEarly, readsAll: true) { _, _, _ in true }
        var found = Found(rows: pages.rows)
        if case .last(let isProven) = end { found.isProven = isProven }
        if endpoint.freshness != nil { kept.keep(found.rows, request, askedAt: time, epoch: epoch) }
        return found
    }
}
