public import Foundation
@_spi(Stores) public import ObjectGraph
internal import Platform

/// The large values that are sent before their objects, for the application.
extension CachedStore {
    /// A large value that is sent before the change of its object.
    public struct PendingUpload: Hashable, Sendable {
        /// The name of the attribute.
        public let property: String
        /// The number of bytes.
        public let size: Int64
        /// The number of bytes that the backend has.
        public let confirmed: Int64
        /// Whether the backend has all bytes, and only the change of the object remains.
        public let isDone: Bool
    }

    /// Returns the progress of the uploads of an object, in bytes. It is updated for as long as the program keeps it.
    ///
    /// Call it on any thread; it is updated on other threads. To display all uploads of a store, see ``CachedStoreStatus/uploadedBytes``.
    ///
    /// - Returns: The progress; nil if the object has no uploads.
    /// - Throws: The error of a file that cannot be read.
    public func uploadProgress(of id: NSManagedObjectID) throws -> Progress? {
        guard let key = file.key(ofOuter: id.current), let record = try outbox.record(key) else { return nil }
        let uploads = sender.pendingUploads(of: record)
        if uploads.isEmpty { return nil }
        let new = Progress(totalUnitCount: uploads.map(\.size).reduce(0, +))
        new.completedUnitCount = uploads.map(\.confirmed).reduce(0, +)
        return sender.state.withLock { state in
            if let known = state.uploadProgress[record.key]?.progress, known.totalUnitCount == new.totalUnitCount { return known }
            state.uploadProgress = state.uploadProgress.filter { $0.value.progress != nil }
            state.uploadProgress[record.key] = .init(progress: new)
            return new
        }
    }
}

extension OutboxSender {
    /// Returns the uploads of a change, for the application.
    func pendingUploads(of record: PendingRecord) -> [CachedStore.PendingUpload] {
        uploads(of: record).map { name, upload in
            .init(property: name, size: upload.size, confirmed: upload.confirmed, isDone: upload.reference != nil)
        }
    }
}
