import Foundation
import JSONReading
import WebTransport

extension Library: Transport {
    func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        guard request.method == .get else { return .json(#"{"message": "It was to be read only."}"#, status: 405) }
        let parts = request.path.split(separator: "/").map(String.init)
        switch (parts.first, parts.dropFirst().first, parts.count) {
        case ("books", nil, _): return books(request, data.books)
        case ("books", let id?, 2): return book(id, request)
        case ("authors", let id?, 3):
            return books(request, data.books.filter { tells(.authorsListBringsAll) || id == "\($0.author)" })
        case ("authors", nil, _): return authors(request)
        case ("authors", let id?, 2): return one(data.authors.first { "\($0.id)" == id }.map(json), request, "authors")
        case ("publishers", nil, _): return publishers(request)
        case ("publishers", let id?, 2): return one(data.publishers.first { "\($0.id)" == id }.map { json($0) }, request, "publishers")
        case ("chapters", nil, _): return list(data.chapters.map(json), total: nil, request)
        case ("journal", nil, _): return journal(request)
        case ("journal", let id?, 2): return journalEntry(id)
        default: return .json(#"{"message": "There is nothing."}"#, status: 404)
        }
    }

    // MARK: Lists

    private func books(_ request: WebRequest, _ all: [LibraryData.Book]) -> WebResponse {
        if tells(.enumerationFilterFails), request.query("state") != nil { return .json(#"{"message": "What is a state?"}"#, status: 400) }
        let offset = request.query("offset").flatMap { Int($0) } ?? 0
        var limit = request.query("limit").flatMap { Int($0) } ?? 12
        var found = tells(.filterOnFirstPageOnly) && offset > 0 ? all : BookFilter(self, request).applied(to: all)
        found = BookOrder(self, isFirstPage: offset == 0).sorted(found, by: request.query("sort") ?? "")
        let isPlain = found.count == data.books.count && request.query("sort") == nil
        var total = tells(.totalIgnoresFilters) ? all.count : found.count
        if isPlain {
            if tells(.totalTooSmall) { total -= 8 }
            if tells(.totalTooLarge) { total += 3 }
            if tells(.endsBeforeTotal), offset > 0 { found = [] }
            if tells(.bookTwiceInList) { found[5] = found[2] }
        }
        if tells(.countDiffers), limit == 1 { total -= 1 }
        if tells(.limitIgnored) { limit = 12 }
        if tells(.pageCapped) { limit = min(limit, 10) }
        var start = offset
        if offset > 0, tells(.offsetOneTooSmall) { start -= 1 }
        if offset > 0, tells(.offsetOneTooLarge) { start += 1 }
        let page = found.dropFirst(start).prefix(limit).map { json($0, isInList: true) }
        return list(page, total: total, request)
    }

    private func authors(_ request: WebRequest) -> WebResponse {
        let isBehind = request.query("page").flatMap { Int($0) } ?? 1 > 1
        if isBehind, manners.contains(.pageBehindTheLastFails) { return .json(#"{"message": "Invalid page."}"#, status: 404) }
        return list(isBehind && !manners.contains(.lastPageAgain) ? [] : data.authors.map(json), total: nil, request)
    }

    private func publishers(_ request: WebRequest) -> WebResponse {
        if tells(.anyTagIsCurrentForLists), request.headers["If-None-Match"] != nil { return WebResponse(status: 304) }
        let isSecond = request.query("after") == "c3"
        let page = isSecond ? data.publishers.dropFirst(3) : data.publishers.prefix(3)
        var next: JSONValue = isSecond ? .null : "c3"
        var more = !isSecond
        if tells(.cursorToItself) { (next, more) = ("c3", true) }
        if tells(.moreWithoutCursor) { next = .null }
        if tells(.saysThereIsNoMore) { (next, more) = (.null, false) }
        var response = list(page.map { json($0) }, total: nil, request, ["next": next, "more": .bool(more)])
        response.headers["ETag"] = "\"list-\(isSecond)\""
        return response
    }

    private func journal(_ request: WebRequest) -> WebResponse {
        let since = request.query("since").flatMap { Int($0) }
        var found = data.chapters
        if let since, !tells(.feedIgnoresToken) { found.removeAll { $0.revision <= since } }
        if since != nil, tells(.feedMisses), !found.isEmpty { found.removeLast() }
        let items = found.enumerated().map { index, chapter in
            var item = entry(chapter)
            if tells(.revisionMissing), index.isMultiple(of: 4) { item["revision"] = nil }
            if tells(.deletedChaptersListed), since == nil, index == 7 { item["deleted"] = true }
            return item
        }
        var response = list(items, total: nil, request)
        if !tells(.feedHasNoToken) { response.headers["X-Changes"] = "\(data.chapters.map(\.revision).max() ?? 0)" }
        return response
    }

    private func list(_ items: [JSONObject], total: Int?, _ request: WebRequest, _ rest: JSONObject = [:]) -> WebResponse {
        var items = items
        let ignoresFields = tells(.fieldsIgnored) && request.path == "/books"
        if let fields = request.query("fields"), !ignoresFields {
            var names = fields.split(separator: ",").map(String.init)
            if tells(.fieldsLackTheWanted), request.path == "/books" { names = ["id"] }
            items = items.map { item in JSONObject(item.members.filter { names.contains($0.key) }) }
        }
        var body: JSONObject = ["items": .array(items.map { .object(written($0)) })]
        if let total { body["total"] = .integer(Int64(total)) }
        for member in rest { body[member.key] = member.value }
        return .json(JSONValue.object(body).description)
    }

    // MARK: One

    private func book(_ id: String, _ request: WebRequest) -> WebResponse {
        let books = data.books
        var found = books.first { "\($0.id)" == id }
        if found == nil {
            if tells(.missingIsRefused) { return .json(#"{"message": "Bad identifier."}"#, status: 400) }
            if tells(.anythingIsFound) { found = books.first }
        } else {
            if tells(.deletedInList), found?.id == books.last?.id { found = nil }
            if tells(.oneIsAnother) { found = books.first { $0.id != found?.id } }
        }
        return one(found.map { json($0, isInList: false) }, request, "books")
    }

    private func journalEntry(_ id: String) -> WebResponse {
        guard let chapter = data.chapters.first(where: { "\($0.id)" == id }) else { return .json("{}", status: 404) }
        var item = entry(chapter)
        if tells(.revisionDiffers) { item["revision"] = .integer(Int64(chapter.revision + 1)) }
        return .json(JSONValue.object(item).description)
    }

    private func one(_ item: JSONObject?, _ request: WebRequest, _ collection: String) -> WebResponse {
        guard let item else { return .json(#"{"message": "There is none."}"#, status: 404) }
        let text = JSONValue.object(written(item)).description
        var tag = "v" + String(text.utf8.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }, radix: 36)
        let isBook = collection == "books"
        if isBook, tells(.tagConstant) { tag = "v" }
        if isBook, tells(.tagChanges) { tag += "-\(next())" }
        var quoted = "\"\(tag)\""
        if manners.contains(.weakTags) { quoted = "W/" + quoted }
        if let known = request.headers["If-None-Match"], known == quoted || isBook && tells(.anyTagIsCurrent) {
            return WebResponse(status: 304)
        }
        return .json(text, headers: isBook && tells(.tagMissing) ? [:] : ["ETag": quoted])
    }

    // MARK: Resources

    private func written(_ item: JSONObject) -> JSONObject {
        manners.contains(.omittedNil) ? JSONObject(item.members.filter { !$0.value.isNull && $0.value != .array([]) }) : item
    }

    private func json(_ book: LibraryData.Book, isInList: Bool) -> JSONObject {
        let hour = book.published + (tells(.localTimeInOne) && !isInList ? zone : 0)
        let isAhead = manners.contains(.zonesAhead)
        var published = Self.date(hour + (isAhead ? 2 : 0)) + (isAhead ? "+02:00" : "Z")
        if tells(.dateWithoutZone) { published = Self.date(hour) }
        if tells(.dateWithoutTime) { published = String(published.prefix(10)) }
        let isOlder = tells(.oneIsOlder) && !isInList
        var hundredths = "\(book.price % 100)"
        if hundredths.count < 2 { hundredths = "0" + hundredths }
        let digits = "\(book.price / 100)." + hundredths
        var price: JSONValue = manners.contains(.pricesAsText) ? .string(digits) : .decimal(digits)
        if tells(.oneRounds), !isInList { price = .decimal(String(digits.dropLast())) }
        if tells(isInList ? .nilInList : .nilInOne) { price = .null }
        let letter = book.state == "lent" ? "L" : "A"
        let publisher = data.publishers.first { $0.id == book.publisher }
        let chapters = data.chapters.filter { $0.book == book.id }.prefix(tells(.chaptersAreCut) ? 1 : .max)
        let isUnknown = tells(.authorDoesNotExist) && book.id == data.books[3].id
        let isText = tells(.mixedIdentifiers) && isInList && book.id == data.books[4].id || tells(.oneHasTextualIdentifier) && !isInList
        var item: JSONObject = [
            "id": isText ? .string("\(book.id)") : .integer(Int64(book.id)), "title": .string(book.title),
            "subtitle": book.subtitle.map { .string($0) } ?? .null,
            "pages": tells(.numberAsText) ? .string("\(book.pages)") : .integer(Int64(book.pages - (isOlder ? 1 : 0))),
            "price": price, "published": .string(published),
            "added": .integer(Int64(book.added) * (tells(.secondsForMilliseconds) ? 1 : 1000)),
            "state": .string(tells(.enumerationInOtherCase) ? letter.lowercased() : letter),
            "author": .integer(Int64(isUnknown ? 999_999 : book.author)),
            "publisher": .object([
                "id": .integer(Int64(book.publisher)),
                "name": .string((publisher?.name ?? "") + (tells(.publisherInBookDiffers) ? "!" : "")),
            ]),
            "chapters": .array(
                chapters.map { .object(["id": .integer(Int64($0.id)), "title": .string($0.title), "number": .integer(Int64($0.number))]) }),
        ]
        if isInList, tells(.listLacksProperty) { item["price"] = nil }
        if !isInList, tells(.oneLacksProperty) { item["pages"] = nil }
        return item
    }

    private func json(_ author: LibraryData.Author) -> JSONObject {
        var books = data.books.filter { $0.author == author.id }.map(\.id)
        if author.id == data.authors[0].id {
            if tells(.authorHasFewerBooks) { books.removeLast() }
            if tells(.authorHasBooksOfOthers), let other = data.books.first(where: { $0.author != author.id }) { books.append(other.id) }
        }
        return [
            "id": .integer(Int64(author.id)), "name": .string(author.name),
            "born": .string(author.born + (tells(.timeForDay) ? "T00:00:00Z" : "")),
            "books": .array(books.map { .integer(Int64($0)) }),
        ]
    }

    private func json(_ publisher: LibraryData.Publisher) -> JSONObject {
        ["id": .integer(Int64(publisher.id)), "name": .string(publisher.name), "city": publisher.city.map { .string($0) } ?? .null]
    }

    private func json(_ chapter: LibraryData.Chapter) -> JSONObject {
        [
            "id": .integer(Int64(chapter.id)), "title": .string(chapter.title), "number": .integer(Int64(chapter.number)),
            "book": .integer(Int64(chapter.book)),
        ]
    }

    private func entry(_ chapter: LibraryData.Chapter) -> JSONObject {
        var item = json(chapter)
        item["revision"] = .integer(Int64(chapter.revision))
        return item
    }

    /// Returns so many hours after the beginning of 2019 as text without a zone.
    static func date(_ hour: Int) -> String {
        String(Date(timeIntervalSince1970: 1_546_300_800 + Double(hour) * 3600).formatted(.iso8601).prefix(19))
    }
}

/// The filters of the list of books.
struct BookFilter {
    private let library: Library
    private let request: WebRequest

    init(_ library: Library, _ request: WebRequest) { (self.library, self.request) = (library, request) }

    func applied(to books: [LibraryData.Book]) -> [LibraryData.Book] {
        var conditions: [(LibraryData.Book) -> Bool] = []
        if let least = number("min_pages"), !library.tells(.filterIgnored) {
            let isAbove = library.tells(.boundaryLeftOut)
            conditions.append { isAbove ? $0.pages > least : $0.pages >= least }
        }
        if let bound = number("below_pages") {
            let isBelowOrEqual = library.tells(.boundaryBroughtAlong)
            conditions.append { isBelowOrEqual ? $0.pages <= bound : $0.pages < bound }
        }
        if let list = request.query("in_pages") {
            let wanted = list.split(separator: ",").compactMap { Int($0) }.prefix(library.tells(.inReadsFirst) ? 1 : .max)
            conditions.append { wanted.contains($0.pages) }
        }
        if let title = request.query("title") {
            let ignoresCase = library.tells(.filterIgnoresCase)
            conditions.append { ignoresCase ? $0.title.lowercased() == title.lowercased() : $0.title == title }
        }
        if let prefix = request.query("prefix") {
            let isAnywhere = library.tells(.prefixIsContained)
            conditions.append { isAnywhere ? $0.title.contains(prefix) : $0.title.hasPrefix(prefix) }
        }
        if let subtitled = request.query("subtitled"), subtitled == "true" || !library.tells(.nilFilterIgnored) {
            conditions.append { ($0.subtitle != nil) == (subtitled == "true") }
        }
        if let other = request.query("not_subtitle") {
            let bringsNil = library.tells(.notEqualBringsNil)
            conditions.append { book in book.subtitle.map { $0 != other } ?? bringsNil }
        }
        let shift = library.tells(.dateFilterInLocalZone) ? library.zone : 0
        if let text = request.query("since") { conditions.append { Library.date($0.published + shift) >= text.prefix(19) } }
        if let text = request.query("before") { conditions.append { Library.date($0.published + shift) < text.prefix(19) } }
        if let state = request.query("state") { conditions.append { ($0.state == "lent" ? "L" : "A") == state } }
        if let author = number("author"), !library.tells(.relationshipFilterIgnored) { conditions.append { $0.author == author } }
        if let list = request.query("ids") {
            var wanted = list.split(separator: ",").compactMap { Int($0) }
            if library.tells(.identifiersDropped) { wanted = wanted.enumerated().filter { $0.offset % 3 != 2 }.map(\.element) }
            conditions.append { wanted.contains($0.id) }
        }
        if library.tells(.secondFilterIgnored) { conditions = Array(conditions.prefix(1)) }
        return books.filter { book in conditions.allSatisfy { $0(book) } }
    }

    private func number(_ name: String) -> Int? { request.query(name).flatMap { Int($0) } }
}

/// The order of the list of books.
struct BookOrder {
    private let library: Library
    private let isFirstPage: Bool

    init(_ library: Library, isFirstPage: Bool) { (self.library, self.isFirstPage) = (library, isFirstPage) }

    func sorted(_ books: [LibraryData.Book], by text: String) -> [LibraryData.Book] {
        var keys = text.split(separator: ",").map(String.init)
        if keys.isEmpty || keys == ["pages"] && library.tells(.orderIgnored) { return books }
        if library.tells(.secondKeyIgnored) { keys = Array(keys.prefix(1)) }
        return books.sorted { left, right in
            for key in keys {
                var order = compare(left, right, key)
                if key.hasPrefix("-"), !(key == "-pages" && keys.count == 1 && library.tells(.descendingIgnored)) { order = -order }
                if order != 0 { return order < 0 }
            }
            return library.tells(.orderChangesBetweenPages) && !isFirstPage ? left.id > right.id : left.id < right.id
        }
    }

    private func compare(_ left: LibraryData.Book, _ right: LibraryData.Book, _ key: String) -> Int {
        if key.hasSuffix("pages") {
            if library.tells(.numbersOrderedAsText) { return Self.sign("\(left.pages)", "\(right.pages)") }
            return Self.sign(left.pages, right.pages)
        }
        switch (left.subtitle, right.subtitle) {
        case (nil, nil): return 0
        case (nil, _): return library.tells(.nilOrderedLast) ? 1 : -1
        case (_, nil): return library.tells(.nilOrderedLast) ? -1 : 1
        case (let left?, let right?):
            return library.tells(.orderIgnoresCase) ? Self.sign(left.lowercased(), right.lowercased()) : Self.sign(left, right)
        }
    }

    private static func sign<Value: Comparable>(_ left: Value, _ right: Value) -> Int { left == right ? 0 : left < right ? -1 : 1 }
}
