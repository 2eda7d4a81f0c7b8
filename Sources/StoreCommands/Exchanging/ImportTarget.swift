internal import FileStores
internal import Foundation
internal import ObjectGraph
internal import SQLiteStore

/// The store that objects are imported into: one that is there, or a new one.
final class ImportTarget {
    let store: OpenStore
    /// The identifier of the store that was asked for: that of the tables of another program is made of their place, and a copy has another one.
    let identifier: String?
    /// Whether the store is new, and not there unless the import succeeds.
    let isNew: Bool
    /// Whether the store is written; otherwise everything is tried in a copy of it, or in a new store that nobody gets.
    private let isWritten: Bool
    /// Whether what is imported is saved. Of a database there is no copy to try that in.
    var isSaved: Bool { isWritten || store.kind.hasFiles }
    /// The copy in which an import into a store that is there is tried.
    private let trial: StoreCopyForTrying?
    /// The folder that a new store is made in, until it is complete.
    private let unfinished: URL?
    /// What a new store of CSV or JSON files is copied to from the SQLite store that objects are imported into; nil for any other store.
    private let copy: (place: String, kind: StoreKind)?

    private init(
        _ store: OpenStore, isNew: Bool, isWritten: Bool, trial: StoreCopyForTrying? = nil, unfinished: URL? = nil,
        copy: (place: String, kind: StoreKind)? = nil
    ) {
        identifier = trial?.identifier ?? store.store.identifier
        (self.store, self.isNew, self.isWritten, self.unfinished) = (store, isNew, isWritten, unfinished)
        (self.trial, self.copy) = (trial, copy)
    }

    /// Opens the store of a place, or makes one where nothing is.
    ///
    /// - Throws: What is wrong with the place or the model, and what to do.
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
                // Their records are given keys and are joined when all objects are known.
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

    /// Makes the folder that a new store is made in: beside its place, or elsewhere where it is only tried.
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
        // The file of any other store is made by its first save.
        guard kind == .sqlite else { return OpenStore(.init(url: file, kind: kind), .file(model), coordinator, store, nil, nil) }
        // It keeps the model as it is; values of transformable attributes are then written as their bytes.
        try coordinator.remove(store)
        return try StoreReference(file.path, isWritable: true).open()
    }

    /// Closes the store, and puts a new one at its place. One that was only tried is complete then, and removed.
    ///
    /// - Parameter place: The place that was asked for.
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

    /// Removes what was made of a new store.
    func abandon() {
        guard let unfinished else { return }
        // What cannot be closed or removed stays hidden; the error of the import is the one that matters.
        try? store.coordinator.remove(store.store)
        TemporaryFolders.remove(unfinished)
    }

    /// Returns an error of the import, with the place that was asked for.
    func renamed(_ error: any Error) -> any Error { trial?.renamed(error, identifier: store.store.identifier) ?? error }
}
