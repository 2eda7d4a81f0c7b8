/// The state of a store's contents. Equal states mean equal contents.
@_spi(Stores) public struct ContentsState: Equatable, Sendable {
    /// Identifies the contents within this run of the program.
    public let current: String
    /// Identifies the contents in every run of every program; nil if that is not possible.
    public var lasting: String?

    /// Creates a state from strings that no other contents of the store have.
    public init(current: String, lasting: String? = nil) {
        self.current = current
        self.lasting = lasting
    }
}
