import CoreData
import Foundation
import RemoteStore

/// A server in files, which the process that uses it may be killed before.
private final class FileServer: UploadingBackend {
    let location = URL(string: "file-server:")!
    let resources = [
        Resource(
            "Film", endpoints: [Endpoint("all", properties: ["title"])], saving: .init(isIdempotent: true, uploads: ["content"]))
    ]
    private let folder: String
    /// The number of bytes at which the process is killed; nil for never.
    private let end: Int64?

    init(_ folder: String, end: Int64?) { (self.folder, self.end) = (folder, end) }

    private var upload: String { folder + "/upload" }

    private func note(_ line: String) {
        let file = open(folder + "/server.log", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        let bytes = Array((line + "\n").utf8)
        guard write(file, bytes, bytes.count) == bytes.count else { exit(4) }
        close(file)
    }

    private var size: Int64 {
        var status = stat()
        return stat(upload, &status) == 0 ? Int64(status.st_size) : 0
    }

    func answer(_ request: BackendRequest) async throws -> BackendAnswer { request.answer() }

    func save(_ changes: [BackendChange]) async throws -> [BackendChange.Key: BackendOutcome] {
        for change in changes {
            note("save \(change.kind) \(change.values["content"]?.string ?? "-") \(change.values["title"]?.string ?? "-")")
        }
        return Dictionary(uniqueKeysWithValues: changes.map { ($0.key, .saved(id: .integer(1), version: .number(1))) })
    }

    func uploadPlace(_ upload: BackendUpload) async throws -> UploadPlace {
        if upload.token == nil { try Data().write(to: URL(fileURLWithPath: self.upload)) }
        note("place \(size)")
        return UploadPlace(token: "film", confirmed: size)
    }

    func upload(_ part: Data, of upload: BackendUpload) async throws -> Int64 {
        if let end, upload.confirmed >= end {
            report("peak \(peakMemory()) killed at \(upload.confirmed)")
            kill(getpid(), SIGKILL)
        }
        let file = open(self.upload, O_WRONLY | O_APPEND)
        guard part.withUnsafeBytes({ write(file, $0.baseAddress, $0.count) }) == part.count else { exit(4) }
        close(file)
        note("part \(part.count)")
        return size
    }

    func finishUpload(_ upload: BackendUpload) async throws -> ResourceValue { .init(upload.token) }
}

/// The largest number of kilobytes that the process has had in memory.
func peakMemory() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
    return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) } ?? 0
}

/// Saves the file `film` of a folder as a value of an object and uploads it until the process is killed, or uploads what an earlier run has left.
enum UploadWriter {
    static func run(_ folder: String, killedAt percent: Int) async throws {
        let start = peakMemory()
        let film = NSEntityDescription(name: "Film")
        let content = NSAttributeDescription(name: "content", type: .binaryData)
        content.allowsExternalBinaryDataStorage = true
        film.properties = [NSAttributeDescription(name: "title", type: .string), content]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [film]))
        let source = URL(fileURLWithPath: folder + "/film")
        var status = stat()
        guard stat(source.path, &status) == 0 else { exit(4) }
        var options = CachedStoreOptions(defaultPolicy: .cacheOnly)
        options.sendsAutomatically = false
        let store = try coordinator.addCachedStore(
            FileServer(folder, end: percent == 0 ? nil : Int64(status.st_size) * Int64(percent) / 100),
            at: URL(fileURLWithPath: folder + "/cache.sqlite"), options: options)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        report("opened \(peakMemory())")
        if percent > 0 {
            try await context.perform {
                let film = NSEntityDescription.insertNewObject(forEntityName: "Film", into: context)
                film.setValue("first", forKey: "title")
                film.setValue(try Data(contentsOf: source, options: .alwaysMapped), forKey: "content")
                try context.save()
            }
            report("saved \(peakMemory())")
        } else {
            let uploaded = try store.status().uploadedBytes
            report("left \(uploaded)")
        }
        try await store.sendPending()
        report("sent \(peakMemory())")
        // Another value of the same object.
        try await context.perform {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Film")
            try context.fetch(request).first?.setValue("second", forKey: "title")
            try context.save()
        }
        try await store.sendPending()
        report("pending \(try store.pendingCount()) from \(start) peak \(peakMemory())")
    }
}
