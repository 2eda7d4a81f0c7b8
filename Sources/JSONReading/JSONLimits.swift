/// The limits of a document.
@frozen @usableFromInline package struct JSONLimits: Sendable {
    /// The maximum depth of nested objects and arrays.
    package var depth: Int
    /// The maximum size of a document, in bytes.
    package var length: Int

    /// Creates limits. The defaults are for untrusted documents.
    package init(depth: Int = 128, length: Int = .max) {
        self.depth = depth
        self.length = length
    }
}
