internal import Foundation
internal import Logging
internal import ObjectGraph
internal import Platform

/// Uploads large values, part by part. Each call counts towards the limit of concurrent calls; between two of them, other calls have their turn.
extension RequestRunner {
    /// Sends the rest of a value.
    ///
    /// - Parameters:
    ///   - given: The upload, with its progress so far.
    ///   - data: The complete value, which may be mapped from a file: no more than a part of it is in memory.
    ///   - note: A closure that is called with the progress after each call; returning false ends the upload.
    /// - Returns: The value that replaces the uploaded one; nil if `note` has ended the upload.
    /// - Throws: The errors of the backend; code 134030 for a backend that reports a wrong number of bytes; those of `note`.
    func upload(
        _ given: BackendUpload, _ data: Data, note: @Sendable (BackendUpload) throws -> Bool
    ) async throws -> ResourceValue? {
        guard let backend = backend as? any UploadingBackend else { throw RemoteStoreError.readOnly(given.entity, at: backend.location) }
        var upload = given
        Self.log.debug("upload \(upload.property) of \(upload.entity)")
        let place = try await limited { [upload] in try await backend.uploadPlace(upload) }
        guard (0...upload.size).contains(place.confirmed) else { throw RemoteStoreError.wrongOffset(upload, place.confirmed) }
        (upload.token, upload.confirmed) = (place.token, place.confirmed)
        guard try note(upload) else { return nil }
        while upload.confirmed < upload.size {
            let part = MappedPages.part(of: data, at: Int(upload.confirmed), size: max(1, backend.uploadPartSize))
            let confirmed = try await limited { [upload] in try await backend.upload(part, of: upload) }
            guard confirmed > upload.confirmed, confirmed <= upload.confirmed + Int64(part.count) else {
                throw RemoteStoreError.wrongOffset(upload, confirmed)
            }
            upload.confirmed = confirmed
            guard try note(upload) else { return nil }
        }
        return try await limited { [upload] in try await backend.finishUpload(upload) }
    }

    /// Sends changes, after the values that are uploaded.
    ///
    /// - Parameter names: The attributes whose values are uploaded.
    func save(_ changes: [BackendChange], uploading names: Set<String>) async throws -> [BackendChange.Key: BackendOutcome] {
        if names.isEmpty { return try await save(changes) }
        var sent = changes
        for index in sent.indices {
            for name in names.sorted() {
                guard case .value(.data(let data))? = sent[index].values[name] else { continue }
                let upload = BackendUpload(
                    entity: sent[index].entity, property: name, id: sent[index].id, size: Int64(data.count), key: UUID())
                do {
                    sent[index].values[name] = try await self.upload(upload, data) { _ in true }
                } catch let lost as UnknownOutcome {
                    // The change itself was not sent.
                    throw lost.cause
                }
            }
        }
        return try await save(sent)
    }
}
