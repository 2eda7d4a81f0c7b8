/// The size of an endpoint's answers, and the way to request the next one.
public struct Paging: Hashable, Sendable {
    /// The effect on the remaining pages when resources are inserted or deleted while pages are read.
    public enum Stability: Hashable, Sendable {
        /// Each page begins after a certain resource, or belongs to a snapshot of the results: nothing shifts.
        case cursors
        /// Each page begins after a number of resources, and shifts when resources are inserted or deleted.
        ///
        /// If the endpoint ``Paging/takesOffset``, pages overlap by one resource. If the overlap does not match, reading goes back to a known resource, so no
        /// resource that stays is lost. Otherwise ``BackendAnswer/total`` is compared: if it changes, the pages are read again from the first, three times at
        /// most. If it changes each time, or is not reported, ``FetchPlan/caveats`` say so.
        case offsets
    }

    /// The maximum number of resources in an answer; nil if each answer contains all resources.
    public var size: Int?
    /// Whether a request may ask for fewer resources.
    public var takesLimit: Bool
    /// Whether a request may begin after a number of resources.
    public var takesOffset: Bool
    /// The kind of position that page tokens stand for.
    public var stability: Stability
    /// Whether an answer does not tell if there is another page. An answer with fewer resources than requested is then taken as the last one.
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

    /// A single answer contains everything.
    public static let whole = Paging()
    /// Answers of at most a number of resources, each with the token of the next page.
    public static func pages(
        of size: Int, takesLimit: Bool = false, takesOffset: Bool = false, stability: Stability = .offsets
    ) -> Paging { Paging(size: size, takesLimit: takesLimit, takesOffset: takesOffset, stability: stability) }

    /// Whether pages overlap by one resource, to detect shifts.
    var overlaps: Bool { stability == .offsets && takesOffset && size ?? 1 > 1 }
    /// The number of new resources in each page but the first; nil if there is only one page.
    var step: Int? { size.map { overlaps ? $0 - 1 : $0 } }
}
