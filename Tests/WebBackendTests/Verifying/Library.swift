import CoreData
import Foundation
import RemoteStore
import TestSupport
import WebBackend
import WebTransport

/// What a ``Library`` has: books with authors, publishers and chapters, made of a seed.
struct LibraryData: Sendable {
    struct Book: Sendable {
        var id: Int
        var title: String
        var subtitle: String?
        var pages: Int
        /// In hundredths.
        var price: Int
        /// In hours since 2019.
        var published: Int
        /// In seconds since 1970.
        var added: Int
        var state: String
        var author: Int
        var publisher: Int
    }

    struct Author: Sendable {
        let id: Int
        let name: String
        let born: String
    }

    struct Publisher: Sendable {
        let id: Int
        let name: String
        let city: String?
    }

    struct Chapter: Sendable {
        let id: Int
        let title: String
        let number: Int
        let book: Int
        let revision: Int
    }

    let books: [Book]
    let authors: [Author]
    let publishers: [Publisher]
    let chapters: [Chapter]

    /// Makes other values of each seed, all of which have what tells the lies: equal values across the border of two pages, numbers of different
    /// lengths, text of both cases, nils, times an hour apart.
    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        func identifiers(_ count: Int, _ random: inout SeededGenerator) -> [Int] {
            var next = 1 + random.below(50)
            return (0..<count).map { _ in
                next += 1 + random.below(4)
                return next
            }
        }
        let words = ["Moor", "Wald", "Nebel", "Hafen", "Insel"]
        // Every two words in both orders: what one title begins with, another one contains.
        let titles = words.flatMap { first in words.compactMap { $0 == first ? nil : "\(first) \($0)" } }.shuffled(using: &random)
        let pages =
            [8, 9] + (0..<8).map { 10 + $0 * 9 + random.below(9) } + [300, 300, 300, 300]
            + (0..<6).map { 1000 + $0 * 50 + random.below(50) }
        let order = (0..<20).shuffled(using: &random)
        let hours = (0..<20).shuffled(using: &random)
        let start = random.below(24 * 300)
        let authorIDs = identifiers(6, &random)
        let publisherIDs = identifiers(5, &random)
        var books: [Book] = []
        for (index, id) in identifiers(20, &random).enumerated() {
            let place = order[index]
            books.append(
                Book(
                    id: id, title: titles[index], subtitle: nil, pages: pages[place],
                    price: 500 + random.below(200) * 10 + 1 + random.below(8),
                    published: start + hours[index], added: 1_420_000_000 + random.below(200_000_000),
                    state: index % 3 == 0 ? "lent" : "available",
                    author: authorIDs[index % 6], publisher: publisherIDs[order[index] % 5]))
        }
        // Nil for those with the fewest pages and some others; of equal pages, ascending with the identifiers.
        let equal = books.indices.filter { books[$0].pages == 300 }
        let rest = books.indices.filter { books[$0].pages != 300 }.shuffled(using: &random)
        for (number, index) in equal.enumerated() { books[index].subtitle = ["Abend", "Berg", "acker", "bach"][number] }
        for (number, index) in rest.enumerated() where number >= 5 {
            books[index].subtitle = "\(number.isMultiple(of: 2) ? "C" : "c")\(["a", "b", "d"][random.below(3)]) \(number)"
        }
        self.books = books
        authors = authorIDs.enumerated().map {
            Author(id: $1, name: "Author \($0)", born: "19\(40 + random.below(50))-0\(1 + random.below(9))-1\($0)")
        }
        publishers = publisherIDs.enumerated().map { Publisher(id: $1, name: "House \($0)", city: $0 == 2 ? nil : "City \($0)") }
        let revisions = (0..<40).map { 5_000 + $0 * 3 + random.below(3) }.shuffled(using: &random)
        let chapterIDs = identifiers(40, &random)
        chapters = chapterIDs.enumerated().map { index, id in
            Chapter(id: id, title: "Chapter \(index)", number: index % 2 + 1, book: books[index / 2].id, revision: revisions[index])
        }
    }
}

/// A service that does what its description says, but for the lies that it is told to tell.
final class Library: Sendable {
    /// Ways to write that change nothing of what is said.
    enum Manner: CaseIterable, Sendable {
        case zonesAhead, omittedNil, weakTags, pricesAsText
        /// What stands behind the last page: the last one once more, or an error.
        case lastPageAgain, pageBehindTheLastFails
    }

    let lies: Set<Lie>
    let manners: Set<Manner>
    let data: LibraryData
    /// Where the service's clock is, in hours; of lies about zones.
    let zone: Int
    private let counter = Mutexed(0)

    init(seed: UInt64, lies: Set<Lie> = [], manners: Set<Manner> = []) {
        (self.lies, self.manners, data) = (lies, manners, LibraryData(seed: seed))
        zone = seed % 2 == 0 ? 2 : -2
    }

    func tells(_ lie: Lie) -> Bool { lies.contains(lie) }

    /// A number that is another one each time.
    func next() -> Int {
        counter.withValue {
            $0 += 1
            return $0
        }
    }

    // MARK: Description

    static func model() -> NSManagedObjectModel {
        let book = NSEntityDescription(name: "Book")
        let author = NSEntityDescription(name: "Author")
        let publisher = NSEntityDescription(name: "Publisher")
        let chapter = NSEntityDescription(name: "Chapter")
        func pair(_ list: String, _ owner: NSEntityDescription, _ one: String, _ member: NSEntityDescription) -> [NSRelationshipDescription]
        {
            let many = NSRelationshipDescription(name: list, destination: member, toMany: true)
            let single = NSRelationshipDescription(name: one, destination: owner)
            many.inverse(to: single)
            return [many, single]
        }
        let ofAuthor = pair("books", author, "author", book)
        let ofPublisher = pair("books", publisher, "publisher", book)
        let ofBook = pair("chapters", book, "book", chapter)
        book.properties = [
            NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "subtitle", type: .string),
            NSAttributeDescription(name: "pages", type: .integer64), NSAttributeDescription(name: "price", type: .decimal),
            NSAttributeDescription(name: "published", type: .date), NSAttributeDescription(name: "added", type: .date),
            NSAttributeDescription(name: "state", type: .string), ofAuthor[1], ofPublisher[1], ofBook[0],
        ]
        author.properties = [
            NSAttributeDescription(name: "name", type: .string), NSAttributeDescription(name: "born", type: .date), ofAuthor[0],
        ]
        publisher.properties = [
            NSAttributeDescription(name: "name", type: .string), NSAttributeDescription(name: "city", type: .string), ofPublisher[0],
        ]
        chapter.properties = [
            NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "number", type: .integer64), ofBook[1],
        ]
        return NSManagedObjectModel(entities: [book, author, publisher, chapter])
    }

    /// The description of books and what belongs to them.
    static func description(_ manners: Set<Manner> = []) -> WebService {
        var style = ServiceStyle.plain
        style.version = .eTag
        style.omitsNil = manners.contains(.omittedNil)
        style.envelope = Envelope(items: "items")
        style.paging = .offsets(of: 12, total: .body("total"))
        style.filters = FilterStyle(.parameters, [:])
        style.sorting = SortStyle("sort", maximumKeys: 2, sortsNilFirst: true)
        style.fields = FieldsStyle("fields={names}")
        let books = WebCall(
            "list", path: "books",
            parameters: [
                WebParameter(
                    "pages",
                    templates: [.greaterThanOrEqual: "min_pages={value}", .lessThan: "below_pages={value}", .isIn: "in_pages={values}"],
                    maximumValues: 10),
                WebParameter("title", templates: [.equal: "title={value}", .beginsWith: "prefix={value}"]),
                WebParameter(
                    "subtitle", templates: [.isNil: "subtitled=false", .isNotNil: "subtitled=true", .notEqual: "not_subtitle={value}"]),
                WebParameter("published", templates: [.greaterThanOrEqual: "since={value}", .lessThan: "before={value}"]),
                WebParameter("state", templates: [.equal: "state={value}"]), WebParameter("author", templates: [.equal: "author={value}"]),
                WebParameter("SELF", templates: [.isIn: "ids={values}"], maximumValues: 50),
            ], filters: [], sorting: ["pages", "subtitle"])
        let ofAuthor = WebCall("ofAuthor", path: "authors/{author}/books", filters: [], sorting: [])
        return WebService(
            base, style: style,
            resources: [
                WebResource(
                    "Book",
                    properties: [
                        "added": .at("added", .date(.millisecondsSince1970)),
                        "state": .at("state", .enumeration(["A": "available", "L": "lent"])),
                        "publisher": PropertyMapping(path: "publisher", reference: .object(id: "id")),
                        "chapters": PropertyMapping(path: "chapters", reference: .object(id: "id")),
                    ], calls: [books, .one("books/{SELF}"), ofAuthor]),
                WebResource(
                    "Author", properties: ["born": .at("born", .date(.day)), "books": "books"],
                    calls: [
                        WebCall("list", path: "authors", filters: [], sorting: [], paging: .pages("page", of: 10)), .one("authors/{SELF}"),
                    ]),
                WebResource(
                    "Publisher", version: VersionSource.none,
                    calls: [
                        WebCall(
                            "list", path: "publishers", filters: [], sorting: [],
                            paging: PagingStyle(.cursor("after"), size: 3, next: .body("next"), hasMore: .body("more"), stability: .cursors)
                        ),
                        .one("publishers/{SELF}"),
                    ]),
                WebResource(
                    "Chapter", calls: [WebCall("list", path: "chapters", filters: [], sorting: [], paging: PagingStyle.none)]),
            ])
    }

    /// The description of chapters with revisions and a feed of changes.
    static func journal() -> WebService {
        var style = ServiceStyle.plain
        style.version = .number("revision")
        style.envelope = Envelope(items: "items")
        style.changeFeed = .since(parameter: "since", token: .header("X-Changes"), deleted: "deleted")
        return WebService(base, style: style, resources: [WebResource("Chapter", path: "journal", ignored: ["book"])])
    }
}
