import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// A backend in memory that takes large values in parts.
final class UploadServer: UploadingBackend {
    struct State {
        var uploads: [String: (bytes: Data, size: Int64)] = [:]
        var names = 0
        /// The number of bytes that have come.
        var received: Int64 = 0
        /// Called before each part, with the number of bytes that the upload has.
        var willTake: (@Sendable (Int64) throws -> Void)?
        /// Called after each part: its answer is lost.
        var didTake: (@Sendable (Int64) throws -> Void)?
        /// Whether it tells of more bytes than it has.
        var miscounts = false
    }

    let state = Guarded(State())
    let shelf: ScriptedBackend
    let uploadPartSize = 64 << 10
    var location: URL { shelf.location }
    var resources: [Resource] { shelf.resources }

    /// The name of the attribute that is uploaded.
    let name: String
    let model: NSManagedObjectModel

    init(
        _ saving: Resource.Saving = .init(isIdempotent: true, uploads: ["content"]), _ model: NSManagedObjectModel = UploadWorld.model(),
        name: String = "content"
    ) {
        (self.name, self.model) = (name, model)
        let byID = Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 50)])
        shelf = ScriptedBackend(model, [Resource("Photo", endpoints: [Endpoint("all"), byID], saving: saving)])
        shelf.setVersions(.numbers)
    }

    func answer(_ request: BackendRequest) async throws -> BackendAnswer { try await shelf.answer(request) }

    /// What a change says of the content is the name of an upload, of which the bytes are kept.
    func save(_ changes: [BackendChange]) async throws -> [BackendChange.Key: BackendOutcome] {
        var outcomes: [BackendChange.Key: BackendOutcome] = [:]
        var kept: [BackendChange] = []
        for change in changes {
            var values = change.values
            if let content = values[name], !content.isNull {
                guard let token = content.string, let upload = state.withValue({ $0.uploads[token] }),
                    upload.bytes.count == Int(upload.size)
                else {
                    outcomes[change.key] = .refused(ForgottenUpload())
                    continue
                }
                values[name] = .init(upload.bytes)
            }
            kept.append(
                BackendChange(
                    change.kind, change.entity, id: change.id, values, changedProperties: change.changedProperties, lists: change.lists,
                    version: change.version, key: change.key, idempotencyKey: change.idempotencyKey))
        }
        if !kept.isEmpty { outcomes.merge(try await shelf.save(kept)) { first, _ in first } }
        return outcomes
    }

    func uploadPlace(_ upload: BackendUpload) async throws -> UploadPlace {
        try state.withValue { state in
            guard let token = upload.token else {
                state.names += 1
                state.uploads["upload \(state.names)"] = (Data(), upload.size)
                return UploadPlace(token: "upload \(state.names)", confirmed: 0)
            }
            guard let known = state.uploads[token] else { throw ForgottenUpload() }
            return UploadPlace(token: token, confirmed: Int64(known.bytes.count))
        }
    }

    func upload(_ part: Data, of upload: BackendUpload) async throws -> Int64 {
        let (willTake, didTake) = state.withValue { ($0.willTake, $0.didTake) }
        try willTake?(upload.confirmed)
        let count = try state.withValue { state in
            guard let token = upload.token, let known = state.uploads[token] else { throw ForgottenUpload() }
            expect(Int64(known.bytes.count), equals: upload.confirmed)
            state.uploads[token]?.bytes.append(part)
            state.received += Int64(part.count)
            return upload.confirmed + Int64(part.count) + (state.miscounts ? 1 : 0)
        }
        try didTake?(count)
        return count
    }

    func finishUpload(_ upload: BackendUpload) async throws -> ResourceValue {
        try state.withValue { state in
            guard let token = upload.token, state.uploads[token] != nil else { throw ForgottenUpload() }
            return .init(token)
        }
    }

    func content(_ number: Int = 0) -> Data? {
        let ids = shelf.ids("Photo")
        guard ids.indices.contains(number), case .data(let data)? = shelf.values("Photo", ids[number])?[name]?.value else {
            return nil
        }
        return data
    }
}

/// A program with photos, and a cache before their server.
// Unchecked: one test uses it.
final class UploadWorld: @unchecked Sendable {
    let server: UploadServer
    let clock = ManualClock()
    private(set) var store: CachedStore!
    private(set) var context: NSManagedObjectContext!
    private let folder: ScratchFolder
    let options: CachedStoreOptions

    /// - Parameter isRemade: Whether the title is an object, into which no mapping can be inferred.
    static func model(content: String = "content", isExternal: Bool = true, isRemade: Bool = false) -> NSManagedObjectModel {
        let photo = NSEntityDescription(name: "Photo")
        let bytes = NSAttributeDescription(name: content, type: .binaryData)
        bytes.allowsExternalBinaryDataStorage = isExternal
        if content != "content" { bytes.renamingIdentifier = "content" }
        let title = NSEntityDescription(name: "Title")
        title.properties = [NSAttributeDescription(name: "text", type: .string)]
        photo.properties = [
            isRemade
                ? NSRelationshipDescription(name: "title", destination: title, toMany: false)
                : NSAttributeDescription(name: "title", type: .string), bytes,
        ]
        return NSManagedObjectModel(entities: isRemade ? [photo, title] : [photo])
    }

    init(_ server: UploadServer = UploadServer()) throws {
        self.server = server
        var options = CachedStoreOptions(defaultPolicy: .cacheFirst(maximumAge: 1e12), clock: clock)
        options.sendsAutomatically = false
        self.options = options
        folder = try ScratchFolder("cache")
        try start()
    }

    func start(_ other: UploadServer? = nil) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: (other ?? server).model)
        store = try coordinator.addCachedStore(other ?? server, at: folder.file("cache.sqlite"), options: options)
        context = coordinator.context()
    }

    /// Ends the program, and starts it again, with another version of the model where the server has one.
    func restart(_ other: UploadServer? = nil) throws {
        try context.persistentStoreCoordinator?.remove(store)
        try start(other)
    }

    static func bytes(_ count: Int, _ seed: UInt8 = 1) -> Data { Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 / 7) ^ seed }) }

    @discardableResult func insert(_ content: Data?, _ title: String = "a") throws -> NSManagedObjectID {
        try context.performAndWait {
            let photo = NSEntityDescription.insertNewObject(forEntityName: "Photo", into: context)
            photo.setValue(title, forKey: "title")
            photo.setValue(content, forKey: "content")
            try context.save()
            return photo.objectID
        }
    }

    func update(_ id: NSManagedObjectID, _ key: String, _ value: Any?) throws {
        try context.performAndWait {
            context.object(with: id).setValue(value, forKey: key)
            try context.save()
        }
    }

    /// What a new context shows.
    func shown(_ id: NSManagedObjectID) throws -> Data? {
        let context = try #require(context.persistentStoreCoordinator).context()
        return try context.performAndWait { try context.existingObject(with: id).value(forKey: "content") as? Data }
    }
}
