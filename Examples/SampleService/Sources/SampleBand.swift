/// A band of the sample service, as Bandcamp describes one.
public struct SampleBand: Sendable, Hashable, Identifiable {
    /// The number that identifies the band; `band_id` in an answer.
    public let id: Int

    /// The name; `name` in an answer. Two bands may differ in nothing but upper and lower case.
    public let name: String

    /// The part of the address that is the band's own; `subdomain` in an answer.
    public let subdomain: String

    /// The band's own site elsewhere, if it has one; `offsite_url` in an answer, null without one.
    public let offsiteURL: String?

    /// The band's albums by ascending identifier, as the discography answers them.
    public let albums: [SampleAlbum]

    /// The band's page; `url` in an answer.
    public var url: String { "http://\(subdomain).bandcamp.com" }
}

/// An album of the sample service, as Bandcamp describes one.
public struct SampleAlbum: Sendable, Hashable, Identifiable {
    /// The number that identifies the album; `album_id` in an answer.
    public let id: Int

    /// The title; `title` in an answer.
    public let title: String

    /// The day of release as seconds since 1970, midnight in UTC; `release_date` in an answer.
    public let releaseDate: Int

    /// Whether it can be had for nothing: 1 or else 2 as `downloadable` in an answer.
    public let isFree: Bool

    /// What the band says about it; `about` in an answer, null when nothing.
    public let about: String?

    /// Who made it; `credits` in an answer, null when nobody says.
    public let credits: String?

    /// The tracks in playing order, numbered from 1.
    public let tracks: [SampleTrack]
}

/// A track of the sample service, as Bandcamp describes one.
public struct SampleTrack: Sendable, Hashable, Identifiable {
    /// The number that identifies the track; `track_id` in an answer.
    public let id: Int

    /// The place on the album, from 1; `number` in an answer.
    public let number: Int

    /// The title; `title` in an answer.
    public let title: String

    /// The length in seconds, with fractions; `duration` in an answer.
    public let duration: Double

    /// Who plays it, when that is not the band alone; `artist` in an answer, left out otherwise.
    public let artist: String?

    /// The words; `lyrics` in an answer to a question for the track, null when there are none.
    public let lyrics: String?
}
