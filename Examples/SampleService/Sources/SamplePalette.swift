/// A colour palette of the sample service, with COLOURlovers' properties.
public struct SamplePalette: Sendable, Hashable, Identifiable {
    /// The identifier of the palette; `id` in an answer.
    public let id: Int

    /// The title; `title` in an answer.
    public var title: String

    /// The name of the author; `userName` in an answer.
    public var userName: String

    /// The colours as six upper-case hexadecimal digits each, red, green and blue, without a number sign; `colors` in an answer.
    public var colors: [String]

    /// The fraction of the width of each colour, with the sum 1; `colorWidths` in an answer, if requested.
    public var colorWidths: [Double]

    /// The rank among the best palettes, from 1; `rank` in an answer.
    public var rank: Int

    /// The number of views; `numViews` in an answer.
    public var viewCount: Int

    /// The number of votes; `numVotes` in an answer.
    public var voteCount: Int

    /// The number of comments; `numComments` in an answer.
    public var commentCount: Int

    /// The number of hearts, from 0 to 5 in steps of a half; `numHearts` in an answer.
    public var heartCount: Double

    /// The date of creation as `yyyy-MM-dd HH:mm:ss`, without a time zone, as the service sends it; `dateCreated` in an answer.
    public var dateCreated: String

    /// The author's description, often empty; `description` in an answer.
    public var text: String

    /// Creates a palette.
    ///
    /// - Parameters:
    ///   - id: The identifier.
    ///   - title: The title.
    ///   - userName: The name of the author.
    ///   - colors: The colours as six hexadecimal digits each.
    ///   - colorWidths: The fraction of the width of each colour; equal fractions for nil.
    ///   - rank: The rank among the best palettes, from 1.
    ///   - viewCount: The number of views.
    ///   - voteCount: The number of votes.
    ///   - commentCount: The number of comments.
    ///   - heartCount: The number of hearts, from 0 to 5.
    ///   - dateCreated: The date of creation as `yyyy-MM-dd HH:mm:ss`.
    ///   - text: The author's description.
    public init(
        id: Int, title: String, userName: String = "sampler", colors: [String] = ["112233", "445566", "778899", "AABBCC", "DDEEFF"],
        colorWidths: [Double]? = nil, rank: Int = 1, viewCount: Int = 0, voteCount: Int = 0, commentCount: Int = 0,
        heartCount: Double = 0, dateCreated: String = "2012-02-18 12:00:00", text: String = ""
    ) {
        self.id = id
        self.title = title
        self.userName = userName
        self.colors = colors
        self.colorWidths = colorWidths ?? Array(repeating: 1 / Double(max(colors.count, 1)), count: colors.count)
        self.rank = rank
        self.viewCount = viewCount
        self.voteCount = voteCount
        self.commentCount = commentCount
        self.heartCount = heartCount
        self.dateCreated = dateCreated
        self.text = text
    }
}
