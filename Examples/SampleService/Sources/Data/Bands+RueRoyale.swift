extension SampleBand {
    /// The band that the article about incremental stores searches for; the albums and tracks are invented.
    static let rueRoyale = SampleBand(
        id: 4_246_760_315, name: "Rue Royale", subdomain: "rueroyale", offsiteURL: "http://rueroyalemusic.com",
        albums: [
            SampleAlbum(
                512_408_331, "Lamplight Atlas", releaseDate: 1_243_555_200, about: "Eight evenings with one lamp on.",
                credits: "Written and played by two people in one kitchen.",
                tracks: [
                    .track(
                        "The Map Is Folded Wrong", 214.36,
                        lyrics: "Left of the river, right of the fold,\nwe lost the street we were told."),
                    .track("Lamplighter", 187.093),
                    .track("Café de l'Étoile", 241.72),
                    .track("Two Coats", 198.413),
                    .track("Paper Boats", 176.547),
                ]),
            SampleAlbum(
                1_877_215_904, "Ein Haus aus Regen", releaseDate: 1_378_425_600, about: nil, credits: "Recorded in a house, in the rain.",
                tracks: [
                    .track("Türen", 152.88),
                    .track("Fenster, offen", 233.227),
                    .track("Das Dach", 201.16, artist: "Rue Royale & Tuule Kell"),
                    .track("Keller (Reprise)", 95.64),
                ]),
            SampleAlbum(
                3_301_664_027, "The Ferry Before Dawn", releaseDate: 1_329_523_200, isFree: true,
                about: "An EP for everyone who waited on the quay.",
                tracks: [
                    .track("Quay", 121.307),
                    .track("The Ferry Before Dawn", 305.533, lyrics: "Nobody speaks on the ferry before dawn."),
                    .track("Gulls", 164.027),
                ]),
        ])
}
