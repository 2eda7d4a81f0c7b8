/// How much a document may demand of its reader.
@frozen @usableFromInline package struct JSONLimits: Sendable {
    /// How many objects and arrays may stand in one another.
    package var depth: Int
    /// How many bytes a document may have.
    package var length: Int

    /// Creates limits; without arguments those of a document that comes from elsewhere.
    package init(depth: Int = 128, length: Int = .max) {
        self.depth = depth
        self.length = length
    }
}
