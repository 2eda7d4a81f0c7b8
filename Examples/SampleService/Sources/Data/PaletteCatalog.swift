/// The palettes of one service, which can be changed while it runs.
struct PaletteCatalog: Sendable {
    private var palettesByIdentifier: [Int: SamplePalette]

    init(_ palettes: [SamplePalette]) {
        palettesByIdentifier = Dictionary(uniqueKeysWithValues: palettes.map { ($0.id, $0) })
    }

    /// All palettes by ascending rank, and by identifier where the ranks are equal.
    var ranked: [SamplePalette] {
        palettesByIdentifier.values.sorted { ($0.rank, $0.id) < ($1.rank, $1.id) }
    }

    func palette(id: Int) -> SamplePalette? { palettesByIdentifier[id] }

    mutating func insert(_ palette: SamplePalette) {
        palettesByIdentifier[palette.id] = palette
    }

    mutating func update(id: Int, _ change: (inout SamplePalette) -> Void) throws(SampleServiceError) {
        guard var palette = palettesByIdentifier[id] else { throw .unknownPalette(id: id) }
        change(&palette)
        palettesByIdentifier[id] = palette
    }

    mutating func remove(id: Int) throws(SampleServiceError) {
        guard palettesByIdentifier.removeValue(forKey: id) != nil else { throw .unknownPalette(id: id) }
    }
}
