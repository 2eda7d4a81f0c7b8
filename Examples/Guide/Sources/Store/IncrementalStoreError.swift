public import Foundation

/// The errors of the guide's store. Errors of its database reach the caller unchanged.
public enum IncrementalStoreError: LocalizedError, Equatable {
    /// The store was added without a URL.
    case noStoreURL
    /// The store was added with a URL that is not its own.
    case unsupportedURL(URL)
    /// The request is neither a fetch nor a save.
    case invalidRequest
    /// A sort descriptor has no key.
    case unsupportedSortDescriptor
    /// An object ID does not contain a primary key.
    case invalidReferenceObject(String)
    /// An attribute has a value without a column type.
    case unsupportedValue(attribute: String, value: String)

    /// The failure, and what to do.
    public var errorDescription: String? {
        switch self {
        case .noStoreURL: "The store has no URL. Add it with a URL of the form xyz://name."
        case .unsupportedURL(let url):
            "The store cannot be opened at \(url.absoluteString). Use a URL of the form xyz://name."
        case .invalidRequest: "The store serves fetches and saves. Send other requests to another store."
        case .unsupportedSortDescriptor:
            "A sort descriptor names no key, and rows have nothing but keys. Make it with NSSortDescriptor(key:ascending:)."
        case .invalidReferenceObject(let object):
            "\(object) is not a primary key of the database. Fetch the object instead of making its ID."
        case .unsupportedValue(let attribute, let value):
            "The database cannot hold \(value), the value of “\(attribute)”. Give the attribute text, a whole number or a date."
        }
    }
}
