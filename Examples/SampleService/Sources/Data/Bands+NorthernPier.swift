extension SampleBand {
    /// A band whose name differs from the next one's in case only: a search for the name finds both.
    static let northernPier = SampleBand(
        id: 1_180_452_207, name: "Northern Pier", subdomain: "northernpier", offsiteURL: nil,
        albums: [
            SampleAlbum(
                270_118_559, "Tidal Arithmetic", releaseDate: 946_598_400, about: "The first one, from before there were downloads.",
                credits: "Produced by the tide.",
                tracks: [
                    .track("One Wave", 180.4),
                    .track("Two Waves", 181.12),
                    .track("Three Waves", 182.88),
                    .track("Carry the One", 365.693),
                ]),
            SampleAlbum(
                3_870_245_936, "Salt/Static", releaseDate: 1_601_596_800, isFree: true,
                tracks: [
                    .track("Salt/Static", 244.013),
                    .track("Rust + Rain", 199.88),
                    .track("Low Water", 287.347, artist: "Northern Pier with Sideditch"),
                ]),
        ])

    /// A band without an album.
    static let loudNorthernPier = SampleBand(
        id: 3_019_577_416, name: "NORTHERN PIER", subdomain: "northernpier2", offsiteURL: nil, albums: [])
}
