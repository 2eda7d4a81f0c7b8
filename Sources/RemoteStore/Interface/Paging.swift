/// How much one answer of an endpoint brings, and where the next one begins.
public struct Paging: Hashable, Sendable {
    /// What becomes of the pages that are still to be read when resources are inserted or deleted meanwhile.
    public enum Stability: Hashable, Sendable {
        /// Each page begins after a certain resource, or in a snapshot of the results: nothing moves.
        case cursors
        /// Each page begins after a number of resources, which move when others come and go.
        ///
        /// Where the endpoint ``Paging/takesOffset``, pages overlap by one resource, and where the overlap does not match, reading goes back
        /// to a resource that is known: nothing that stays is lost. Otherwise, ``BackendAnswer/total`` tells; where it changes, the pages
        /// are read again from the first, three times at most. Where it changes each time, or is not told, ``FetchPlan/caveats`` say so.
        case offsets
    }

    /// The number of resources after which an answer ends; nil where each answer brings everything.
    public var size: Int?
    /// Whether a request may ask for fewer.
    public var takesLimit: Bool
    /// Whether a request may begin after a number of resources.
    public var takesOffset: Bool
    /// What the tokens of pages stand for.
    public var stability: Stability
    /// Whether nothing in an answer tells that there is another page, so that one with fewer resources than were asked for is taken for the last.
    public var isEndGuessed: Bool

    /// Creates a kind of paging.
    public init(
        size: Int? = nil, takesLimit: Bool = false, takesOffset: Bool = false, stability: Stability = .offsets, isEndGuessed: Bool = false
    ) {
        self.isEndGuessed = isEndGuessed
        self.size = size.map { max(1, $0) }
        self.takesLimit = takesLimit
        self.takesOffset = takesOffset
        self.stability = stability
    }

    /// Every answer brings everything.
    public static let whole = Paging()
    /// Answers of at most so many resources, each with the token of the next page.
    public static func pages(
        of size: Int, takesLimit: Bool = false, takesOffset: Bool = false, stability: Stability = .offsets
    ) -> Paging { Paging(size: size, takesLimit: takesLimit, takesOffset: takesOffset, stability: stability) }

    /// Whether pages overlap by one resource, which tells whether they have moved.
    var overlaps: Bool { stability == .offsets && takesOffset && size ?? 1 > 1 }
    /// The number of resources that each page but the first brings anew; nil where there is only one.
    var step: Int? { size.map { overlaps ? $0 - 1 : $0 } }
}
