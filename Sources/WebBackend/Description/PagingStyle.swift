internal import JSONReading
public import RemoteStore

/// How lists are divided into pages.
public struct PagingStyle: Hashable, Sendable {
    /// The forms of pages.
    public enum Form: Hashable, Sendable {
        /// The whole list comes in one answer.
        case none
        /// A parameter with the number of the page.
        case number(String, first: Int)
        /// A parameter with the number of resources to skip.
        case offset(String)
        /// A parameter with the cursor that the previous answer names.
        case cursor(String)
        /// The previous answer has the address of the next page.
        case address
    }

    /// The form.
    public var form: Form
    /// The parameter with the page size; nil if it cannot be chosen.
    public var sizeParameter: String?
    /// The page size, which is sent if it can be chosen.
    public var size: Int
    /// The part of an answer that names the next page; nil if the number of resources determines it.
    public var next: AnswerPart?
    /// The part of an answer that tells whether there is a next page, as true or false; nil if answers do not tell.
    public var hasMore: AnswerPart?
    /// The part of an answer with the number of resources in all pages; nil if answers do not tell.
    public var total: AnswerPart?
    /// The mark of answers whose ``total`` is exact, and not a lower bound; nil if it is always exact.
    public var exactTotal: AnswerMark?
    /// A parameter that makes answers include the number of resources, as `count=1`; nil if they always do.
    public var totalParameter: String?
    /// Whether the number of resources is requested with the method `HEAD`, because only its answers tell it.
    public var countsByHead: Bool
    /// The effect on pages of insertions and deletions that happen while the list is read.
    public var stability: Paging.Stability
    /// Whether only an empty page is the last one, for services that may send short pages in between, or that name a new cursor behind the last page.
    public var endsEmpty: Bool
    /// Whether a page with fewer resources than were asked for is the last one, even one that names a next one.
    ///
    /// If false, and nothing in an answer tells the last page, such a page is the last one only if a larger one has come before: the service may have a
    /// smaller limit than the requested size. Otherwise the next page is requested, and the list ends if that page is empty or missing (404, 410 or
    /// 416). After a short first page, the list also ends if the next page has the same resources, or is a bad request (400 or 422).
    public var endsShort: Bool
    /// Whether the parameters of page and size are sent in the body.
    public var isInBody: Bool

    /// Creates a style of pages.
    public init(
        _ form: Form, sizeParameter: String? = nil, size: Int = 100, next: AnswerPart? = nil, hasMore: AnswerPart? = nil,
        total: AnswerPart? = nil, exactTotal: AnswerMark? = nil, totalParameter: String? = nil, countsByHead: Bool = false,
        stability: Paging.Stability = .offsets, endsEmpty: Bool = false, endsShort: Bool = false, isInBody: Bool = false
    ) {
        self.form = form
        self.sizeParameter = sizeParameter
        self.size = size
        self.next = next
        self.hasMore = hasMore
        self.total = total
        self.exactTotal = exactTotal
        self.totalParameter = totalParameter
        self.countsByHead = countsByHead
        self.stability = stability
        self.endsEmpty = endsEmpty
        self.endsShort = endsShort
        self.isInBody = isInBody
    }

    /// The whole list comes in one answer.
    public static let none = PagingStyle(.none)

    /// Returns a style of pages by number.
    public static func pages(
        _ parameter: String = "page", first: Int = 1, size sizeParameter: String? = nil, of size: Int, next: AnswerPart? = nil,
        total: AnswerPart? = nil
    ) -> PagingStyle {
        PagingStyle(.number(parameter, first: first), sizeParameter: sizeParameter, size: size, next: next, total: total)
    }

    /// Returns a style of pages by the number of resources to skip.
    public static func offsets(
        _ parameter: String = "offset", size sizeParameter: String? = "limit", of size: Int, total: AnswerPart? = nil
    ) -> PagingStyle { PagingStyle(.offset(parameter), sizeParameter: sizeParameter, size: size, total: total) }

    /// Returns a style of pages by the addresses or tokens in answers.
    ///
    /// - Parameters:
    ///   - next: The part of an answer with the address or token.
    ///   - parameter: The parameter that takes a token; nil for addresses.
    ///   - sizeParameter: The parameter with the page size.
    ///   - size: The page size.
    ///   - total: The part of an answer with the number of resources in all pages.
    ///   - stability: The effect on pages of insertions and deletions that happen while the list is read.
    public static func following(
        _ next: AnswerPart, parameter: String? = nil, size sizeParameter: String? = nil, of size: Int = 100, total: AnswerPart? = nil,
        stability: Paging.Stability = .cursors
    ) -> PagingStyle {
        PagingStyle(
            parameter.map { .cursor($0) } ?? .address, sizeParameter: sizeParameter, size: size, next: next, total: total,
            stability: stability)
    }
}

/// A part of an answer that marks something by its value: Elasticsearch's `hits.total.relation` is `eq` if the total is exact, and `gte` if it is a
/// lower bound.
public struct AnswerMark: Hashable, Sendable {
    /// The part of the answer.
    public var part: AnswerPart
    /// The value, as text.
    public var value: String

    /// Creates a mark.
    public init(_ part: AnswerPart, is value: String) { (self.part, self.value) = (part, value) }
}

/// A part of an answer.
public enum AnswerPart: Hashable, Sendable {
    /// A value of the body.
    case body(JSONPath)
    /// The value of a header.
    case header(String)
    /// The address of a relation in the header `Link`, such as `next`.
    case link(String)
    /// The text after the slash in the header `Content-Range`: `items 0-9/120`.
    case contentRange
    /// The address of a relation in a list of links in the body: `[{"rel": "next", "href": "…"}]`.
    case relation(LinkList, String)

    /// A list of links in the body.
    public struct LinkList: Hashable, Sendable {
        /// The path to the list.
        public var path: JSONPath
        /// The key of a link's relation.
        public var relation: String
        /// The key of a link's address.
        public var address: String

        /// Creates the description of a list: FHIR calls the keys `relation` and `url`.
        public init(_ path: JSONPath, relation: String = "rel", address: String = "href") {
            (self.path, self.relation, self.address) = (path, relation, address)
        }
    }
}

extension AnswerPart {
    /// The path to the value in the body; nil for a part of a header.
    var bodyPath: JSONPath? {
        switch self {
        case .body(let path): path
        case .relation(let list, _): list.path
        case .header, .link, .contentRange: nil
        }
    }

    /// Returns the text of a value at ``bodyPath``; nil if it has none.
    func text(_ value: JSONValue?) -> String? {
        guard let value else { return nil }
        if case .relation(let list, let relation) = self {
            guard let link = value.array?.first(where: { $0[list.relation]?.string == relation }) else { return nil }
            return link[list.address]?.string
        }
        return value.isNull ? nil : value.string ?? value.description
    }
}

extension AnswerPart: CustomStringConvertible {
    /// The place, as an error names it.
    public var description: String {
        switch self {
        case .body(let path): "“\(path)” of the body"
        case .header(let name): "the header “\(name)”"
        case .link(let relation): "the relation “\(relation)” of the header “Link”"
        case .contentRange: "the header “Content-Range”"
        case .relation(let list, let relation): "the link “\(relation)” in “\(list.path)” of the body"
        }
    }
}
