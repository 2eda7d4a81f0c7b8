/// An option of requests for a particular kind of store, such as the allowed age of a cached answer.
///
/// ```swift
/// enum LongestAge: StoreRequestOption { static let defaultValue: Duration = .seconds(60) }
/// request.storeOptions[LongestAge.self] = .zero
/// ```
///
/// The type is the key: options cannot collide, and a store reads the value with its type.
public protocol StoreRequestOption {
    /// The type of the value.
    associatedtype Value: Sendable
    /// The value for requests without the option.
    static var defaultValue: Value { get }
}

/// The options of a request for particular kinds of store, each value under the type of its ``StoreRequestOption``.
public struct StoreRequestOptions: Sendable {
    private var values: [ObjectIdentifier: any Sendable] = [:]

    /// Creates empty options.
    public init() {}

    /// The value of an option, or its default value.
    public subscript<Option: StoreRequestOption>(option: Option.Type) -> Option.Value {
        get { values[ObjectIdentifier(option)] as? Option.Value ?? Option.defaultValue }
        set { values[ObjectIdentifier(option)] = newValue }
    }

    /// Whether no option is set.
    public var isEmpty: Bool { values.isEmpty }
}
