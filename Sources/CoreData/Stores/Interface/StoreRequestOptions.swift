/// Names an option that a request carries to stores of a particular kind, such as how old a cached answer may be.
///
/// ```swift
/// enum LongestAge: StoreRequestOption { static let defaultValue: Duration = .seconds(60) }
/// request.storeOptions[LongestAge.self] = .zero
/// ```
///
/// The type is the key: no two options collide, and a store reads the value with its type.
public protocol StoreRequestOption {
    /// What the option says.
    associatedtype Value: Sendable
    /// What holds where a request says nothing.
    static var defaultValue: Value { get }
}

/// What a request says to stores of particular kinds, each value under the type of its ``StoreRequestOption``.
public struct StoreRequestOptions: Sendable {
    private var values: [ObjectIdentifier: any Sendable] = [:]

    /// Options that say nothing.
    public init() {}

    /// The value of an option; its default where the request says nothing.
    public subscript<Option: StoreRequestOption>(option: Option.Type) -> Option.Value {
        get { values[ObjectIdentifier(option)] as? Option.Value ?? Option.defaultValue }
        set { values[ObjectIdentifier(option)] = newValue }
    }

    /// Whether the request says nothing.
    public var isEmpty: Bool { values.isEmpty }
}
