/// A band of the sample service, with Bandcamp's properties.
public struct SampleBand: Sendable, Hashable, Identifiable {
    /// The identifier of the band; `band_id` in an answer.
    public let id: Int

    /// The name; `name` in an answer. The names of two bands may differ in case only.
    public let name: String

    /// The band's subdomain; `subdomain` in an answer.
    public let subdomain: String

    /// The band's own site, if it has one; `offsite_url` in an answer, null without one.
    public let offsiteURL: String?

    /// The band's albums by ascending identifier, the order of the discography.
    public let albums: [SampleAlbum]

    /// The band's page; `url` in an answer.
    public var url: String { "http://\(subdomain).bandcamp.com" }
}

/// An album of the sample service, with Bandcamp's properties.
public struct SampleAlbum: Sendable, Hashable, Identifiable {
    /// The identifier of the album; `album_id` in an answer.
    public let id: Int

    /// The title; `title` in an answer.
    public let title: String

    /// The day of release as seconds since 1970, midnight in UTC; `release_date` in an answer.
    public let releaseDate: Int

    /// Whether the album is free; `downloadable` in an answer is 1 for a free album, otherwise 2.
    public let isFree: Bool

    /// The band's description; `about` in an answer, null without one.
    public let about: String?

    /// The credits; `credits` in an answer, null without any.
    public let credits: String?

    /// The tracks in playing order, numbered from 1.
    public let tracks: [SampleTrack]
}

/// A track of the sample service, with Bandcamp's properties.
public struct SampleTrack: Sendable, Hashable, Identifiable {
    /// The identifier of the track; `track_id` in an answer.
    public let id: Int

    /// The position on the album, from 1; `number` in an answer.
    public let number: Int

    /// The title; `title` in an answer.
    public let title: String

    /// The duration in seconds, with fractions; `duration` in an answer.
    public let duration: Double

    /// The artist, if it is not the band; `artist` in an answer, omitted otherwise.
    public let artist: String?

    /// The lyrics; `lyrics` in an answer for the track, null without any.
    public let lyrics: String?
}
