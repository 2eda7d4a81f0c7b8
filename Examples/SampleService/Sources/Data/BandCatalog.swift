/// The bands, albums and tracks of the service, found by identifier.
struct BandCatalog: Sendable {
    static let shared = BandCatalog(bands: [.rueRoyale, .sideditch, .tuuleKell, .northernPier, .loudNorthernPier])

    /// The bands by ascending identifier, the order of Bandcamp's search results.
    let bands: [SampleBand]

    private let bandsByIdentifier: [Int: SampleBand]
    private let albumsByIdentifier: [Int: (SampleBand, SampleAlbum)]
    private let tracksByIdentifier: [Int: (SampleBand, SampleAlbum, SampleTrack)]

    init(bands: [SampleBand]) {
        self.bands = bands.sorted { $0.id < $1.id }
        let albums = bands.flatMap { band in band.albums.map { (band, $0) } }
        let tracks = albums.flatMap { band, album in album.tracks.map { (band, album, $0) } }
        bandsByIdentifier = Dictionary(uniqueKeysWithValues: bands.map { ($0.id, $0) })
        albumsByIdentifier = Dictionary(uniqueKeysWithValues: albums.map { ($0.1.id, $0) })
        tracksByIdentifier = Dictionary(uniqueKeysWithValues: tracks.map { ($0.2.id, $0) })
    }

    func band(id: Int) -> SampleBand? { bandsByIdentifier[id] }
    func album(id: Int) -> (SampleBand, SampleAlbum)? { albumsByIdentifier[id] }
    func track(id: Int) -> (SampleBand, SampleAlbum, SampleTrack)? { tracksByIdentifier[id] }
}

extension SampleAlbum {
    /// A track in the data files: its number and identifier are derived from its position on the album.
    struct Entry {
        let title: String
        let duration: Double
        let artist: String?
        let lyrics: String?

        static func track(_ title: String, _ duration: Double, artist: String? = nil, lyrics: String? = nil) -> Entry {
            Entry(title: title, duration: duration, artist: artist, lyrics: lyrics)
        }
    }

    /// Creates an album from the data files.
    ///
    /// - Parameters:
    ///   - id: The identifier. Those of the tracks are derived from its last six digits, which must be unique among albums.
    ///   - releaseDate: The release date in seconds since 1970.
    init(
        _ id: Int, _ title: String, releaseDate: Int, isFree: Bool = false, about: String? = nil, credits: String? = nil, tracks: [Entry]
    ) {
        let firstTrack = 1_700_000_000 + id % 1_000_000 * 100
        self.init(
            id: id, title: title, releaseDate: releaseDate, isFree: isFree, about: about, credits: credits,
            tracks: tracks.enumerated().map { offset, entry in
                SampleTrack(
                    id: firstTrack + offset + 1, number: offset + 1, title: entry.title, duration: entry.duration, artist: entry.artist,
                    lyrics: entry.lyrics)
            })
    }
}
