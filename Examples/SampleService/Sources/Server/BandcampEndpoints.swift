/// The part of the service that answers like Bandcamp's version 3.
///
/// An unknown identifier is answered with status 200 and an error in the body. The recorded answers do not include their status, and
/// clients of that time read the body only, so this is the case that a careful client must handle.
struct BandcampEndpoints: Sendable {
    let catalog: BandCatalog

    /// Returns the answer; nil when the path is not one of Bandcamp's.
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

    /// Finds bands by one or more complete names, ignoring case.
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

    /// Returns a discography, which is empty for an unknown band, as recorded.
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

    /// Returns one track, or for several identifiers an object with a member for each known track.
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
    /// Returns the album as part of a discography.
    fileprivate func summary(by band: SampleBand) -> [String: JSON] {
        var members = common(by: band)
        members["artist"] = .string(band.name)
        return members
    }

    /// Returns the album itself, with its texts and tracks, but without an artist.
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
    /// Returns the track as part of its album.
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

    /// Returns the track itself, with its texts; null where there are none.
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
