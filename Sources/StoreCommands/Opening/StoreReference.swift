internal import ArchiveStores
internal import FileStores
internal import Foundation
internal import Migration
internal import ModelFiles
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import RemoteStore
internal import SQLiteStore
package import WebTransport

/// A reference to a store, with the options for opening it.
package struct StoreReference: Sendable {
    package let place: String
    /// The path of a model file; nil for the model that the store keeps, or a drafted one.
    package let modelPath: String?
    /// The version in a versioned model; nil for the one that fits the store.
    package let version: String?
    package let isWritable: Bool
    /// Whether transformable values are decoded to objects. Otherwise they stay bytes, which needs no classes.
    package let decodesTransformables: Bool
    /// The path of a web service's description; nil for a store in files, or if the place is the description.
    package let description: String?
    /// The transport that sends requests; nil for the network.
    private let transport: (any Transport)?

    package init(
        _ place: String, model: String? = nil, version: String? = nil, description: String? = nil, isWritable: Bool = false,
        decodesTransformables: Bool = false, transport: (any Transport)? = nil
    ) {
        (self.description, self.transport) = (description, transport)
        (self.place, modelPath, self.version, self.isWritable) = (place, model, version, isWritable)
        self.decodesTransformables = decodesTransformables
    }

    /// Opens the store. Unless it is writable, none of its files is changed.
    ///
    /// - Throws: The mistake in the place, the model or the file, and the correction.
    package func open() throws -> OpenStore {
        TimeLimit.enable()
        if isDatabase { return try openDatabase() }
        if let store = try openService() { return store }
        let found = try StoreKind.find(place)
        return found.kind == .sqlite ? try openSQLite(found) : try openOther(found)
    }

    /// Whether the store has files.
    package var hasFiles: Bool { !isService && !isDatabase }

    // MARK: Databases

    /// Whether the place is a PostgreSQL URL, or another connection string.
    package var isDatabase: Bool { DatabaseReference.isDatabase(place) }

    private func openDatabase() throws -> OpenStore {
        if description != nil {
            throw CommandError.make(
                "The database cannot be opened.", reason: "--description is for web services.", next: "Leave it out.")
        }
        return try DatabaseReference(url: place).open(try modelPath.map { try modelFile($0, nil) }, modelPath, isWritable: isWritable)
    }

    // MARK: Web services

    /// Whether the place is a web service, given by its address or its description.
    package var isService: Bool {
        if description != nil { return true }
        if place.hasPrefix("https://") || place.hasPrefix("http://") { return false }
        return RemoteStoreReference.isDescription(URL(fileURLWithPath: place))
    }

    /// Opens a web service; nil if the place is not one.
    private func openService() throws -> OpenStore? {
        let isAddress = place.hasPrefix("https://") || place.hasPrefix("http://")
        let file: URL
        if let description {
            try StoreKind.refuseAddress(description)
            file = URL(fileURLWithPath: description)
        } else {
            file = URL(fileURLWithPath: place)
            guard !isAddress, RemoteStoreReference.isDescription(file) else { return nil }
        }
        if !isAddress, description != nil, URL(fileURLWithPath: place).standardizedFileURL != file.standardizedFileURL {
            throw CommandError.make(
                "The web service cannot be opened.", reason: "“\(PlaceText.shown(place))” is no address.",
                next: "Give its address (https://…), or its description alone.")
        }
        guard let modelPath else {
            throw CommandError.make(
                "The web service that \(file.lastPathComponent) describes cannot be opened by itself.", reason: "It keeps no model.",
                next: "Name its model with --model (an .xcdatamodeld, .momd or .mom).")
        }
        if isWritable {
            throw CommandError.make(
                "A web service is not written by this command.", next: "Only read it, or export its objects with “coredata export”.")
        }
        return try RemoteStoreReference(file: file, address: isAddress ? place : nil, transport: transport)
            .open(try modelFile(modelPath, nil), modelPath)
    }

    // MARK: SQLite

    private func openSQLite(_ found: StoreKind.Found) throws -> OpenStore {
        let sideFiles = ["-wal", "-shm", "-journal"].filter { FileManager.default.fileExists(atPath: found.url.path + $0) }
        let copy = isWritable ? nil : try StoreCopyForReading.ifNeeded(found.url)
        let url = copy?.url ?? found.url
        do {
            guard let (file, keepsHistory, metadata, (model, origin)) = try inspectSQLite(url, isCopy: copy != nil) else {
                return try openTables(found, url, copy, sideFiles)
            }
            var options: [AnyHashable: Any] = [:]
            if !isWritable {
                options[NSReadOnlyPersistentStoreOption] = true
                // Objects are read once, one after another.
                options[SQLiteRowCacheLimitOption] = NSNumber(value: 1 << 20)
                if copy == nil { options[SQLiteKeepsFilesOption] = true }
            } else if keepsHistory {
                options[NSPersistentHistoryTrackingKey] = true
            }
            if case .drafted = origin {
                guard !isWritable else {
                    throw CommandError.make(
                        "The store at \(found.url.path) cannot be written.",
                        reason: "It keeps no model of itself, and a drafted one lacks what its tables do not tell.",
                        next: "Name its model with --model.")
                }
                options[NSIgnorePersistentStoreVersioningOption] = true
            }
            if !decodesTransformables { showTransformablesAsBytes(model, metadata) }
            let coordinator = try NSPersistentStoreCoordinator(checking: model)
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
            return OpenStore(found, origin, coordinator, store, file, copy, sideFiles: sideFiles)
        } catch let error as NSError where copy != nil {
            throw StoreCopyForTrying.renamed(error, url.path, found.url.path)
        }
    }

    /// Returns what a file says of its store; nil for a file without one.
    ///
    /// A file that is to be written is closed again: SQLite shares the log's index among the connections of a process, and one that only reads would keep
    /// the others from writing.
    private func inspectSQLite(
        _ url: URL, isCopy: Bool
    ) throws -> (
        file: SQLiteInspection?, keepsHistory: Bool, metadata: [String: Any], model: (NSManagedObjectModel, OpenStore.ModelOrigin)
    )? {
        let file = try SQLiteInspection(url, isCopy: isCopy)
        guard try file.isStore else { return nil }
        let metadata = try file.metadata()
        return (isWritable ? nil : file, try file.keepsHistory(), metadata, try sqliteModel(file, metadata))
    }

    /// Opens the tables of another program, with the given model, or one that is drafted from them.
    private func openTables(
        _ found: StoreKind.Found, _ url: URL, _ copy: StoreCopyForReading?, _ sideFiles: [String]
    ) throws -> OpenStore {
        let (model, origin): (NSManagedObjectModel, OpenStore.ModelOrigin)
        if let modelPath {
            (model, origin) = (try modelFile(modelPath, nil), .file(modelPath))
        } else {
            let draft = try SQLiteModelDraft(of: url, keepsFiles: copy == nil)
            let note = "The file has no store: this model is drafted from its tables."
            let rest = draft.unmapped.isEmpty ? "" : " It leaves out: \(draft.unmapped.joined(separator: "; "))."
            (model, origin) = (draft.model, .drafted(note + rest))
        }
        let coordinator = try NSPersistentStoreCoordinator(checking: model)
        let options: [AnyHashable: Any] =
            isWritable ? [:] : [NSReadOnlyPersistentStoreOption: true, SQLiteKeepsFilesOption: copy == nil]
        let store = try coordinator.addPersistentStore(
            ofType: ExistingSQLiteStoreType, configurationName: nil, at: url, options: options)
        return OpenStore(found, origin, coordinator, store, nil, copy, sideFiles: sideFiles)
    }

    private func sqliteModel(_ file: SQLiteInspection, _ metadata: [String: Any]) throws -> (NSManagedObjectModel, OpenStore.ModelOrigin) {
        if let modelPath { return (try modelFile(modelPath, metadata), .file(modelPath)) }
        if let model = try file.model() { return (model, .store) }
        return (
            try TableModel(file).model(),
            .drafted(
                "The store keeps no model of itself: this one is drafted from its tables, with names in lower case and without to-many relationships."
            )
        )
    }

    /// Turns transformable attributes into binary data, which needs no class of the program that wrote them. The model keeps its hashes.
    private func showTransformablesAsBytes(_ model: NSManagedObjectModel, _ metadata: [String: Any]) {
        let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        // A compatible file keeps its hashes; another one is refused by the hashes of the model.
        guard model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) else { return }
        guard Self.showTransformablesAsBytes(model) else { return }
        for entity in model.entities { if let hash = hashes[entity.name ?? ""] { entity.adopt(versionHash: hash) } }
    }

    /// Turns transformable attributes into binary data. Returns whether there are any.
    @discardableResult
    static func showTransformablesAsBytes(_ model: NSManagedObjectModel) -> Bool {
        var isChanged = false
        for entity in model.entities {
            for case let attribute as NSAttributeDescription in entity.properties
            where attribute.attributeType == .transformableAttributeType && attribute.entity === entity {
                attribute.valueTransformerName = nil
                attribute.attributeType = .binaryDataAttributeType
                isChanged = true
            }
        }
        return isChanged
    }

    // MARK: Other stores

    private func openOther(_ found: StoreKind.Found) throws -> OpenStore {
        CSVStore.register()
        JSONStore.register()
        let type = Self.type(of: found.kind)
        let metadata: [String: Any]? =
            switch found.kind {
            case .xml, .binary: try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: found.url)
            default: nil
            }
        let (model, origin) = try otherModel(found, metadata)
        let coordinator = try NSPersistentStoreCoordinator(checking: model)
        var options: [AnyHashable: Any] = isWritable ? [:] : [NSReadOnlyPersistentStoreOption: true]
        if case .drafted = origin { options[NSIgnorePersistentStoreVersioningOption] = true }
        let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: found.url, options: options)
        return OpenStore(found, origin, coordinator, store, nil, nil)
    }

    private func otherModel(
        _ found: StoreKind.Found, _ metadata: [String: Any]?
    ) throws -> (NSManagedObjectModel, OpenStore.ModelOrigin) {
        if let modelPath { return (try modelFile(modelPath, metadata), .file(modelPath)) }
        switch found.kind {
        case .csv:
            return (
                try NSManagedObjectModel(describingCSV: found.url),
                .drafted("CSV files keep no model: this one is drafted from their columns, with the types that all values have.")
            )
        case .json:
            return (
                try JSONStoreModel(found.url).model(),
                .drafted(
                    "JSON files keep no model: this one is drafted from their records, without lists and objects within them, and with dates as text."
                )
            )
        case .xml:
            if let model = try XMLStore.keptModel(at: found.url) { return (model, .store) }
            return (
                try XMLStoreModel(found.url).model(),
                .drafted("The XML store keeps no model: this one is drafted from its objects. What none of them has is missing.")
            )
        case .binary:
            if let model = try BinaryStore.keptModel(at: found.url) { return (model, .store) }
            fallthrough
        default:
            throw CommandError.make(
                "The \(found.kind.rawValue) store at \(found.url.path) cannot be opened by itself.", reason: "It keeps no model.",
                next: "Name its model with --model (an .xcdatamodeld, .momd or .mom).")
        }
    }

    /// The store type of a kind, for coordinators.
    package static func type(of kind: StoreKind) -> String {
        switch kind {
        case .sqlite: NSSQLiteStoreType
        case .xml: NSXMLStoreType
        case .binary: NSBinaryStoreType
        case .csv: CSVStore.type
        case .json: JSONStore.type
        case .service: NSPersistentStore.StoreType.remote.rawValue
        case .postgreSQL: "PostgreSQL"
        }
    }

    // MARK: Model files

    /// Reads a model file. Of a versioned model, it is the version that fits the store, or otherwise the current one.
    private func modelFile(_ path: String, _ metadata: [String: Any]?) throws -> NSManagedObjectModel {
        try StoreKind.refuseAddress(path)
        let url = URL(fileURLWithPath: path)
        guard FileManager.default.fileExists(atPath: path) else {
            throw CommandError.make("There is no model at \(PlaceText.shown(path)).", next: "Check the path after --model.")
        }
        if let version { return try NSManagedObjectModel(reading: url, version: version) }
        let names = ["xcdatamodeld", "momd"].contains(url.pathExtension) ? try NSManagedObjectModel.versionNames(at: url) : []
        if let metadata, names.count > 1 {
            for name in names {
                let model = try NSManagedObjectModel(reading: url, version: name)
                if model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) { return model }
            }
        }
        return try NSManagedObjectModel(reading: url)
    }
}
