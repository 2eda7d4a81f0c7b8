public import Foundation

/// A backend that accepts large values in parts, before the objects that have them, and resumes interrupted uploads.
///
/// ``Resource/Saving/uploads`` names the attributes. Their values are not part of a ``BackendChange``: each value is sent before the change, and the result of
/// ``finishUpload(_:)`` takes its place.
///
/// ```swift
/// func uploadPlace(_ upload: BackendUpload) async throws -> UploadPlace {
///     guard let token = upload.token else { return UploadPlace(token: try await service.create(size: upload.size), confirmed: 0) }
///     guard let offset = try await service.offset(of: token) else { throw ForgottenUpload() }
///     return UploadPlace(token: token, confirmed: offset)
/// }
/// ```
///
/// Its methods may be called on any thread; those of one upload are called one after the other. Errors are those of ``Backend/save(_:)``: see ``PassingError``.
public protocol UploadingBackend: Backend {
    /// The size of a part in bytes; a megabyte by default. The last part of a value may be smaller.
    var uploadPartSize: Int { get }

    /// Begins an upload that has no ``BackendUpload/token``, or returns the progress of one that was begun earlier, possibly in another run.
    ///
    /// - Returns: The backend's token of the upload, and the number of bytes that the backend has confirmed.
    /// - Throws: ``ForgottenUpload`` if the backend no longer knows the token; any other error.
    func uploadPlace(_ upload: BackendUpload) async throws -> UploadPlace

    /// Accepts a part.
    ///
    /// - Parameters:
    ///   - part: The bytes from ``BackendUpload/confirmed`` on.
    ///   - upload: The upload, with its token.
    /// - Returns: The number of bytes that the backend has confirmed, from the beginning: the next part begins there.
    /// - Throws: ``ForgottenUpload``; any other error. The store then requests the position before it continues.
    func upload(_ part: Data, of upload: BackendUpload) async throws -> Int64

    /// Completes an upload of which the backend has all bytes. It may be called again if an answer was lost.
    ///
    /// - Returns: The value that replaces the uploaded one in the change of its object, such as an identifier of the uploaded file.
    /// - Throws: ``ForgottenUpload``; any other error.
    func finishUpload(_ upload: BackendUpload) async throws -> ResourceValue
}

extension UploadingBackend {
    /// A megabyte.
    public var uploadPartSize: Int { 1 << 20 }
}

/// A large value that is being sent to a backend.
public struct BackendUpload: Hashable, Sendable {
    /// The name of the entity.
    public let entity: String
    /// The name of the attribute.
    public let property: String
    /// The backend's identifier of the object; nil for a new object without an identifier.
    public let id: ResourceID?
    /// The number of bytes.
    public let size: Int64
    /// A key that stays the same each time these bytes are sent, and that no other value has.
    public let key: UUID
    /// The user who made the change: see ``BackendChange/principal``.
    public internal(set) var principal: String?
    /// The backend's token of the upload; nil if the upload has not begun.
    public internal(set) var token: String?
    /// The number of bytes that the backend has confirmed.
    public internal(set) var confirmed: Int64 = 0
}

/// The progress of an upload.
public struct UploadPlace: Hashable, Sendable {
    /// The backend's token of the upload.
    public var token: String
    /// The number of bytes that the backend has confirmed.
    public var confirmed: Int64

    /// Creates a place.
    public init(token: String, confirmed: Int64) {
        self.token = token
        self.confirmed = confirmed
    }
}

/// The error of a backend that no longer knows an upload: the upload starts over. It may also be the reason why a change that refers to an upload is refused.
public struct ForgottenUpload: PassingError, LocalizedError, CustomStringConvertible {
    /// Creates an error.
    public init() {}
    /// True: the value is sent again.
    public var mayPass: Bool { true }
    /// A description of the error.
    public var description: String { "The backend does not know the upload any more." }
    /// The same as ``description``.
    public var errorDescription: String? { description }
}
