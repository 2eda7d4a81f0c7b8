internal import ExampleSupport

extension SampleService {
    /// The palettes as the service has them now, best rank first: the order in which `/api/palettes/top` answers.
    public var palettes: [SamplePalette] {
        responder.state.withLock { $0.palettes.ranked }
    }

    /// Renames a palette, so that the next answer that contains it shows a change.
    ///
    /// - Parameters:
    ///   - id: The identifier of the palette.
    ///   - title: Its new title.
    /// - Throws: ``SampleServiceError/unknownPalette(id:)``.
    public func updatePalette(id: Int, title: String) throws {
        try updatePalette(id: id) { $0.title = title }
    }

    /// Changes a palette in one step that no request sees half done.
    ///
    /// - Parameters:
    ///   - id: The identifier of the palette.
    ///   - change: What to change; it must not call the service.
    /// - Throws: ``SampleServiceError/unknownPalette(id:)``.
    public func updatePalette(id: Int, _ change: (inout SamplePalette) -> Void) throws {
        try responder.state.withLock { try $0.palettes.update(id: id, change) }
    }

    /// Adds a palette, or replaces the one with the same identifier. Where it appears is decided by its rank; of two palettes with the
    /// same rank the one with the lower identifier comes first.
    ///
    /// - Parameter palette: The palette.
    public func addPalette(_ palette: SamplePalette) {
        responder.state.withLock { $0.palettes.insert(palette) }
    }

    /// Removes a palette: the deletion on the server that a cache has to notice. The ranks of the others stay, which leaves a gap.
    ///
    /// - Parameter id: The identifier of the palette.
    /// - Throws: ``SampleServiceError/unknownPalette(id:)``.
    public func removePalette(id: Int) throws {
        try responder.state.withLock { try $0.palettes.remove(id: id) }
    }
}
