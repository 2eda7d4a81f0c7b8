internal import FileStores
internal import Foundation
internal import ObjectGraph
internal import SQLiteStore

/// The target of an import: an existing store, or a new one.
final class ImportTarget {
    let store: OpenStore
    /// The identifier of the requested store. For the tables of another program, it depends on their place, so that of a copy differs.
    let identifier: String?
    /// Whether the store is new. It exists only if the import succeeds.
    let isNew: Bool
    /// Whether the store is written. Otherwise, the import is tried in a copy of the store, or in a temporary new store.
    private let isWritten: Bool
    /// Whether the import is saved. A trial in a database is not, because there is no copy of a database.
    var isSaved: Bool { isWritten || store.kind.hasFiles }
    /// The copy in which an import into an existing store is tried.
    private let trial: StoreCopyForTrying?
    /// The folder of a new store until it is complete.
    private let unfinished: URL?
    /// The target for a new store of CSV or JSON files, which is copied from the SQLite store of the import; nil for any other store.
    private let copy: (place: String, kind: StoreKind)?

    private init(
        _ store: OpenStore, isNew: Bool, isWritten: Bool, trial: StoreCopyForTrying? = nil, unfinished: URL? = nil,
        copy: (place: String, kind: StoreKind)? = nil
    ) {
        identifier = trial?.identifier ?? store.store.identifier
        (self.store, self.isNew, self.isWritten, self.unfinished) = (store, isNew, isWritten, unfinished)
        (self.trial, self.copy) = (trial, copy)
    }

    /// Opens the store at a place, or creates one if there is none.
    ///
    /// - Throws: The mistake in the place or the model, and the correction.
    static func open(_ place: String, model: String?, version: String?, writes: Bool) throws -> ImportTarget {
        func open(_ place: String, isWritable: Bool) throws -> OpenStore {
            try StoreReference(place, model: model, version: version, isWritable: isWritable).open()
        }
        if DatabaseReference.isDatabase(place) {
            return ImportTarget(try open(place, isWritable: writes), isNew: false, isWritten: writes)
        }
        let url = try StoreKind.url(of: place)
        if FileManager.default.fileExists(atPath: url.path) {
            if writes { return ImportTarget(try open(place, isWritable: true), isNew: false, isWritten: true) }
            let trial = try StoreCopyForTrying(of: open(place, isWritable: false))
            do {
                return ImportTarget(try open(trial.place, isWritable: true), isNew: false, isWritten: false, trial: trial)
            } catch { throw trial.renamed(error) }
        }
        guard let model else {
            throw CommandError.make(
                "There is no store at \(PlaceText.shown(url.path)).", reason: "A new one needs a model.",
                next: "Check the path, or name with --model a model file, or another store that keeps the model.")
        }
        let kind = try StoreCopying.kind(of: place)
        let folder = try folder(for: url, writes: writes)
        do {
            if kind == .csv || kind == .json {
                // Their records receive keys and are joined when all objects are known.
                let store = try empty(folder.appendingPathComponent("objects.sqlite"), .sqlite, model, version)
                return ImportTarget(store, isNew: true, isWritten: writes, unfinished: folder, copy: (place, kind))
            }
            let file = folder.appendingPathComponent(url.lastPathComponent)
            let store = try empty(file, kind, model, version)
            return ImportTarget(store, isNew: true, isWritten: writes, unfinished: folder)
        } catch {
            try? FileManager.default.removeItem(at: folder)
            throw error
        }
    }

    /// Creates the folder for a new store: beside its place, or elsewhere for a trial.
    private static func folder(for url: URL, writes: Bool) throws -> URL {
        let parent = url.deletingLastPathComponent()
        let folder = parent.appendingPathComponent(".\(url.lastPathComponent)-\(UUID().uuidString)")
        if writes {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            return folder
        }
        guard FileManager.default.isWritableFile(atPath: parent.path) else {
            throw CommandError.make(
                "There can be no store at \(PlaceText.shown(url.path)).",
                reason: "Its folder does not exist, or its permissions do not allow a new file.",
                next: "Make the folder, or give another place.")
        }
        return try TemporaryFolders.make()
    }

    private static func empty(_ file: URL, _ kind: StoreKind, _ model: String, _ version: String?) throws -> OpenStore {
        let coordinator = try NSPersistentStoreCoordinator(checking: ModelSource.model(at: model, version: version))
        let store = try coordinator.addPersistentStore(
            ofType: StoreReference.type(of: kind), configurationName: nil, at: file, options: nil)
        // The first save of any other store creates its file.
        guard kind == .sqlite else { return OpenStore(.init(url: file, kind: kind), .file(model), coordinator, store, nil, nil) }
        // The store keeps the original model; values of transformable attributes are then written as their bytes.
        try coordinator.remove(store)
        return try StoreReference(file.path, isWritable: true).open()
    }

    /// Closes the store, and moves a new one to its place. A new store of a trial is completed, too, and removed.
    ///
    /// - Parameter place: The requested place.
    func finish(at place: String) throws {
        store.read { store.context.reset() }
        try store.coordinator.remove(store.store)
        guard let unfinished else { return }
        let url = try StoreKind.url(of: place)
        var complete = unfinished
        if let copy {
            complete = unfinished.appendingPathComponent("copy", isDirectory: true)
            try FileManager.default.createDirectory(at: complete, withIntermediateDirectories: false)
            let source = StoreReference(unfinished.appendingPathComponent("objects.sqlite").path, decodesTransformables: true)
            let place = complete.appendingPathComponent(url.lastPathComponent).path + (copy.place.hasSuffix("/") ? "/" : "")
            _ = try StoreCopying(source).copy(to: place, kind: copy.kind)
        }
        guard isWritten else { return TemporaryFolders.remove(unfinished) }
        for name in try FileManager.default.contentsOfDirectory(atPath: complete.path) {
            let place = url.deletingLastPathComponent().appendingPathComponent(name)
            try FileManager.default.moveItem(at: complete.appendingPathComponent(name), to: place)
        }
        try FileManager.default.removeItem(at: unfinished)
    }

    /// Removes an incomplete new store.
    func abandon() {
        guard let unfinished else { return }
        // Files that cannot be closed or removed stay hidden; the error of the import is more important.
        try? store.coordinator.remove(store.store)
        TemporaryFolders.remove(unfinished)
    }

    /// Returns an error of the import, with the requested place.
    func renamed(_ error: any Error) -> any Error { trial?.renamed(error, identifier: store.store.identifier) ?? error }
}
