extension SampleBand {
    /// A band with titles beyond ASCII: accents, two scripts, a symbol and an emoji.
    static let tuuleKell = SampleBand(
        id: 2_094_417_763, name: "Tuule Kell", subdomain: "tuulekell", offsiteURL: "http://tuulekell.example.com",
        albums: [
            SampleAlbum(
                1_209_556_840, "Õhtune peegel ☾", releaseDate: 1_447_977_600, about: "Õhtul näeb peegel rohkem kui aken.",
                tracks: [
                    .track("Õhtutuul", 268.853),
                    .track("Jää ääres", 341.2),
                    .track("Üks öö", 189.573, lyrics: "Üks öö, üks hääl,\nüks kell, mis heliseb veel."),
                    .track("☾", 77.16),
                    .track("Hommik 🌅", 224.653),
                ]),
            SampleAlbum(
                1_533_902_275, "夜の川", releaseDate: 1_523_577_600, credits: "Field recordings: Tuule Kell",
                tracks: [
                    .track("橋", 203.427),
                    .track("夜の川", 412.907),
                    .track("提灯", 158.24),
                ]),
        ])
}
