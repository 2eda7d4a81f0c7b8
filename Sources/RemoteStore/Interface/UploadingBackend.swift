public import Foundation

/// A backend that takes large values in parts, before the objects that have them, and goes on with an upload that was cut off.
///
/// A ``Resource/Saving/uploads`` names the attributes. Their values are not among those of a ``BackendChange``: each is sent before the change,
/// and what ``finishUpload(_:)`` returns takes its place.
///
/// ```swift
/// func uploadPlace(_ upload: BackendUpload) async throws -> UploadPlace {
///     guard let token = upload.token else { return UploadPlace(token: try await service.create(size: upload.size), confirmed: 0) }
///     guard let offset = try await service.offset(of: token) else { throw ForgottenUpload() }
///     return UploadPlace(token: token, confirmed: offset)
/// }
/// ```
///
/// Its methods may be called on any thread; those for one upload one after the other. Errors are those of ``Backend/save(_:)``: see ``PassingError``.
public protocol UploadingBackend: Backend {
    /// The size of a part in bytes; a megabyte unless a backend says otherwise. The last part of a value is smaller.
    var uploadPartSize: Int { get }

    /// Begins an upload that has no ``BackendUpload/token``, or tells how far one has come that was begun earlier, perhaps in another run.
    ///
    /// - Returns: What the backend calls the upload, and the number of bytes that it has for certain.
    /// - Throws: ``ForgottenUpload`` where the backend does not know the token any more; any other error.
    func uploadPlace(_ upload: BackendUpload) async throws -> UploadPlace

    /// Takes a part.
    ///
    /// - Parameters:
    ///   - part: The bytes from ``BackendUpload/confirmed`` on.
    ///   - upload: The upload, with its token.
    /// - Returns: The number of bytes that the backend has for certain, from the beginning: the next part begins there.
    /// - Throws: ``ForgottenUpload``; any other error. The store then asks for the place before it goes on.
    func upload(_ part: Data, of upload: BackendUpload) async throws -> Int64

    /// Ends an upload of which the backend has all bytes. It may be called again where an answer was lost.
    ///
    /// - Returns: What stands for the value in the change of its object, such as an identifier of the uploaded file.
    /// - Throws: ``ForgottenUpload``; any other error.
    func finishUpload(_ upload: BackendUpload) async throws -> ResourceValue
}

extension UploadingBackend {
    /// A megabyte.
    public var uploadPartSize: Int { 1 << 20 }
}

/// A large value on its way to a backend.
public struct BackendUpload: Hashable, Sendable {
    /// The name of the entity.
    public let entity: String
    /// The name of the attribute.
    public let property: String
    /// What the backend calls the object; nil for a new one without an identifier.
    public let id: ResourceID?
    /// The number of bytes.
    public let size: Int64
    /// The same each time these bytes are sent, and of no other value.
    public let key: UUID
    /// The user who has made the change: see ``BackendChange/principal``.
    public internal(set) var principal: String?
    /// What the backend calls the upload; nil for one that has not begun.
    public internal(set) var token: String?
    /// The number of bytes that the backend has, as far as it has told.
    public internal(set) var confirmed: Int64 = 0
}

/// How far an upload has come.
public struct UploadPlace: Hashable, Sendable {
    /// What the backend calls the upload.
    public var token: String
    /// The number of bytes that it has for certain.
    public var confirmed: Int64

    /// Creates a place.
    public init(token: String, confirmed: Int64) {
        self.token = token
        self.confirmed = confirmed
    }
}

/// The error of a backend that does not know an upload any more: it begins anew. Also as the reason why a change is refused that refers to one.
public struct ForgottenUpload: PassingError, LocalizedError, CustomStringConvertible {
    /// Creates an error.
    public init() {}
    /// True: the value is sent again.
    public var mayPass: Bool { true }
    /// What has happened.
    public var description: String { "The backend does not know the upload any more." }
    /// The same.
    public var errorDescription: String? { description }
}
