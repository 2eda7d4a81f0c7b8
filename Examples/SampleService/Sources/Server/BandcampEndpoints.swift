/// The part of the service that answers like Bandcamp's version 3.
///
/// An unknown identifier is answered with status 200 and an error in the body. The recorded answers have no status with them, and
/// the clients of that time looked at the body alone, so this is the case that a careful client has to be ready for.
struct BandcampEndpoints: Sendable {
    let catalog: BandCatalog

    /// The answer, or nil when the path is not one of Bandcamp's.
    func answer(_ question: Question) -> Answer? {
        switch question.path {
        case "/api/band/3/search": search(question)
        case "/api/band/3/info": band(question)
        case "/api/band/3/discography": discography(question)
        case "/api/album/2/info": album(question)
        case "/api/track/3/info": track(question)
        default: nil
        }
    }

    /// Finds bands by their whole name, upper and lower case not told apart, for one name or several.
    private func search(_ question: Question) -> Answer {
        guard let names = question.list("name"), !names.isEmpty else { return missing("name") }
        let wanted = Set(names.map { $0.lowercased() })
        let found = catalog.bands.filter { wanted.contains($0.name.lowercased()) }
        return .json(["results": .array(found.map(\.json))])
    }

    private func band(_ question: Question) -> Answer {
        guard let identifier = question.parameters["band_id"] else { return missing("band_id") }
        guard let band = Int(identifier).flatMap({ catalog.band(id: $0) }) else { return .error("unknown band", status: 200) }
        return .json(band.json)
    }

    /// A band that is not known has an empty discography, as recorded.
    private func discography(_ question: Question) -> Answer {
        guard let identifier = question.parameters["band_id"] else { return missing("band_id") }
        let band = Int(identifier).flatMap { catalog.band(id: $0) }
        let albums = band.map { band in band.albums.map { $0.summary(by: band) } } ?? []
        return .json(["discography": .array(albums.map(JSON.object))])
    }

    private func album(_ question: Question) -> Answer {
        guard let identifier = question.parameters["album_id"] else { return missing("album_id") }
        guard let (band, album) = Int(identifier).flatMap({ catalog.album(id: $0) }) else { return .error("unknown album", status: 200) }
        return .json(album.details(by: band))
    }

    /// One track, or for several identifiers an object with a member for each that is known.
    private func track(_ question: Question) -> Answer {
        guard let identifiers = question.list("track_id"), !identifiers.isEmpty else { return missing("track_id") }
        let found = identifiers.compactMap { Int($0) }.compactMap { catalog.track(id: $0) }
        if identifiers.count > 1 {
            let members = found.map { band, album, track in (String(track.id), track.details(on: album, by: band)) }
            return .json(.object(Dictionary(members) { first, _ in first }))
        }
        guard let (band, album, track) = found.first else { return .error("unknown track", status: 200) }
        return .json(track.details(on: album, by: band))
    }

    private func missing(_ parameter: String) -> Answer {
        .error("missing \(parameter)", status: 400)
    }
}

extension SampleBand {
    fileprivate var json: JSON {
        [
            "band_id": .integer(id), "name": .string(name), "subdomain": .string(subdomain), "url": .string(url),
            "offsite_url": .text(offsiteURL),
        ]
    }
}

extension SampleAlbum {
    /// The album as a discography lists it.
    fileprivate func summary(by band: SampleBand) -> [String: JSON] {
        var members = common(by: band)
        members["artist"] = .string(band.name)
        return members
    }

    /// The album by itself: it has no artist, but its texts and tracks.
    fileprivate func details(by band: SampleBand) -> JSON {
        var members = common(by: band)
        members["about"] = .text(about)
        members["credits"] = .text(credits)
        members["tracks"] = .array(tracks.map { .object($0.summary(on: self, by: band)) })
        return .object(members)
    }

    private func common(by band: SampleBand) -> [String: JSON] {
        [
            "album_id": .integer(id), "band_id": .integer(band.id), "title": .string(title), "release_date": .integer(releaseDate),
            "downloadable": .integer(downloadable), "url": .string("\(band.url)/album/\(title.slug(or: "album-\(id)"))"),
            "large_art_url": .string(Artwork.url(for: id, size: "large")), "small_art_url": .string(Artwork.url(for: id, size: "small")),
        ]
    }

    fileprivate var downloadable: Int { isFree ? 1 : 2 }
}

extension SampleTrack {
    /// The track as its album lists it.
    fileprivate func summary(on album: SampleAlbum, by band: SampleBand) -> [String: JSON] {
        var members: [String: JSON] = [
            "track_id": .integer(id), "album_id": .integer(album.id), "band_id": .integer(band.id), "number": .integer(number),
            "title": .string(title), "duration": .number(duration), "downloadable": .integer(album.downloadable),
            "url": .string("/track/\(title.slug(or: "track-\(id)"))"),
            "streaming_url": .string("http://streams.example.com/download/track?enc=mp3-128&id=\(id)&stream=1"),
            "large_art_url": .string(Artwork.url(for: album.id, size: "large")),
            "small_art_url": .string(Artwork.url(for: album.id, size: "small")),
        ]
        if let artist { members["artist"] = .string(artist) }
        return members
    }

    /// The track by itself, with its texts; null where there are none.
    fileprivate func details(on album: SampleAlbum, by band: SampleBand) -> JSON {
        var members = summary(on: album, by: band)
        members["lyrics"] = .text(lyrics)
        members["about"] = .null
        members["credits"] = .text(album.credits)
        return .object(members)
    }
}

private enum Artwork {
    static func url(for id: Int, size: String) -> String {
        "http://images.example.com/\(size)/\(id).jpg"
    }
}
