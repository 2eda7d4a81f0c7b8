internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

extension RemoteReader {
    /// How the reading of a request's pages has ended.
    enum End {
        /// No more is wanted.
        case stopped
        /// The last page was read.
        ///
        /// - Parameter isProven: Whether nothing can be missing that the request has asked for.
        case last(isProven: Bool)
    }

    /// The reading of a request's pages, as far as it has come.
    struct PageReading {
        fileprivate var sequence: PageSequence
        fileprivate let endpoint: Endpoint
        /// What asks for pages before they are wanted, where all of them will be.
        fileprivate let ahead: ReadAhead?
        /// The rows so far.
        fileprivate(set) var pages = PagedRows()
        /// New rows of a page after which reading began again: they are handed out with the next page.
        private var heldBack: [Row] = []
        /// Whether the caller asks again for what has not come.
        private let mayEndEarly: Bool
        /// The number of resources that the first page has told.
        private var total: Int?
        /// Whether a later page has told another one.
        private(set) var hasOtherTotals = false
        /// The number of resources that have come since, and of those that were left out.
        private var received = 0
        private var leftOut = 0
        /// The resources that have come several times.
        private var repeated = RepeatedRows()
        /// Whether the pages are read again only to see which resources come twice: what has come stays.
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
            // A list of one page has what it has.
            if total != nil, !sequence.isFirst || answer.next != nil { repeated.note(answer.rows, repeatsOne: sequence.repeatsOne) }
        }

        /// Begins again with the first page.
        fileprivate mutating func restart(holdingBack new: RowList = RowList()) {
            isChecking = false
            heldBack += Array(new)
            repeated.restart()
            pages.restart()
            sequence.restart()
        }

        /// Begins again with the first page, after some resources have come twice and others have not come.
        fileprivate mutating func check(holdingBack new: RowList) {
            isChecking = true
            heldBack += Array(new)
            repeated.restart()
            sequence.restart()
        }

        /// Takes the rows of a page.
        ///
        /// - Returns: The new ones, and whether the page has brought anything.
        fileprivate mutating func take(_ page: RowList) -> (new: RowList, hasNew: Bool) {
            if isChecking { return (RowList(), true) }
            let before = pages.countOfReading
            let new = sequence.showsWindows ? pages.take(page, isFirst: sequence.isFirst) : pages.append(page)
            return (new, !new.isEmpty || pages.countOfReading > before)
        }

        /// Whether as many resources have come as were told of, and some of them twice.
        fileprivate func hasComeTwice(of expected: Int) -> Bool { received >= expected }

        /// Returns the new rows of a page, with those that were held back and are still there.
        fileprivate mutating func handOut(_ new: RowList) -> RowList {
            if heldBack.isEmpty { return new }
            defer { heldBack = [] }
            let own = Set(new.map(\.knownObjectID))
            return RowList(heldBack.filter { pages.contains($0.knownObjectID) && !own.contains($0.knownObjectID) } + Array(new))
        }

        /// Whether this reading is whole by the number of its resources, and lacks some that an earlier one has brought and the one before has not lacked.
        /// They have gone, or they have moved from a page to the one before it while that was read, and others have come meanwhile.
        fileprivate var lacksWhatWasThere: Bool { isWhole && pages.lacksNewly }

        /// Begins again with the first page, to see whether what is lacking comes then.
        fileprivate mutating func confirm(holdingBack new: RowList) {
            pages.noteLacking()
            restart(holdingBack: new)
        }

        /// Notes that the last page was read: what two readings have lacked is gone.
        fileprivate mutating func finish() {
            if isWhole, pages.isReadAgain { pages.dropLacking() } else { pages.finish() }
        }

        private var isWhole: Bool { wanted.map { pages.countOfReading + leftOut >= $0 } ?? false }

        /// The number of resources that the request asks for, where each page has told the same number of all.
        private var wanted: Int? {
            guard let total, !hasOtherTotals else { return nil }
            return min(sequence.first.limit ?? .max, max(0, total - sequence.first.offset))
        }

        /// Returns the number of resources that the backend has told of, if others have come up to the last page: fewer, or more.
        ///
        /// Others may have added or removed some meanwhile: then the number is another one.
        fileprivate func expectedCount(_ answer: BackendAnswer) -> Int? {
            guard !mayEndEarly, let total, total == answer.total else { return nil }
            // A resource that came twice has moved, and those that were left out may have been the same.
            if !hasOtherTotals, pages.rows.count - pages.countOfLacking > max(0, total - sequence.first.offset) { return total }
            let expected = min(sequence.first.limit ?? .max, total - sequence.first.offset)
            if pages.rows.count + leftOut >= expected { return nil }
            if received < expected { return expected }
            // Some have come twice. A resource that belongs to several owners comes once for each, and there may be other lists that have some twice. Where
            // the order of equal ones is another one each time, others have not come instead: then another reading finds other ones.
            return asksOneByOne && hasPages && !repeated.areTheSame ? expected : nil
        }

        /// Whether a page was the one before once more, and not all of the resources have come that the backend has told of.
        fileprivate var isStuck: Bool {
            guard sequence.hasRepeatedPage, asksOneByOne, let wanted else { return false }
            return pages.rows.count + leftOut < wanted
        }

        /// Whether the last page is another one than the first.
        private var hasPages: Bool { !sequence.isFirst }

        /// Whether no filter of the request has several values.
        private var asksOneByOne: Bool {
            sequence.first.predicate == nil && sequence.first.filters.allSatisfy { $0.ids.count + $0.values.count <= 1 }
        }
    }

    /// A page that was read.
    struct PageStep {
        let answer: BackendAnswer
        /// The rows that are new in it.
        let new: RowList
        /// Whether rows before them have moved or gone.
        let hasRearranged: Bool
        /// How the reading has ended, if it has.
        let end: End?
    }

    /// Reads the next page. What stays at the backend meanwhile is found, whatever comes and goes, as far as the paging of the endpoint
    /// allows.
    ///
    /// - Returns: The page; nil where reading goes on elsewhere, because the pages have moved.
    /// - Throws: Code 134070 for answers that end before the number of resources has come that the backend has told; the backend's error, with the
    ///   reading as it was.
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
            // What the next reading skips is known by what this one has brought.
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
                // As many may have come as have gone.
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
    ///   - mayEndEarly: Whether the caller asks again for what has not come.
    ///   - readsAll: Whether the caller wants all pages.
    ///   - body: Receives each answer, the rows that are new in it and, where those before have moved, all rows up to the end of this
    ///   page. It returns whether to read on.
    /// - Returns: How the reading has ended, and the rows.
    func readPages(
        _ request: BackendRequest, _ endpoint: Endpoint, _ budget: FetchBudget, mayEndEarly: Bool = false, readsAll: Bool = false,
        _ body: (BackendAnswer, RowList, RowList?) async throws -> Bool
    ) async throws -> (end: End, pages: PagedRows) {
        // Pages that overlap are asked for by what the one before has brought.
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
        /// When the rows were asked for, where that was before.
        var time: AskTime?
        /// The same for rows of one of several requests.
        var earlierParts: [(time: AskTime, ids: Set<NSManagedObjectID>)] = []

        init(rows: RowList = RowList(), time: AskTime? = nil) { (self.rows, self.time) = (rows, time) }

        /// Joins what several requests have found.
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

        /// Whether some of the rows were asked for before.
        var isEarlier: Bool { time != nil || !earlierParts.isEmpty }

        /// Notes which of the rows that are returned were asked for before.
        func note(_ returned: some Sequence<Row>, in earlier: EarlierRows) {
            if let time { earlier.note(returned, askedAt: time.uptime) }
            for (time, ids) in earlierParts { earlier.note(returned.filter { ids.contains($0.knownObjectID) }, askedAt: time.uptime) }
        }
    }

    /// Reads everything that the requests of a plan find, side by side.
    ///
    /// - Parameter mayEndEarly: Whether the caller asks again for what has not come.
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

    /// Reads everything that a request finds.
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
