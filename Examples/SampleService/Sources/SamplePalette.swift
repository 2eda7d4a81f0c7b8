/// A colour palette of the sample service, as COLOURlovers describes one.
public struct SamplePalette: Sendable, Hashable, Identifiable {
    /// The number that identifies the palette; `id` in an answer.
    public let id: Int

    /// The title; `title` in an answer.
    public var title: String

    /// The name of the person who made it; `userName` in an answer.
    public var userName: String

    /// The colours as six upper-case hexadecimal digits each, red, green and blue, without a number sign; `colors` in an answer.
    public var colors: [String]

    /// The share of the whole width that each colour takes, adding up to 1; `colorWidths` in an answer, when asked for.
    public var colorWidths: [Double]

    /// The place in the list of the best palettes, 1 being the best; `rank` in an answer.
    public var rank: Int

    /// How often it was viewed; `numViews` in an answer.
    public var viewCount: Int

    /// How often it was voted for; `numVotes` in an answer.
    public var voteCount: Int

    /// How many comments it has; `numComments` in an answer.
    public var commentCount: Int

    /// Its hearts, from 0 to 5 in steps of a half; `numHearts` in an answer.
    public var heartCount: Double

    /// The moment it was made as `yyyy-MM-dd HH:mm:ss`, without a time zone, just as the service sends it; `dateCreated` in an answer.
    public var dateCreated: String

    /// What its maker wrote about it, often nothing; `description` in an answer.
    public var text: String

    /// Describes a palette.
    ///
    /// - Parameters:
    ///   - id: The number that identifies it.
    ///   - title: Its title.
    ///   - userName: The name of the person who made it.
    ///   - colors: Its colours as six hexadecimal digits each.
    ///   - colorWidths: The share of the width each colour takes; equal shares when nil.
    ///   - rank: Its place in the list of the best, 1 being the best.
    ///   - viewCount: How often it was viewed.
    ///   - voteCount: How often it was voted for.
    ///   - commentCount: How many comments it has.
    ///   - heartCount: Its hearts, from 0 to 5.
    ///   - dateCreated: The moment it was made as `yyyy-MM-dd HH:mm:ss`.
    ///   - text: What its maker wrote about it.
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
