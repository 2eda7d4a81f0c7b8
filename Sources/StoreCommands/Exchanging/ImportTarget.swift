internal import FileStores
internal import Foundation
internal import ObjectGraph
internal import SQLiteStore

/// The store that objects are imported into: one that is there, or a new one.
final class ImportTarget {
    let store: OpenStore
    /// Whether the store is new, and not there unless the import succeeds.
    let isNew: Bool
    /// Whether the store is written; otherwise everything is tried in memory.
    let isWritten: Bool
    /// The folder that a new store is made in, until it is complete.
    private let unfinished: URL?
    /// What a new store of CSV or JSON files is copied to from the SQLite store that objects are imported into; nil for any other store.
    private let copy: (place: String, kind: StoreKind)?

    private init(_ store: OpenStore, isNew: Bool, isWritten: Bool, unfinished: URL? = nil, copy: (place: String, kind: StoreKind)? = nil) {
        (self.store, self.isNew, self.isWritten, self.unfinished) = (store, isNew, isWritten, unfinished)
        self.copy = copy
    }

    /// Opens the store of a place, or makes one where nothing is.
    ///
    /// - Throws: What is wrong with the place or the model, and what to do.
    static func open(_ place: String, model: String?, version: String?, writes: Bool) throws -> ImportTarget {
        let url = try StoreKind.url(of: place)
        if FileManager.default.fileExists(atPath: url.path) {
            let store = try StoreReference(place, model: model, version: version, isWritable: writes).open()
            return ImportTarget(store, isNew: false, isWritten: writes)
        }
        guard let model else {
            throw CommandError.make(
                "There is no store at \(url.path).", reason: "A new one needs a model.",
                next: "Check the path, or name with --model a model file, or another store that keeps the model.")
        }
        let kind = try StoreCopying.kind(of: place)
        guard writes else {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try bytesModel(model, version))
            if kind == .csv || kind == .json { try refuseModel(thatCannotBeIn: kind, place, coordinator.managedObjectModel) }
            let store = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
            return ImportTarget(
                OpenStore(.init(url: url, kind: kind), .file(model), coordinator, store, nil, nil), isNew: true, isWritten: false)
        }
        let folder = url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        do {
            if kind == .csv || kind == .json {
                // Their records are given keys and are joined when all objects are known.
                let store = try empty(folder.appendingPathComponent("objects.sqlite"), .sqlite, model, version)
                return ImportTarget(store, isNew: true, isWritten: true, unfinished: folder, copy: (place, kind))
            }
            let file = folder.appendingPathComponent(url.lastPathComponent)
            let store = try empty(file, kind, model, version)
            return ImportTarget(store, isNew: true, isWritten: true, unfinished: folder)
        } catch {
            try? FileManager.default.removeItem(at: folder)
            throw error
        }
    }

    /// Throws the error of a model that a new store of files cannot hold, which is known when such a store is opened.
    private static func refuseModel(thatCannotBeIn kind: StoreKind, _ place: String, _ model: NSManagedObjectModel) throws {
        CSVStore.register()
        JSONStore.register()
        let folder = try TemporaryFolders.make()
        defer { TemporaryFolders.remove(folder) }
        let url = folder.appendingPathComponent(URL(fileURLWithPath: place).lastPathComponent, isDirectory: place.hasSuffix("/"))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(ofType: StoreReference.type(of: kind), configurationName: nil, at: url)
        try coordinator.remove(store)
    }

    private static func empty(_ file: URL, _ kind: StoreKind, _ model: String, _ version: String?) throws -> OpenStore {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try ModelSource.model(at: model, version: version))
        let store = try coordinator.addPersistentStore(
            ofType: StoreReference.type(of: kind), configurationName: nil, at: file, options: nil)
        // The file of any other store is made by its first save.
        guard kind == .sqlite else { return OpenStore(.init(url: file, kind: kind), .file(model), coordinator, store, nil, nil) }
        // It keeps the model as it is; values of transformable attributes are then written as their bytes.
        try coordinator.remove(store)
        return try StoreReference(file.path, isWritable: true).open()
    }

    /// Returns a model whose transformable attributes are their bytes.
    private static func bytesModel(_ path: String, _ version: String?) throws -> NSManagedObjectModel {
        let model = try ModelSource.model(at: path, version: version)
        StoreReference.showTransformablesAsBytes(model)
        return model
    }

    /// Closes the store, and puts a new one at its place.
    ///
    /// - Parameter url: The place that was asked for.
    func finish(at url: URL) throws {
        store.read { store.context.reset() }
        try store.coordinator.remove(store.store)
        guard let unfinished else { return }
        var complete = unfinished
        if let copy {
            complete = unfinished.appendingPathComponent("copy", isDirectory: true)
            try FileManager.default.createDirectory(at: complete, withIntermediateDirectories: false)
            let source = StoreReference(unfinished.appendingPathComponent("objects.sqlite").path, decodesTransformables: true)
            let place = complete.appendingPathComponent(url.lastPathComponent).path + (copy.place.hasSuffix("/") ? "/" : "")
            _ = try StoreCopying(source).copy(to: place, kind: copy.kind)
        }
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
        try? FileManager.default.removeItem(at: unfinished)
    }
}
