extension SampleBand {
    /// The band whose discography the article about incremental stores requests; the albums and tracks are invented.
    static let sideditch = SampleBand(
        id: 2_721_182_224, name: "Sideditch", subdomain: "sideditch", offsiteURL: nil,
        albums: [
            SampleAlbum(
                640_093_118, "Ditch Radio, Vol. 2", releaseDate: 1_309_478_400, isFree: true,
                about: "There is no volume 1.", credits: "All noise by Sideditch.",
                tracks: [
                    .track("Static Hello", 42.6),
                    .track("100% Gravel", 158.853),
                    .track("Call & Response", 203.9, artist: "Sideditch feat. The Other Ditch"),
                    .track("What's the Frequency?", 187.44),
                    .track("Weather at Five", 61.227),
                    .track("Static Goodbye", 44.013),
                ]),
            SampleAlbum(
                2_950_771_462, "Gravel Hymns", releaseDate: 1_267_401_600,
                tracks: [
                    .track("Shoulder", 226.707),
                    .track("Soft Verge", 194.067, lyrics: "Keep off, keep off,\nkeep off the soft verge."),
                    .track("Culvert", 312.48),
                    .track("Mud \"Season\"", 178.227),
                ]),
        ])
}
