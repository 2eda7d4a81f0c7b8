internal import ExampleSupport

extension SampleService {
    /// The current palettes by ascending rank, the order of `/api/palettes/top`.
    public var palettes: [SamplePalette] {
        responder.state.withLock { $0.palettes.ranked }
    }

    /// Renames a palette; answers that contain it show the change.
    ///
    /// - Parameters:
    ///   - id: The identifier of the palette.
    ///   - title: Its new title.
    /// - Throws: ``SampleServiceError/unknownPalette(id:)``.
    public func updatePalette(id: Int, title: String) throws {
        try updatePalette(id: id) { $0.title = title }
    }

    /// Changes a palette atomically.
    ///
    /// - Parameters:
    ///   - id: The identifier of the palette.
    ///   - change: Changes the palette; it must not call the service.
    /// - Throws: ``SampleServiceError/unknownPalette(id:)``.
    public func updatePalette(id: Int, _ change: (inout SamplePalette) -> Void) throws {
        try responder.state.withLock { try $0.palettes.update(id: id, change) }
    }

    /// Adds a palette, or replaces the one with the same identifier. Its position is determined by its rank, and by its identifier among
    /// equal ranks.
    ///
    /// - Parameter palette: The palette.
    public func addPalette(_ palette: SamplePalette) {
        responder.state.withLock { $0.palettes.insert(palette) }
    }

    /// Removes a palette, like a deletion on the server that a cache has to detect. The ranks of the others are unchanged, which leaves a
    /// gap.
    ///
    /// - Parameter id: The identifier of the palette.
    /// - Throws: ``SampleServiceError/unknownPalette(id:)``.
    public func removePalette(id: Int) throws {
        try responder.state.withLock { try $0.palettes.remove(id: id) }
    }
}
